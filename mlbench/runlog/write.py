"""Writes a run's log through mlperf-logging; rank 0 only, one file a run.

mlperf-logging's own configuration keeps one logger for the process, appends to existing files,
echoes to stdout and drops a value it cannot encode. Here every run has its own ``MLLogger`` on
its own file, opened empty and flushed after each event, and what cannot be logged is an error.
"""

import logging
import math
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mlperf_logging.mllog import constants as keys
from mlperf_logging.mllog.mllog import MLLogger
from typing_extensions import override

from mlbench.errors import LaunchError
from mlbench.runlog.read import parse_log
from mlbench.vocabulary import RunStatus

_PACKAGE_PARENT = Path(__file__).resolve().parents[2]
_STACK_OFFSET = 2
"""Frames between mllog's caller lookup and the code that logs."""


class _LogFile(logging.FileHandler):
    """Fails when an event cannot be written; ``logging`` would print and go on."""

    @override
    def handleError(self, record: logging.LogRecord) -> None:
        raise


class RunLogWriter:
    """The log of one run. Threads may share it; events after ``run_stop`` are refused."""

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        """Open the log.

        Args:
            path: the file; it may exist, empty, if its place was reserved.
            resume: add to a log that another process left without ``run_stop``.

        Raises:
            LaunchError: the file has content, or cannot be opened.
        """
        self.path = path
        self._lock = threading.RLock()
        self._handler = self._open(path, resume)
        logger = logging.Logger(f"mlbench.runlog:{path}")
        logger.addHandler(self._handler)
        self._mllogger = MLLogger(
            logger=logger,
            default_stack_offset=_STACK_OFFSET,
            root_dir=re.escape(str(_PACKAGE_PARENT)),
        )
        self._stopped = False

    @staticmethod
    def _open(path: Path, resume: bool) -> logging.FileHandler:
        try:
            if not resume and path.exists() and path.stat().st_size:
                raise LaunchError(f"{path}: already holds a log; results are never overwritten")
            handler = _LogFile(path, mode="a", encoding="utf-8")
        except OSError as error:
            raise LaunchError(f"{path}: cannot be written: {error.strerror}") from error
        handler.setFormatter(logging.Formatter("%(message)s"))
        return handler

    def event(self, key: str, value: Any = None, **metadata: Any) -> None:
        """Log a point in time."""
        with self._lock:
            self._check(key, value, metadata)
            self._mllogger.event(key=key, value=value, metadata=metadata)

    def start(self, key: str, **metadata: Any) -> None:
        """Log the start of an interval."""
        with self._lock:
            self._check(key, None, metadata)
            self._mllogger.start(key=key, metadata=metadata)

    def end(self, key: str, **metadata: Any) -> None:
        """Log the end of an interval."""
        with self._lock:
            self._check(key, None, metadata)
            self._mllogger.end(key=key, metadata=metadata)

    def stop(self, status: RunStatus, **metadata: Any) -> bool:
        """Log ``run_stop``, once: later calls do nothing and return False."""
        with self._lock:
            if self._stopped:
                return False
            metadata = {"status": status.value, **metadata}
            self._check(keys.RUN_STOP, None, metadata)
            self._mllogger.end(key=keys.RUN_STOP, metadata=metadata)
            self._stopped = True
            return True

    def close(self) -> None:
        """Close the file."""
        self._handler.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _check(self, key: str, value: Any, metadata: Mapping[str, Any]) -> None:
        """Refuse what mlperf-logging would drop or write as something that is not JSON."""
        if not _is_plain((value, list(metadata.values()))):
            raise TypeError(f"{key}: {value!r} {metadata!r} holds what JSON cannot")


def _is_plain(value: Any) -> bool:
    """Whether a value is made of JSON's own types. NaN is not: a log must stay readable JSON."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and _is_plain(list(value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int)


def close_log(path: Path, reason: str) -> bool:
    """End a log whose process is gone with ``run_stop``, aborted; return whether it was open.

    A log without any event, or one that is ended already, is left alone.
    """
    data = path.read_bytes() if path.exists() else b""
    log = parse_log(data, path)
    if log.first(keys.RUN_STOP):
        return False
    if data and not data.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")
    with RunLogWriter(path, resume=True) as writer:
        return writer.stop(RunStatus.ABORTED, reason=reason)
