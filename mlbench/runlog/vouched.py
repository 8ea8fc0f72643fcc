"""Events that are known to be clean, and are decoded only when they are taken.

Most events of a log are never needed: of ten thousand throughputs, the last. The scanner in C
vouches for events without decoding them; where it was not built, the reader decodes every event.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, overload

import orjson

from mlbench.runlog import LogEvent


@dataclass(frozen=True, slots=True)
class Scanner:
    """The functions of the module in C."""

    scan: Callable[[bytes, tuple[str, ...], int], tuple[int, dict[str, bytes], bytes, bool]]
    """Bytes, keys and the place of the bytes in their file to: number of events vouched for; spans
    of those of each key; tokens of the events to look at, as packed int64; whether there may be
    events without a token."""
    records: Callable[[bytes, bytes], bytes]
    """Bytes and spans to a JSON array with ``[offset, time_ms, value, metadata]`` of each."""


def _built() -> Scanner | None:
    try:
        from mlbench.runlog import _scan
    except ImportError:  # No compiler where mlbench was installed.
        return None
    return Scanner(_scan.scan, _scan.records)


SCANNER = _built()
"""None where the module in C was not built."""

_SPAN_SIZE = 24
"""Bytes of a span: begin and end in the bytes of the part, and offset in the file, as int64."""


class Part(NamedTuple):
    """Events of one key in a part of a file."""

    data: bytes
    spans: bytes


class Vouched(Sequence[LogEvent]):
    """Events of one key, in file order."""

    __slots__ = ("_key", "_parts", "_scanner")

    def __init__(self, key: str, parts: Sequence[Part], scanner: Scanner) -> None:
        self._key = key
        self._parts = parts
        self._scanner = scanner

    def __len__(self) -> int:
        return sum(len(part.spans) for part in self._parts) // _SPAN_SIZE

    @overload
    def __getitem__(self, index: int) -> LogEvent: ...
    @overload
    def __getitem__(self, index: slice) -> list[LogEvent]: ...
    def __getitem__(self, index: int | slice) -> LogEvent | list[LogEvent]:
        if isinstance(index, slice):
            return list(self)[index]
        if index == 0:  # Asked for most often; no part is without events.
            data, spans = self._parts[0]
            return self._decode(data, spans[:_SPAN_SIZE])[0]
        place = (index if index >= 0 else len(self) + index) * _SPAN_SIZE
        for part in self._parts if place >= 0 else ():
            if place < len(part.spans):
                return self._decode(part.data, part.spans[place : place + _SPAN_SIZE])[0]
            place -= len(part.spans)
        raise IndexError(index)

    def __iter__(self) -> Iterator[LogEvent]:
        return chain.from_iterable(self._decode(*part) for part in self._parts)

    def _decode(self, data: bytes, spans: bytes) -> list[LogEvent]:
        key, new = self._key, tuple.__new__  # Half the time of LogEvent(...).
        return [
            new(LogEvent, (key, value, metadata, time_ms, offset))
            for offset, time_ms, value, metadata in orjson.loads(self._scanner.records(data, spans))
        ]


def compact(part: Part) -> Part:
    """Return the same events without the bytes between them."""
    numbers = memoryview(part.spans).cast("q")
    pieces, spans, begin = [], array("q"), 0
    for first, last, offset in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        pieces.append(part.data[first:last])
        spans.extend((begin, begin + last - first, offset))
        begin += last - first + 1
    return Part(b"\n".join(pieces), spans.tobytes())
