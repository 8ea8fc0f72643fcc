"""Starts commands, watches them, and leaves none behind.

Every process gets a pipe as standard input that is never written to: the lease. When the
supervisor closes it, or dies, ranks read the end of it and stop by themselves; who has not
stopped after a grace period is killed.
"""

import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

import psutil

from mlbench.errors import LaunchError
from mlbench.launch import WORKER_MODULE, Command
from mlbench.vocabulary import Seconds

POLL_SECONDS = 0.2
POLLS_PER_QUESTION = 5

Watch = Callable[[], None]
"""Called at every poll, to show progress."""


class Ranks(Protocol):
    """What the ranks report, in files, whoever started them."""

    def pids(self) -> Iterable[int]:
        """Return the processes of the ranks, also of those whose starter is gone."""

    def have_failed(self) -> bool:
        """Whether a rank has reported that it failed."""

    def tell_reason(self, reason: str) -> None:
        """Leave the reason of a stop where ranks will find it when their lease ends."""


class StopRequest(BaseException):
    """Someone outside asks the run to stop; like ``KeyboardInterrupt``, no ordinary error."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal.Signals(signal_number).name)


@dataclass(frozen=True, slots=True)
class Exits:
    """How the commands ended."""

    return_codes: tuple[int, ...]
    """Of each command; negative: the signal that killed it."""
    stop_reason: str | None = None
    """Set when they were stopped from outside."""
    killed_pids: frozenset[int] = frozenset()
    """Processes that did not end by themselves."""


def supervise(
    commands: Sequence[Command],
    output: Path,
    grace: Seconds,
    watch: Watch,
    ranks: "Ranks",
) -> Exits:
    """Run commands until all have ended; when one fails the others are stopped.

    Args:
        commands: what to start.
        output: file for what the commands themselves print.
        grace: time to end by oneself after the lease is closed.
        watch: called a few times a second.
        ranks: what the ranks among the processes say of themselves.
    """
    lease_end, lease = os.pipe()
    processes: list[subprocess.Popen[bytes]] = []
    reason = None
    try:
        with output.open("ab") as log, _termination_as_exception():
            try:
                processes.extend(_start(commands, lease_end, log))
                failed = _wait_for_end(processes, watch, ranks)
                if failed:
                    ranks.tell_reason(f"the launcher ended with exit code {failed}")
            except (KeyboardInterrupt, StopRequest) as stop:
                reason = "interrupted" if isinstance(stop, KeyboardInterrupt) else str(stop)
                ranks.tell_reason(reason)
    finally:
        os.close(lease_end)
        os.close(lease)
        killed = _end(processes, ranks.pids(), grace)
    return Exits(tuple(process.returncode for process in processes), reason, killed)


def _start(
    commands: Iterable[Command], lease_end: int, log: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    for command in commands:
        try:
            yield subprocess.Popen(
                command.argv,
                env={**os.environ, **command.environment},
                stdin=lease_end,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # The terminal's Ctrl-C is ours to pass on.
            )
        except OSError as error:
            raise LaunchError(f"{command.argv[0]}: cannot be started: {error.strerror}") from error


def _wait_for_end(
    processes: Sequence[subprocess.Popen[bytes]], watch: Watch, ranks: "Ranks"
) -> int:
    """Return when every process has ended, or one has failed: with its code, else 0.

    Ranks are asked less often, and only because a launcher can take long to notice: torchrun
    waits half a minute for a rank that hangs.
    """
    codes: list[int | None] = [None]
    for poll in itertools.count(1):
        codes = [process.poll() for process in processes]
        watch()
        if None not in codes or any(codes):
            break
        if poll % POLLS_PER_QUESTION == 0 and ranks.have_failed():
            break
        time.sleep(POLL_SECONDS)
    return next(filter(None, codes), 0)


def _end(
    processes: Sequence[subprocess.Popen[bytes]], rank_pids: Iterable[int], grace: Seconds
) -> frozenset[int]:
    """Wait for processes to end by themselves, then kill what is left; return what that was.

    A second Ctrl-C cuts the waiting short. Children are listed before their parents are gone,
    since nothing leads to an orphan.
    """
    family = {member for pid in rank_pids for member in _rank(pid)}
    deadline = time.monotonic() + grace
    with suppress(KeyboardInterrupt):
        while time.monotonic() < deadline:
            family |= _family(processes)
            if not any(map(_is_alive, family)):
                break
            time.sleep(POLL_SECONDS / 4)
    left = [member for member in family if _is_alive(member)]
    for member in left:
        with suppress(psutil.NoSuchProcess):
            member.kill()
    for process in processes:
        process.wait()
    return frozenset(member.pid for member in left)


def _rank(pid: int) -> Iterator[psutil.Process]:
    """Yield the process of a rank, unless it is gone and its number was given away."""
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        process = psutil.Process(pid)
        if WORKER_MODULE in process.cmdline():
            yield process


def _family(processes: Iterable[subprocess.Popen[bytes]]) -> set[psutil.Process]:
    members: set[psutil.Process] = set()
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.poll() is None:
                parent = psutil.Process(process.pid)
                members |= {parent, *parent.children(recursive=True)}
    return members


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@contextmanager
def _termination_as_exception() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into ``StopRequest`` while processes are running."""

    def stop(number: int, _frame: object) -> None:
        raise StopRequest(number)

    signals = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
