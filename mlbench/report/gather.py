"""Paths to results: reads every log of every entry, on all cores, and scores them."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import xxhash

from mlbench.errors import InputMissingError
from mlbench.runlog.read import parse_log
from mlbench.score import BenchmarkResult, RunResult
from mlbench.score.entry import score_entry
from mlbench.score.run import SCORED_KEYS, score_run
from mlbench.submission import Entry
from mlbench.submission.store import find_entries

_FEWEST_FOR_PROCESSES = 200
"""Fewer logs are read before other processes have started."""

Say = Callable[[int, int], None]
"""Told how many logs of how many are read."""


def gather(paths: Iterable[Path], say: Say, *, use_cache: bool = True) -> list[BenchmarkResult]:
    """Return the result of every entry at or below the paths.

    Raises:
        InputMissingError: a path does not exist or holds no result, or a log cannot be read.
    """
    entries = find_entries(paths)
    jobs = [(log, entry.key.benchmark) for entry in entries for log in entry.logs]
    runs = iter(_read_all(jobs, say))
    return [score_entry(entry, [next(runs) for _ in entry.logs]) for entry in entries]


def _read_all(jobs: Sequence[tuple[Path, str]], say: Say) -> Iterator[RunResult]:
    processes = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    if len(jobs) < _FEWEST_FOR_PROCESSES or (processes or 1) == 1:
        yield from _told(map(_read, jobs), len(jobs), say)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from _told(pool.map(_read, jobs, chunksize=16), len(jobs), say)


def _told(runs: Iterable[RunResult], total: int, say: Say) -> Iterator[RunResult]:
    for done, run in enumerate(runs, start=1):
        say(done, total)
        yield run


def _read(job: tuple[Path, str]) -> RunResult:
    path, benchmark = job
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputMissingError(f"{path}: cannot be read: {error.strerror}") from error
    digest = xxhash.xxh3_128_hexdigest(data)
    return score_run(parse_log(data, path, SCORED_KEYS), benchmark, digest)


def describe_entry(entry: Entry) -> str:
    """Return the place of an entry in words."""
    return f"{entry.key.submitter}/{entry.key.system}/{entry.key.benchmark}"
