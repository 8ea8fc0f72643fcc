"""A run as it is logged: events of ``:::MLLOG`` lines, read and written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from mlbench.vocabulary import Milliseconds

TOKEN = ":::MLLOG"
"""What every event begins with."""


class EventType(StrEnum):
    """``event_type`` of an event."""

    INTERVAL_START = "INTERVAL_START"
    INTERVAL_END = "INTERVAL_END"
    POINT_IN_TIME = "POINT_IN_TIME"


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One event of a log."""

    key: str
    value: Any
    metadata: Mapping[str, Any]
    time_ms: Milliseconds | None
    """None when the log has no usable time for it."""
    offset: int
    """Byte of the file at which the event's token begins; ``RunLog.line_of`` makes a line of it."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Something in a log that was mended, or could not be used."""

    line: int
    """Line of the file, counted from 1."""
    text: str
    lost: bool = False
    """True when an event could not be read at all."""


@dataclass(frozen=True, slots=True)
class RunLog:
    """The events of a log, in file order."""

    path: Path
    events: tuple[LogEvent, ...]
    """All events, or those of the keys that were asked for."""
    repairs: tuple[Repair, ...] = ()
    num_events: int = 0
    """All events of the file that could be read, whatever their keys."""

    def all(self, key: str) -> Iterator[LogEvent]:
        """Yield the events of a key."""
        return (event for event in self.events if event.key == key)

    def first(self, key: str) -> LogEvent | None:
        """Return the first event of a key."""
        return next(self.all(key), None)

    def last(self, key: str) -> LogEvent | None:
        """Return the last event of a key."""
        return next((event for event in reversed(self.events) if event.key == key), None)

    def value(self, key: str) -> Any:
        """Return the value of the first event of a key, None without one."""
        event = self.first(key)
        return event.value if event else None

    def line_of(self, event: LogEvent) -> int:
        """Return the line of the file that an event is on, counted from 1; reads the file."""
        return self.path.read_bytes().count(b"\n", 0, event.offset) + 1
