"""Paths to results: reads every log of every entry and scores them."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import xxhash

from mlbench.runlog.parts import is_one_part, read_parts
from mlbench.runlog.read import parse_parts
from mlbench.runlog.vouched import SCANNER
from mlbench.score import BenchmarkResult, RunResult
from mlbench.score.cache import ResultCache, default_file
from mlbench.score.entry import score_entry
from mlbench.score.run import SCORED_KEYS, score_run
from mlbench.submission.store import find_entries
from mlbench.vocabulary import printable

_MOST_PROCESSES = 8
"""Each takes some 35 MB."""

Say = Callable[[int, int], None]
"""Told how many logs of how many are read."""


class _Job(NamedTuple):
    log: Path
    benchmark: str


class _Read(NamedTuple):
    benchmark: str
    run: RunResult
    is_new: bool
    """Not from the cache."""


def gather(
    paths: Iterable[Path], say: Say = lambda _done, _total: None, *, use_cache: bool = True
) -> list[BenchmarkResult]:
    """Return the result of every entry at or below the paths.

    Raises:
        InputMissingError: a path does not exist or holds no result, or a log cannot be read.
    """
    entries = find_entries(paths)
    jobs = [_Job(log, entry.key.benchmark) for entry in entries for log in entry.logs]
    results = ResultCache(default_file()) if use_cache else None
    read = []
    for one in _read_all(jobs, results):
        read.append(one)
        say(len(read), len(jobs))
    if results is not None:
        results.put((one.benchmark, one.run) for one in read if one.is_new)
        results.close()
    runs = (one.run for one in read)
    return [score_entry(entry, [next(runs) for _ in entry.logs]) for entry in entries]


def _read_all(jobs: Sequence[_Job], results: ResultCache | None) -> Iterator[_Read]:
    # Threads do not help, not even to load ahead: measured, they cost more than they win.
    cores = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    if len(jobs) < _fewest_for_processes() or (cores or 1) == 1:
        yield from (_read(job, results) for job in jobs)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(cores or 1, _MOST_PROCESSES)) as pool:
        read = _read_cached if results is not None else _read
        yield from pool.map(read, jobs, chunksize=16)


def _fewest_for_processes() -> int:
    """Fewer logs are read before other processes have paid for their start."""
    return 10_000 if SCANNER else 200


@cache
def _own_cache() -> ResultCache:
    """Return this process' own connection: one must not be used by two processes."""
    return ResultCache(default_file())


def _read_cached(job: _Job) -> _Read:
    return _read(job, _own_cache())


def _read(job: _Job, results: ResultCache | None = None) -> _Read:
    """Read a log and score it, or take its result from the cache.

    A log of one part is read once. A larger one is read again to be parsed, and digested again on
    the way: a log that was written to in between must not get the other's result.
    """
    digest = xxhash.xxh3_128()
    parts: Iterable[bytes] = _digested(job.log, digest)
    if is_one_part(job.log):
        parts = list(parts)
    else:
        deque(parts, maxlen=0)
    if results is not None:
        found = results.get(digest.hexdigest(), job.benchmark, printable(job.log.name))
        if found is not None:
            return _Read(job.benchmark, found, is_new=False)
    if not isinstance(parts, list):
        digest = xxhash.xxh3_128()
        parts = _digested(job.log, digest)
    log = parse_parts(parts, job.log, SCORED_KEYS, SCANNER)
    return _Read(job.benchmark, score_run(log, job.benchmark, digest.hexdigest()), is_new=True)


def _digested(log: Path, digest: xxhash.xxh3_128) -> Iterator[bytes]:
    for part in read_parts(log):
        digest.update(part)
        yield part
