"""Reads ``:::MLLOG`` lines from any text, clean or not.

Logs as published hold rank labels, progress bars and shell traces before an event, several line
endings, bytes of other encodings, cut lines. What can be used is used, and every repair and every
loss is recorded with its line: a reader that drops an event silently changes a result.

Decoding JSON is most of the time; whoever needs few keys names them, and the other events are
decoded, counted and dropped at once.
"""

import json
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

import orjson

from mlbench.errors import InputMissingError
from mlbench.runlog import TOKEN, LogEvent, Repair, RunLog
from mlbench.vocabulary import Milliseconds

_TOKEN = TOKEN.encode()
_DECODER = JSONDecoder(strict=False)
_SHELL_TRACE = re.compile(rb"\s*(?:\[?\d+\]?:?\s*)?\++\s")
"""What ``set -x`` prints before a command, behind the label of a rank."""
_MOST_PIECES = 3
"""Lines over which an event may be cut and still be put together."""


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
    return RunLog(path, events, tuple(reader.repairs), reader.num_events)


@dataclass(slots=True)
class _Reader:
    data: bytes
    repairs: list[Repair] = field(default_factory=list)
    num_events: int = 0
    _lines: int = 1
    _counted: int = 0

    def events(self, keys: Container[str] | None) -> Iterator[LogEvent]:
        """Yield the events of the keys, in file order."""
        data, decode = self.data, orjson.loads
        token = data.find(_TOKEN)
        while token >= 0:
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
            self._repair(token, f"event without a key: {json.dumps(record)[:80]}", lost=True)
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
        if repairs:
            self._repair(token, "; ".join(repairs))
        return record

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
    except (JSONDecodeError, RecursionError):
        return None
    return record, text[end:].strip()


def _time_ms(record: dict[str, Any]) -> Milliseconds | None:
    """Return the event's time; logs of v0.7 give some in seconds, as ``time_s``."""
    for name, factor in (("time_ms", 1), ("time_s", 1000)):
        time = record.get(name)
        if isinstance(time, int | float) and not isinstance(time, bool):
            return Milliseconds(time * factor)
    return None
