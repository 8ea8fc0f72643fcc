"""A run as it is logged: events of ``:::MLLOG`` lines, read and written."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from mlbench.vocabulary import Milliseconds

TOKEN = ":::MLLOG"
"""What every event begins with."""


class EventType(StrEnum):
    """``event_type`` of an event."""

    INTERVAL_START = "INTERVAL_START"
    INTERVAL_END = "INTERVAL_END"
    POINT_IN_TIME = "POINT_IN_TIME"


class LogEvent(NamedTuple):
    """One event of a log; a tuple, since a round has a million of them."""

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
    by_key: Mapping[str, Sequence[LogEvent]] = field(repr=False)
    """Events of each key, or of the keys that were asked for; some are decoded when taken."""
    repairs: tuple[Repair, ...] = ()
    num_events: int = 0
    """All events of the file that could be read, whatever their keys."""

    @property
    def events(self) -> tuple[LogEvent, ...]:
        """All events, or those of the keys that were asked for; decodes every one of them."""
        return tuple(self.all(*self.by_key))

    def all(self, *keys: str) -> Iterator[LogEvent]:
        """Yield the events of some keys."""
        sequences = [self.by_key[key] for key in keys if key in self.by_key]
        if len(sequences) < 2:
            return iter(sequences[0] if sequences else ())
        return iter(sorted(chain.from_iterable(sequences), key=attrgetter("offset")))

    def backwards(self, *keys: str) -> Iterator[LogEvent]:
        """Yield the events of some keys, the last one first; decodes no more than are taken."""
        sequences: list[Iterator[LogEvent]] = [
            reversed(self.by_key[key]) for key in keys if key in self.by_key
        ]
        if len(sequences) == 1:
            return sequences[0]
        return heapq.merge(*sequences, key=lambda event: event.offset, reverse=True)

    def first(self, key: str) -> LogEvent | None:
        """Return the first event of a key."""
        return self.by_key[key][0] if key in self.by_key else None

    def last(self, key: str) -> LogEvent | None:
        """Return the last event of a key."""
        return self.by_key[key][-1] if key in self.by_key else None

    def value(self, key: str) -> Any:
        """Return the value of the first event of a key, None without one."""
        event = self.first(key)
        return event.value if event else None

    def line_of(self, event: LogEvent) -> int:
        """Return the line of the file that an event is on, counted from 1; reads the file."""
        return self.path.read_bytes().count(b"\n", 0, event.offset) + 1
