"""Reads ``:::MLLOG`` lines from any text, clean or not.

Logs as published hold rank labels, progress bars and shell traces before an event, several line
endings, bytes of other encodings, cut lines. What can be used is used, and every repair and every
loss is recorded with its line: a reader that drops an event silently changes a result.

Decoding JSON is most of the time; whoever needs few keys names them. Then a scanner in C, where it
was built, vouches for events that need no repair and are decoded when they are taken, if ever; the
code here reads the others, and all events where there is no scanner.
"""

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from json import JSONDecoder
from operator import attrgetter
from pathlib import Path
from typing import Any

import orjson

from mlbench.runlog import TOKEN, LogEvent, Repair, RunLog
from mlbench.runlog.parts import read_parts
from mlbench.runlog.stray import stray_events
from mlbench.runlog.vouched import SCANNER, Part, Scanner, Vouched, compact
from mlbench.vocabulary import Milliseconds

_TOKEN = TOKEN.encode()
_NEWLINE = ord("\n")
_DECODER = JSONDecoder(strict=False)
_SHELL_TRACE = re.compile(rb"\s*(?:\[?\d+\]?:?\s*|\S{1,40}[:>\]]\s*)?\++\s")
"""What ``set -x`` prints before a command, behind the label of a rank or a host."""
_MOST_PIECES = 3
"""Lines over which an event may be cut and still be put together."""
_TIME_BITS = 63
"""A longer number is no time."""


def read_log(path: Path, keys: Collection[str] | None = None) -> RunLog:
    """Return the events of a log file, all or those of some keys.

    Raises:
        InputMissingError: the file cannot be read.
    """
    return parse_parts(read_parts(path), path, keys)


def parse_log(
    data: bytes,
    path: Path,
    keys: Collection[str] | None = None,
    scanner: Scanner | None = SCANNER,
) -> RunLog:
    """Return the events in the bytes of a log; ``path`` is kept for messages."""
    return parse_parts([data], path, keys, scanner)


def parse_parts(
    parts: Iterable[bytes],
    path: Path,
    keys: Collection[str] | None = None,
    scanner: Scanner | None = SCANNER,
) -> RunLog:
    """Return the events of a log that comes in parts, such as ``read_parts`` makes.

    A scanner takes nothing from an event that is decoded anyway: it is for those who name keys.
    """
    reader = _Reader(frozenset(keys) if keys is not None else None, scanner)
    for part in parts:
        reader.read(part)
    repairs = sorted(reader.repairs, key=attrgetter("line"))
    return RunLog(path, reader.by_key(), tuple(repairs), reader.num_events)


