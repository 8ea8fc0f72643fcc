"""The runs of an entry to its BenchmarkResult."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from mlbench.score import BenchmarkResult, RunResult
from mlbench.score.rules import RUNS_EXPECTED, runs_dropped
from mlbench.score.run import score_run
from mlbench.submission import Entry
from mlbench.vocabulary import Minutes

_SECONDS_PER_MINUTE = 60.0


def score_entry(entry: Entry) -> BenchmarkResult:
    """Return the result of an entry.

    With all runs there it is the rules': the mean without fastest and slowest, a run that missed
    the target counting as slowest. With another number of runs it is the plain mean of those
    that converged, marked incomplete.
    """
    runs = tuple(map(score_run, entry.logs))
    expected = RUNS_EXPECTED.get(entry.key.benchmark)
    drop = runs_dropped(entry.key.benchmark)
    problems = [*entry.notes, *_problems(runs, expected, drop)]
    is_complete = len(runs) == expected and not _mixed(runs, "global_batch_size")
    kept = olympic(runs, drop) if is_complete else [run for run in runs if run.is_converged]
    times = [_minutes(run) for run in kept]
    raw = Minutes(fmean(times)) if times else None
    samples = [run.num_samples for run in kept]
    counted = [each for each in samples if each is not None] if None not in samples else []
    return BenchmarkResult(
        entry=entry,
        runs=runs,
        runs_expected=expected,
        minutes=_normalised(raw, entry.scaling_factor),
        raw_minutes=raw,
        spread_minutes=(min(times), max(times)) if times else None,
        samples_per_second=(sum(counted) / (sum(times) * _SECONDS_PER_MINUTE) if counted else None),
        samples_source=_sources(kept),
        samples_to_target=fmean(counted) if counted else None,
        is_complete=is_complete and bool(times),
        problems=tuple(problems),
    )


def olympic(runs: Sequence[RunResult], drop: int) -> list[RunResult]:
    """Return the runs that the mean is taken of, none when too many missed the target.

    ``drop`` fastest and ``drop`` slowest go; a run that missed the target is slower than any.
    Source: training rules, and mlperf-logging's scorer.
    """
    ordered = sorted(runs, key=lambda run: _minutes(run) if run.is_converged else math.inf)
    kept = ordered[drop : len(ordered) - drop]
    return kept if all(run.is_converged for run in kept) else []


def _minutes(run: RunResult) -> Minutes:
    return Minutes((run.elapsed or 0.0) / _SECONDS_PER_MINUTE)


def _normalised(raw: Minutes | None, factor: float | None) -> Minutes | None:
    return Minutes(raw * factor) if raw is not None and factor is not None else raw


def _sources(runs: Sequence[RunResult]) -> str:
    return "; ".join(dict.fromkeys(run.samples_source for run in runs))


def _problems(runs: Sequence[RunResult], expected: int | None, drop: int) -> Iterator[str]:
    if expected is None:
        yield "benchmark not known here: number of runs not checked"
    elif len(runs) != expected:
        yield f"{len(runs)} of {expected} runs: plain mean, no rank"
    failed = [run for run in runs if not run.is_converged]
    for run in failed:
        yield f"{run.path.name}: {_why_not(run)}"
    if len(failed) > drop and len(runs) == expected:
        yield f"{len(failed)} runs missed the target, {drop} may: no result"
    for field, word in (("global_batch_size", "batch sizes"), ("quality_target", "targets")):
        if _mixed(runs, field):
            yield f"runs have different {word}: no rank"
    yield from _equal_seeds(runs)
    for run in runs:
        yield from (f"{run.path.name}: {problem}" for problem in run.problems)


def _why_not(run: RunResult) -> str:
    if run.run_status is None:
        return "did not end"
    reached = f", last accuracy {run.accuracy:.4f}" if run.accuracy is not None else ""
    return f"target missed{reached}"


def _mixed(runs: Sequence[RunResult], field: str) -> bool:
    """Whether runs that state a value state different ones."""
    return len({getattr(run, field) for run in runs} - {None}) > 1


def _equal_seeds(runs: Sequence[RunResult]) -> Iterator[str]:
    seen: dict[int, str] = {}
    for run in runs:
        if run.seed is None:
            continue
        if run.seed in seen:
            yield f"{run.path.name} has the seed of {seen[run.seed]}"
        seen[run.seed] = run.path.name
