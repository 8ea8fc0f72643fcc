"""Processes are watched to their end, and none is left behind."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from mlbench.errors import LaunchError
from mlbench.launch import WORKER_MODULE, Command
from mlbench.launch.supervise import Exits, StopRequest, supervise
from mlbench.vocabulary import Seconds

WAIT_FOR_LEASE = "import sys; sys.stdin.read(); sys.exit({code})"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"


class FakeRanks:
    """Ranks that say what a test makes them say."""

    def __init__(self, pids: Sequence[int] = (), failed: bool = False) -> None:
        self._pids = pids
        self._failed = failed
        self.reasons: list[str] = []

    def pids(self) -> Sequence[int]:
        return self._pids

    def have_failed(self) -> bool:
        return self._failed

    def tell_reason(self, reason: str) -> None:
        self.reasons.append(reason)


def python(code: str, **environment: str) -> Command:
    return Command((sys.executable, "-c", code), environment)


@pytest.fixture
def output(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "launcher.log"
    assert not [child for child in psutil.Process().children() if child.status() != "zombie"]


def run(
    commands: Sequence[Command], output: Path, ranks: FakeRanks | None = None, grace: float = 10
) -> Exits:
    return supervise(commands, output, Seconds(grace), lambda: None, ranks or FakeRanks())


def test_all_commands_end_and_their_output_is_kept(output: Path) -> None:
    # One write each: with the interpreter's buffer off, print writes text and newline apart.
    words = [python(f"import os; os.write(1, b'{word}\\n')") for word in ("one", "two")]
    exits = run(words, output)
    assert exits == Exits((0, 0))
    assert sorted(output.read_text().split()) == ["one", "two"]


def test_a_command_gets_the_environment_it_asks_for(output: Path) -> None:
    run([python("import os; print(os.environ['GREETING'])", GREETING="hello $x 'y'")], output)
    assert output.read_text() == "hello $x 'y'\n"


def test_when_one_fails_the_others_are_told_to_stop(output: Path) -> None:
    ranks = FakeRanks()
    exits = run(
        [python("raise SystemExit(9)"), python(WAIT_FOR_LEASE.format(code=4))], output, ranks
    )
    assert exits.return_codes == (9, 4)
    assert exits.stop_reason is None
    assert ranks.reasons == ["the launcher ended with exit code 9"]


def test_ranks_that_report_a_failure_end_the_run(output: Path) -> None:
    exits = run([python(WAIT_FOR_LEASE.format(code=0))], output, FakeRanks(failed=True))
    assert exits == Exits((0,))


def test_who_does_not_stop_in_time_is_killed(output: Path) -> None:
    exits = run([python("raise SystemExit(9)"), python(STUBBORN)], output, grace=1)
    assert exits.return_codes == (9, -signal.SIGKILL)
    assert len(exits.killed_pids) == 1


def test_grandchildren_are_found_and_killed(output: Path) -> None:
    parent = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {STUBBORN!r}]).wait()"
    )
    exits = run(
        [python("import time; time.sleep(1); raise SystemExit(9)"), python(parent)], output, grace=1
    )
    assert len(exits.killed_pids) == 2
    for pid in exits.killed_pids:
        wait_until_gone(pid)


def test_a_rank_is_found_when_its_starter_is_gone(output: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    orphan_maker = (
        f"import subprocess, sys, pathlib; child = subprocess.Popen([sys.executable, '-c', "
        f"{STUBBORN!r}, {WORKER_MODULE!r}], start_new_session=True); "
        f"pathlib.Path({str(pid_file)!r}).write_text(str(child.pid)); sys.exit(9)"
    )

    class Reported(FakeRanks):
        def pids(self) -> Sequence[int]:
            return [int(pid_file.read_text())]

    exits = run([python(orphan_maker)], output, Reported(), grace=1)
    assert exits.killed_pids == {int(pid_file.read_text())}
    wait_until_gone(int(pid_file.read_text()))


def test_a_foreign_process_with_a_ranks_old_number_is_left_alone(output: Path) -> None:
    exits = run([python("")], output, FakeRanks(pids=[os.getpid(), 1]), grace=1)
    assert exits == Exits((0,))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_commands_and_says_why(output: Path, number: signal.Signals) -> None:
    ranks = FakeRanks()
    threading.Timer(1.0, os.kill, (os.getpid(), number)).start()
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)}
    exits = run([python(WAIT_FOR_LEASE.format(code=5))], output, ranks)
    reason = "interrupted" if number is signal.SIGINT else number.name
    assert exits == Exits((5,), reason)
    assert ranks.reasons == [reason]
    assert {each: signal.getsignal(each) for each in before} == before


def test_a_program_that_does_not_exist_is_named(output: Path) -> None:
    with pytest.raises(LaunchError, match="no-such-program: cannot be started"):
        run([python(WAIT_FOR_LEASE.format(code=0)), Command(("no-such-program",))], output)


def test_a_stop_request_is_no_ordinary_exception() -> None:
    assert not issubclass(StopRequest, Exception)


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)