@dataclass(slots=True)
class _Reader:
    keys: frozenset[str] | None
    scanner: Scanner | None
    data: bytes = b""
    repairs: list[Repair] = field(default_factory=list)
    num_events: int = 0
    _base: int = 0
    """Where the data begin in the file."""
    _lines: int = 1
    _counted: int = 0
    """Byte of the data up to which lines are counted."""
    _may_have_stray: bool = True
    _decoded: dict[str, list[LogEvent]] = field(default_factory=dict)
    _vouched: dict[str, list[Part]] = field(default_factory=dict)

    def read(self, data: bytes) -> None:
        """Read the next part of the file."""
        if self.data:
            self._lines += self.data.count(b"\n", self._counted)
            self._base += len(self.data)
            for parts in self._vouched.values():
                if parts[-1].data is self.data:
                    parts[-1] = compact(parts[-1])
        self.data, self._counted = data, 0
        first_line = self._lines
        for token in self._tokens():
            event = self._event_at(token)
            if event is not None:
                self._decoded.setdefault(event.key, []).append(event)
        for offset, text in stray_events(data, self._may_have_stray):
            line = first_line + data.count(b"\n", 0, offset)
            self.repairs.append(Repair(line, text, lost=True))

    def by_key(self) -> dict[str, Sequence[LogEvent]]:
        """Return the events of each key, in file order."""
        found: dict[str, Sequence[LogEvent]] = {
            key: Vouched(key, parts, self.scanner)
            for key, parts in self._vouched.items()
            if self.scanner is not None
        }
        for key, events in self._decoded.items():
            clean = found.get(key, ())
            found[key] = sorted([*clean, *events], key=attrgetter("offset"))
        return found

    def _tokens(self) -> Iterable[int]:
        """Return the tokens to look at: all that a scanner does not vouch for."""
        if self.scanner is None or self.keys is None:
            return _all_tokens(self.data)
        count, spans, looks, self._may_have_stray = self.scanner.scan(
            self.data, tuple(self.keys), self._base
        )
        self.num_events += count
        for key, each in spans.items():
            self._vouched.setdefault(key, []).append(Part(self.data, each))
        return memoryview(looks).cast("q")

    def _event_at(self, token: int) -> LogEvent | None:
        """Return the event behind a token, None if it is none or not asked for."""
        start = token + len(_TOKEN)
        following = self.data.find(_TOKEN, start)
        end = self.data.find(b"\n", start)
        if end < 0 or 0 <= following < end:
            end = following if following >= 0 else len(self.data)
        if token and self.data[token - 1] != _NEWLINE and self._is_shell_trace(token):
            self._repair(token, "shell trace, not an event")
            return None
        try:
            record = orjson.loads(self.data[start:end])
            if record is None:  # ``null`` is JSON, but no event: a loss, as the rest is.
                record = ()
        except orjson.JSONDecodeError:
            record = self._decode_dirty(token, end, following)
        return self._event(record, token) if record is not None else None

    def _event(self, record: Any, token: int) -> LogEvent | None:
        """Return the event of a record, None if it is none or not asked for."""
        key = record.get("key") if isinstance(record, dict) else None
        if not isinstance(key, str):
            text, _ = _to_text(self.data[token + len(_TOKEN) :][:80].partition(b"\n")[0])
            self._repair(token, f"event without a key: {text}", lost=True)
            return None
        self.num_events += 1
        if self.keys is not None and key not in self.keys:
            return None
        metadata = record.get("metadata")
        if not isinstance(metadata, dict):
            self._repair(token, f"metadata of {key} is not an object, read as empty")
            metadata = {}
        time_ms = _time_ms(record)
        if time_ms is None:
            self._repair(token, f"{key} has no time")
        elif isinstance(record.get("time_ms"), str):
            self._repair(token, f"time of {key} is text, read as a number")
        return LogEvent(key, record.get("value"), metadata, time_ms, self._base + token)

    def _is_shell_trace(self, token: int) -> bool:
        begin = self.data.rfind(b"\n", 0, token) + 1
        return bool(_SHELL_TRACE.match(self.data, begin, token))

    def _decode_dirty(self, token: int, end: int, following: int) -> Any:
        """Decode what strict JSON refuses; None, and a loss recorded, when nothing can be made."""
        start = token + len(_TOKEN)
        text, repairs = _to_text(self.data[start:end])
        if not text:
            self._repair(token, "event without content", lost=True)
            return None
        decoded = _decode_prefix(text)
        if decoded is None:
            decoded = self._join_pieces(start, following)
            repairs.append("event put together from several lines")
        if decoded is None:
            self._repair(token, f"event cut or broken: {text[:80]}", lost=True)
            return None
        record, rest = decoded
        if rest:
            repairs.append(f"text after the event ignored: {rest[:40]}")
        self._repair(token, "; ".join(repairs) or "not strict JSON, read leniently")
        return () if record is None else record

    def _join_pieces(self, start: int, following: int) -> tuple[Any, str] | None:
        """Put an event together that is cut over several lines, none of which has a token."""
        stop = following if following >= 0 else len(self.data)
        pieces = self.data[start:stop].split(b"\n", _MOST_PIECES)
        for count in range(2, min(len(pieces), _MOST_PIECES) + 1):
            text, _ = _to_text(b"".join(piece.rstrip(b"\r") for piece in pieces[:count]))
            decoded = _decode_prefix(text)
            if decoded is not None:
                return decoded
        return None

    def _repair(self, offset: int, text: str, *, lost: bool = False) -> None:
        self._lines += self.data.count(b"\n", self._counted, offset)
        self._counted = offset
        self.repairs.append(Repair(self._lines, text, lost))


def _all_tokens(data: bytes) -> Iterator[int]:
    token = data.find(_TOKEN)
    while token >= 0:
        yield token
        token = data.find(_TOKEN, token + len(_TOKEN))


def _to_text(raw: bytes) -> tuple[str, list[str]]:
    """Return the text in bytes, and what had to be done to them."""
    repairs = []
    if b"\0" in raw:
        raw = raw.replace(b"\0", b"")
        repairs.append("NUL bytes removed")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
        repairs.append("bytes that are not UTF-8 read as latin-1")
    return text.strip(), repairs


def _decode_prefix(text: str) -> tuple[Any, str] | None:
    """Return the JSON value that a text begins with and what follows it, None if there is none."""
    try:
        record, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):  # ValueError: also a number of thousands of digits.
        return None
    if "\\u" in text:
        record = _without_surrogates(record)
    return record, text[end:].strip()


def _without_surrogates(record: Any) -> Any:
    """Return a record in which half a surrogate pair, which no file can hold, is a ``?``."""
    try:
        text = json.dumps(record, ensure_ascii=False)
    except RecursionError:
        return None
    return json.loads(text.encode("utf-8", "replace"))


def _time_ms(record: dict[str, Any]) -> Milliseconds | None:
    """Return the event's time; logs of v0.7 give some in seconds, as ``time_s``."""
    time = record.get("time_ms")
    if type(time) is int and time.bit_length() < _TIME_BITS:
        return Milliseconds(time)
    for name, factor in (("time_ms", 1), ("time_s", 1000)):
        time = record.get(name)
        if isinstance(time, int | float | str) and not isinstance(time, bool):
            with suppress(ValueError, OverflowError):
                found = float(time) * factor
                if math.isfinite(found):
                    return Milliseconds(found)
    return None
