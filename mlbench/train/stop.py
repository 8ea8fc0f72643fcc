"""Stops a rank from outside: by signal, or because whoever started it is gone.

Python runs signal handlers in the main thread only, and that thread may be waiting in a
collective for a rank that is dead. So signals are blocked there and waited for in a thread.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from mlbench.plan import LEASE_VARIABLE

_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}

SUPERVISOR_GONE = "the supervising process is gone"
"""Reason of a stop when nobody was left to write one down."""

OnStop = Callable[[str], None]
"""Called once, in another thread, with the reason; must end the process."""


def watch_for_stop(stop_file: Path, on_stop: OnStop) -> None:
    """Call ``on_stop`` when the rank is to stop. Called before any other thread exists."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    once = threading.Lock()

    def stop(reason: str) -> None:
        if once.acquire(blocking=False):
            on_stop(reason)

    watchers = [lambda: stop(_wait_for_signal())]
    if os.environ.get(LEASE_VARIABLE) == "stdin":
        watchers.append(lambda: stop(_wait_for_end_of_lease(stop_file)))
    for watcher in watchers:
        threading.Thread(target=watcher, daemon=True).start()


def _wait_for_signal() -> str:
    return signal.Signals(signal.sigwait(_SIGNALS)).name


def _wait_for_end_of_lease(stop_file: Path) -> str:
    """Return why the supervisor closed our standard input, as it wrote down before."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    try:
        return stop_file.read_text("utf-8")
    except OSError:
        return SUPERVISOR_GONE
