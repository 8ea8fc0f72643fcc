"""Log files in parts, so that one of any size is read in little memory."""

import os
from collections.abc import Iterator
from pathlib import Path

import orjson

from mlbench.errors import InputMissingError
from mlbench.runlog import TOKEN

PART_SIZE = 8 << 20
"""Bytes; the largest log of the published rounds has a third of it."""
_TOKEN = TOKEN.encode()
_MOST_TRIES = 100
"""Events from the end of a part backwards of which a clean one is looked for."""
_MORE = 1 << 16
"""Bytes read at once from a small file that grows."""


def read_parts(path: Path, size: int | None = None) -> Iterator[bytes]:
    """Yield the bytes of a file, in parts of about a size that can be read one by one.

    Raises:
        InputMissingError: the file cannot be read.
    """
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            yield from _parts(file, size or PART_SIZE)
        finally:
            os.close(file)
    except OSError as error:
        raise InputMissingError(f"{path}: cannot be read: {error.strerror}") from error


def is_one_part(path: Path) -> bool:
    """Whether a file is so small that it comes in one part."""
    try:
        return path.stat().st_size < PART_SIZE
    except OSError:  # Whoever reads it says why.
        return True


def _parts(file: int, size: int) -> Iterator[bytes]:
    kept = b""
    # One byte more than there is: a file that does not grow is read by one call.
    room = min(size, os.fstat(file).st_size + 1)
    while data := os.read(file, room):
        kept = kept + data if kept else data
        cut = last_cut(kept) if len(kept) >= size else 0
        if cut:
            yield kept[:cut]
            kept = kept[cut:]
        # Twice as much each time, where there is no place to cut.
        room = max(size, len(kept)) if len(kept) >= size or cut else _MORE
    if kept:
        yield kept


def last_cut(data: bytes) -> int:
    """Return the last place where what stands before does not change how the rest is read.

    That is the end of a line behind an event that needs no repair, with no other event between: a
    cut event may be continued on the next lines, a clean one is not. 0 if there is no such place.
    """
    stop = len(data)
    for _ in range(_MOST_TRIES):
        token = data.rfind(_TOKEN, 0, stop)
        if token < 0 or _is_clean(data, token + len(_TOKEN), stop):
            return data.rfind(b"\n", max(token, 0), stop) + 1
        stop = token
    return 0


def _is_clean(data: bytes, start: int, stop: int) -> bool:
    end = data.find(b"\n", start, stop)
    if end < 0:
        return False
    try:
        orjson.loads(data[start:end])
    except orjson.JSONDecodeError:
        return False
    return True
