"""Reads ``:::MLLOG`` lines from any text, clean or not.

Logs as published hold rank labels and progress bars before an event, several line endings, bytes
of other encodings, cut lines. What can be used is used, and every repair and every loss is
recorded with its line: a reader that drops an event silently changes a result.
"""

import json
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

import orjson

from mlbench.errors import InputMissingError
from mlbench.runlog import TOKEN, LogEvent, Repair, RunLog
from mlbench.vocabulary import Milliseconds

_TOKEN = TOKEN.encode()
_DECODER = JSONDecoder(strict=False)


def read_log(path: Path) -> RunLog:
    """Return the events of a log file.

    Raises:
        InputMissingError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputMissingError(f"{path}: cannot be read: {error.strerror}") from error
    return parse_log(data, path)


def parse_log(data: bytes, path: Path) -> RunLog:
    """Return the events in the bytes of a log; ``path`` is kept for messages."""
    events: list[LogEvent] = []
    repairs: list[Repair] = []
    for line, text in _candidates(data):
        record, problem = _decode(text)
        if problem:
            repairs.append(Repair(line, problem, lost=record is None))
        if record is not None:
            event, problem = _event(record, line)
            events.extend([event] if event else [])
            if problem:
                repairs.append(Repair(line, problem, lost=event is None))
    return RunLog(path, tuple(events), tuple(repairs))


def _candidates(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (line, text after the token up to the next token or the end of the line)."""
    line, counted = 1, 0
    start = data.find(_TOKEN)
    while start >= 0:
        line += data.count(b"\n", counted, start)
        counted = start
        begin = start + len(_TOKEN)
        following = data.find(_TOKEN, begin)
        stop = data.find(b"\n", begin)
        ends = [end for end in (following, stop) if end >= 0]
        yield line, data[begin : min(ends, default=len(data))]
        start = following


def _decode(text: bytes) -> tuple[Any, str | None]:
    """Return (record, None) for a clean event, (record, repair) or (None, loss) otherwise."""
    try:
        return orjson.loads(text), None
    except orjson.JSONDecodeError:
        return _decode_dirty(text)


def _decode_dirty(raw: bytes) -> tuple[Any, str | None]:
    """Decode what strict JSON refuses: NaN, other encodings, NULs, text behind the object."""
    repairs = []
    if b"\0" in raw:
        raw = raw.replace(b"\0", b"")
        repairs.append("NUL bytes removed")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
        repairs.append("bytes that are not UTF-8 read as latin-1")
    text = text.strip()
    if not text:
        return None, "event without content"
    try:
        record, end = _DECODER.raw_decode(text)
    except (JSONDecodeError, RecursionError):
        return None, f"event cut or broken: {text[:80]}"
    if text[end:].strip():
        repairs.append(f"text after the event ignored: {text[end:].strip()[:40]}")
    return record, "; ".join(repairs) or None


def _event(record: Any, line: int) -> tuple[LogEvent | None, str | None]:
    if not isinstance(record, dict) or not isinstance(record.get("key"), str):
        return None, f"event without a key: {json.dumps(record)[:80]}"
    problem = None
    metadata = record.get("metadata")
    if not isinstance(metadata, dict):
        problem = f"metadata of {record['key']} is not an object, read as empty"
        metadata = {}
    time_ms = _time_ms(record)
    if time_ms is None:
        problem = f"{record['key']} has no time"
    return LogEvent(record["key"], record.get("value"), metadata, time_ms, line), problem


def _time_ms(record: dict[str, Any]) -> Milliseconds | None:
    """Return the event's time; logs of v0.7 give some in seconds, as ``time_s``."""
    for field, factor in (("time_ms", 1), ("time_s", 1000)):
        time = record.get(field)
        if isinstance(time, int | float) and not isinstance(time, bool):
            return Milliseconds(time * factor)
    return None
