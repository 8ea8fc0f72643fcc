"""Results of runs that were read before, kept between calls.

A result is found again by what it was made of: the digest of the log, its name, the benchmark, and
a digest of the code that reads and scores. A cache that is damaged, locked or cannot be written
costs time and nothing else: whatever it does not give back whole is computed again.
"""

import os
import sqlite3
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path

import orjson
import xxhash

import mlbench.runlog
import mlbench.score
from mlbench.score import Evaluation, RunResult
from mlbench.vocabulary import RunStatus

_MOST_ROWS = 50_000
"""Results kept, the latest written; one takes some kilobytes."""
_DIGEST_SIZE = 16
_SECONDS_TO_WAIT = 2.0
"""For another process that writes."""
_FIELDS = tuple(field.name for field in fields(RunResult))
_CODE = (".py", ".c", ".h", ".so", ".pyd")


def default_file() -> Path:
    """Return where the user's cache is."""
    stated = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (stated if stated.is_absolute() else Path.home() / ".cache") / "mlbench" / "runs.sqlite"


class ResultCache:
    """The cache in one file; no method of it fails."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection: sqlite3.Connection | None = None
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _open(file)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def get(self, digest: str, benchmark: str, file: str) -> RunResult | None:
        """Return the result of a log, None if it is not there whole."""
        if self._connection is None:
            return None
        try:
            key = _key(digest, benchmark, file)
            row = self._connection.execute("SELECT data FROM runs WHERE key = ?", (key,)).fetchone()
            return _unsealed(key, row[0]) if row else None
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
        except (ValueError, TypeError):  # A row that is damaged; it will be replaced.
            pass
        return None

    def put(self, results: Iterable[tuple[str, RunResult]]) -> None:
        """Keep results, each with its benchmark."""
        if self._connection is None:
            return
        try:
            sealed = [_sealed(_key(run.digest, name, run.file), run) for name, run in results]
            with self._connection as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO runs (key, data) VALUES (?, ?)", filter(None, sealed)
                )
                connection.execute(
                    "DELETE FROM runs WHERE number <= (SELECT max(number) FROM runs) - ?",
                    (_MOST_ROWS,),
                )
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def _give_up(self, error: Exception) -> None:
        """Go on without the cache; one whose content is damaged is begun anew next time."""
        self.close()
        is_damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError
        )
        if is_damaged:
            with suppress(OSError):
                self._file.unlink()


def _open(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=_SECONDS_TO_WAIT)
    try:
        # What a power cut leaves behind is found out by its digest.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS runs ("
            "number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB UNIQUE, data BLOB)"
        )
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def encode(run: RunResult) -> bytes | None:
    """Return a result as JSON; None for one that JSON cannot hold as it is, such as a NaN."""
    try:
        data = orjson.dumps([getattr(run, name) for name in _FIELDS], default=_plain)
        return data if decode(data) == run else None
    except (TypeError, ValueError):  # Such as an integer of more than 64 bits.
        return None


def _plain(value: object) -> object:
    """Return a named tuple, which orjson does not take, as a tuple; refuse what is none."""
    if isinstance(value, tuple):
        return tuple(value)
    raise TypeError(type(value))


def decode(data: bytes) -> RunResult:
    """Return the result that ``encode`` made JSON of.

    Raises:
        ValueError, TypeError: the bytes are something else.
    """
    values = dict(zip(_FIELDS, orjson.loads(data), strict=True))
    values["evaluations"] = tuple(map(Evaluation._make, values["evaluations"]))
    values["seeds"] = tuple(values["seeds"])
    values["problems"] = tuple(values["problems"])
    status = values["run_status"]
    values["run_status"] = RunStatus(status) if status is not None else None
    return RunResult(**values)


def _sealed(key: bytes, run: RunResult) -> tuple[bytes, bytes] | None:
    data = encode(run)
    return (key, xxhash.xxh3_128_digest(key + data) + data) if data is not None else None


def _unsealed(key: bytes, sealed: bytes) -> RunResult:
    digest, data = sealed[:_DIGEST_SIZE], sealed[_DIGEST_SIZE:]
    if xxhash.xxh3_128_digest(key + data) != digest:
        raise ValueError("damaged")
    return decode(data)


def _key(digest: str, benchmark: str, file: str) -> bytes:
    parts = orjson.dumps([_version(), digest, benchmark, os.fsencode(file).hex()])
    return xxhash.xxh3_128_digest(parts)


@cache
def _version() -> str:
    """Return a digest of all code that a result depends on."""
    digest = xxhash.xxh3_128(f"{orjson.__version__} {sys.version}".encode())
    for package in (mlbench.runlog, mlbench.score):
        for file in sorted(Path(package.__path__[0]).iterdir()):
            if file.suffix in _CODE:
                digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
