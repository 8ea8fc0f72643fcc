"""What goes wrong ends the run at once, is named last, and leaves a valid log and no process."""

import signal
import time
from pathlib import Path

import psutil
import pytest

from mlbench.submission.records import RunState
from tests.conftest import Mlbench
from tests.runs.launched import Launched, kill, launch

ENDLESS = ("--set", "train.max_steps=1000", "--set", "evaluation.every_samples=80000")


def aborted_reason(launched: Launched) -> str:
    """Why the log says the run was aborted; its last event is ``run_stop``."""
    log = launched.log
    assert not log.repairs
    assert len(list(log.all("run_stop"))) == 1
    stop = log.events[-1]
    assert (stop.key, stop.metadata["status"]) == ("run_stop", "aborted")
    return str(stop.metadata["reason"])


def test_a_loss_that_is_not_finite(small_config: Path, tmp_path: Path) -> None:
    launched = launch(small_config, tmp_path / "r", "--set", "optimizer.learning_rate=1e12")
    end = launched.finish()
    assert end.code == 3
    assert "nan at step" in end.last_line
    assert "nan at step" in aborted_reason(launched)
    assert launched.losses[-1] is None
    assert "loss not finite" in end.errors


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("launcher", ["torchrun", "local"])
def test_a_rank_that_is_killed(
    small_config: Path, tmp_path: Path, rank: int, launcher: str
) -> None:
    launched = launch(
        small_config, tmp_path / "r", *ENDLESS, "--set", f"launch.launcher={launcher}"
    )
    launched.wait_for_steps(3)
    pid = launched.rank_pid(rank)
    kill(pid, signal.SIGKILL)
    end = launched.finish()
    assert end.code == 7
    assert f"rank {rank} on " in end.last_line
    assert f"(pid {pid}) killed by signal 9" in end.last_line
    assert str(launched.record.rank_log(rank)) in end.errors
    assert f"rank {rank}" in aborted_reason(launched)
    assert launched.status.run_state is RunState.FAILED


def test_the_launcher_is_killed(small_config: Path, tmp_path: Path) -> None:
    launched = launch(small_config, tmp_path / "r", *ENDLESS)
    launched.wait_for_steps(3)
    parent = psutil.Process(launched.rank_pid(0)).parent()
    assert parent is not None
    parent.kill()
    end = launched.finish()
    assert end.code == 7
    assert "the launcher ended with exit code -9" in end.last_line
    assert aborted_reason(launched) == "the launcher ended with exit code -9"


def test_the_command_itself_is_killed(small_config: Path, tmp_path: Path) -> None:
    launched = launch(small_config, tmp_path / "r", *ENDLESS)
    launched.wait_for_steps(3)
    launched.process.kill()
    assert launched.finish().code == -signal.SIGKILL
    assert aborted_reason(launched) == "the supervising process is gone"
    assert launched.status.run_state is RunState.RUNNING  # Its process is gone: visible as killed.


@pytest.mark.parametrize(
    ("number", "reason"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "SIGTERM")]
)
def test_the_user_stops_the_run(
    small_config: Path, tmp_path: Path, number: signal.Signals, reason: str
) -> None:
    launched = launch(small_config, tmp_path / "r", *ENDLESS)
    launched.wait_for_steps(3)
    launched.process.send_signal(number)
    end = launched.finish()
    assert end.code == 130
    assert end.last_line == f"Error: stopped from outside: {reason}"
    assert aborted_reason(launched) == reason
    assert launched.status.run_state is RunState.INTERRUPTED


def test_the_user_stops_a_run_that_is_still_starting(small_config: Path, tmp_path: Path) -> None:
    launched = launch(small_config, tmp_path / "r", *ENDLESS)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "r").glob(".mlbench/*/ranks/rank-1.json")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    launched.process.send_signal(signal.SIGINT)
    assert launched.finish().code == 130
    assert aborted_reason(launched).endswith("interrupted")


def test_a_rank_that_hangs(small_config: Path, tmp_path: Path) -> None:
    launched = launch(
        small_config,
        tmp_path / "r",
        *ENDLESS,
        "--set",
        "launch.collective_timeout_seconds=5",
        "--set",
        "launch.shutdown_grace_seconds=2",
    )
    launched.wait_for_steps(3)
    kill(launched.rank_pid(1), signal.SIGSTOP)
    end = launched.finish()
    assert end.code == 7
    assert "rank 0" in end.last_line
    assert end.last_line.endswith("killed since they did not end: rank 1")
    assert "Timed out" in aborted_reason(launched)


def test_a_fault_inside_a_rank_ends_with_its_traceback(small_config: Path, tmp_path: Path) -> None:
    """The data vanish between the plan and the ranks: what they meet is reported as it is."""
    text = small_config.read_text()
    prepared = Path(text.split("path: ")[1].splitlines()[0])
    moved = tmp_path / "data"
    moved.symlink_to(prepared)
    small_config.write_text(text.replace(str(prepared), str(moved)))
    launched = launch(small_config, tmp_path / "r", *ENDLESS)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "r").glob(".mlbench/*/plan.json")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    moved.unlink()
    end = launched.finish()
    assert end.code == 6
    assert "no prepared data here" in end.last_line
    assert "no prepared data here" in aborted_reason(launched)


def test_results_that_cannot_be_written(
    small_config: Path, tmp_path: Path, mlbench: Mlbench
) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    for folder in (tmp_path / "file", tmp_path / "file" / "sub", Path("/proc/results")):
        done = mlbench("run", small_config, "--results", folder)
        assert done.returncode in (2, 5)
        assert str(folder) in done.stderr
        assert "Traceback" not in done.stderr
        assert "starting" not in done.stderr  # Before any rank is started: within a second.


BEFORE_THE_START = {
    ("train.global_batch_size=100000",): (6, "fewer than one global batch of 100000"),
    ("submission.ruleset=6.0.0",): (2, "rule set 6.0.0 does not know bert; its last is 5.0.0"),
    ("train.global_batch_size=9",): (2, "nearest: 8 or 10"),
    ("data.path=nowhere",): (6, "nowhere: no prepared data here"),
    ("data.prepare.seed=3",): (6, "other settings than data.prepare (seed: 12345 there, 3 asked)"),
    ("launch.oversubscribe=false", "launch.nproc_per_node=64", "train.global_batch_size=64"): (
        5,
        "64 ranks, this machine has",
    ),
}


@pytest.mark.parametrize("settings", BEFORE_THE_START)
def test_what_cannot_work_is_refused_before_anything_starts(
    small_config: Path, tmp_path: Path, mlbench: Mlbench, settings: tuple[str, ...]
) -> None:
    code, message = BEFORE_THE_START[settings]
    options = [word for setting in settings for word in ("--set", setting)]
    done = mlbench("run", small_config, "--results", tmp_path / "r", *options)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "r").exists()
