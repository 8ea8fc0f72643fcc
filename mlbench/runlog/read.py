"""Reads ``:::MLLOG`` lines from any text, clean or not.

Logs as published hold rank labels, progress bars and shell traces before an event, several line
endings, bytes of other encodings, cut lines. What can be used is used, and every repair and every
loss is recorded with its line: a reader that drops an event silently changes a result.

Decoding JSON is most of the time; whoever needs few keys names them, and the other events are
decoded, counted and dropped at once.
"""

import json
import math
import re
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from json import JSONDecoder
from pathlib import Path
from typing import Any

import orjson

from mlbench.errors import InputMissingError
from mlbench.runlog import TOKEN, LogEvent, Repair, RunLog
from mlbench.runlog.stray import stray_events
from mlbench.vocabulary import Milliseconds

_TOKEN = TOKEN.encode()
_DECODER = JSONDecoder(strict=False)
_SHELL_TRACE = re.compile(rb"\s*(?:\[?\d+\]?:?\s*|\S{1,40}[:>\]]\s*)?\++\s")
"""What ``set -x`` prints before a command, behind the label of a rank or a host."""
_MOST_PIECES = 3
"""Lines over which an event may be cut and still be put together."""
_TIME_BITS = 63
"""A longer number is no time."""


def read_log(path: Path, keys: Container[str] | None = None) -> RunLog:
    """Return the events of a log file, all or those of some keys.

    Raises:
        InputMissingError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputMissingError(f"{path}: cannot be read: {error.strerror}") from error
    return parse_log(data, path, keys)


def parse_log(data: bytes, path: Path, keys: Container[str] | None = None) -> RunLog:
    """Return the events in the bytes of a log; ``path`` is kept for messages."""
    reader = _Reader(data)
    events = tuple(reader.events(keys))
    num_whole = reader.num_tokens - sum(repair.lost for repair in reader.repairs)
    stray = [
        Repair(data.count(b"\n", 0, offset) + 1, text, lost=True)
        for offset, text in stray_events(data, num_whole)
    ]
    repairs = sorted([*reader.repairs, *stray], key=lambda repair: repair.line)
    return RunLog(path, events, tuple(repairs), reader.num_events)


@dataclass(slots=True)
class _Reader:
    data: bytes
    repairs: list[Repair] = field(default_factory=list)
    num_events: int = 0
    num_tokens: int = 0
    _lines: int = 1
    _counted: int = 0

    def events(self, keys: Container[str] | None) -> Iterator[LogEvent]:
        """Yield the events of the keys, in file order."""
        data, decode = self.data, orjson.loads
        token = data.find(_TOKEN)
        while token >= 0:
            self.num_tokens += 1
            start = token + len(_TOKEN)
            following = data.find(_TOKEN, start)
            end = data.find(b"\n", start)
            if end < 0 or 0 <= following < end:
                end = following if following >= 0 else len(data)
            record: Any = None
            if token and data[token - 1] != 10 and self._is_shell_trace(token):
                self._repair(token, "shell trace, not an event")
            else:
                try:
                    record = decode(data[start:end])
                    if record is None:  # ``null`` is JSON, but no event: a loss, as the rest is.
                        record = ()
                except orjson.JSONDecodeError:
                    record = self._decode_dirty(token, end, following)
            if record is not None:
                event = self._event(record, token, keys)
                if event:
                    yield event
            token = following

    def _event(self, record: Any, token: int, keys: Container[str] | None) -> LogEvent | None:
        """Return the event of a record, None if it is none or not asked for."""
        key = record.get("key") if isinstance(record, dict) else None
        if not isinstance(key, str):
            text, _ = _to_text(self.data[token + len(_TOKEN) :][:80].partition(b"\n")[0])
            self._repair(token, f"event without a key: {text}", lost=True)
            return None
        self.num_events += 1
        if keys is not None and key not in keys:
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
        return LogEvent(key, record.get("value"), metadata, time_ms, token)

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
