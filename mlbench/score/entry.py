"""The runs of an entry to its BenchmarkResult."""

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from mlbench.score import BenchmarkResult, RunResult, Throughput
from mlbench.score.convergence import normalisation
from mlbench.score.rules import PLACEHOLDER_SEEDS, RUNS_EXPECTED, runs_dropped
from mlbench.submission import Entry, SystemDescription
from mlbench.submission.names import division_name
from mlbench.vocabulary import UNVERIFIED, Division, Minutes, RunStatus

_SECONDS_PER_MINUTE = 60.0
_MOST_FILES = 2
"""Files that are listed before ``and N more``."""


def score_entry(entry: Entry, runs: Sequence[RunResult]) -> BenchmarkResult:
    """Return the result of an entry.

    With all runs there it is the rules': the mean without fastest and slowest, a run that missed
    the target counting as slowest. With another number of runs, or runs that do not belong
    together, it is the plain mean of those that converged, marked incomplete.
    """
    expected = RUNS_EXPECTED.get(entry.key.benchmark)
    drop = runs_dropped(entry.key.benchmark)
    blemishes = list(_blemishes(runs, expected, entry.key.benchmark))
    failed = [run for run in runs if not run.is_converged]
    kept: Sequence[RunResult] = [run for run in runs if run.is_converged]
    if len(runs) == expected:
        kept = olympic(runs, drop)
        if len(failed) > drop:
            blemishes.append(f"{len(failed)} runs missed the target, {drop} may: no result")
    raw = Minutes(fmean(run.minutes for run in kept)) if kept else None
    factor, notes = _scaling(entry, runs) if len(runs) == expected else (entry.scaling_factor, [])
    samples = [run.num_samples for run in kept if run.num_samples is not None]
    return BenchmarkResult(
        key=entry.key,
        path=entry.folder,
        description=entry.description,
        runs=tuple(runs),
        kept=tuple(kept),
        runs_expected=expected,
        minutes=Minutes(raw * factor) if raw is not None and factor is not None else raw,
        raw_minutes=raw,
        scaling_factor=factor,
        throughput=throughput(kept),
        samples_to_target=fmean(samples) if samples and len(samples) == len(kept) else None,
        division=division_of(entry.description, runs),
        is_complete=bool(kept) and not blemishes,
        problems=(
            *(*entry.notes, *blemishes, *notes),
            *(*_uncounted(entry.description), *_remarks(runs)),
        ),
    )


def _uncounted(description: SystemDescription) -> Iterator[str]:
    """Yield what the systems file says in place of a count."""
    for field in ("number_of_nodes", "accelerators_per_node"):
        text = description.text(field)
        if text is not None and description.count(field) is None:
            yield f"systems file: {field} is {text[:40]!r}, not a count"


def _scaling(entry: Entry, runs: Sequence[RunResult]) -> tuple[float | None, list[str]]:
    """Return what the time is multiplied by, and what is odd about it.

    ``scaling.json`` is what the round's reviewers agreed on and goes before our own arithmetic.
    """
    there = entry.scaling_factor
    if entry.key.round == UNVERIFIED or division_of(entry.description, runs) != Division.CLOSED:
        return there, []
    batches = {run.global_batch_size for run in runs}
    found = normalisation(
        entry.key.benchmark,
        f"{entry.key.round.removeprefix('v')}.0",
        batches.pop() if len(batches) == 1 else None,
        [_convergence(run, entry.key.benchmark) for run in runs],
    )
    done = "not normalised" if there is None else "normalised by scaling.json all the same"
    notes = [f"{found.problem}: {done}"] if found.problem else []
    if there is not None and found.factor and not math.isclose(there, found.factor, rel_tol=1e-9):
        notes.append(f"scaling.json says {there:.6f}, the reference points say {found.factor:.6f}")
    if there is None and found.factor and found.factor > 1:
        notes.append(f"no scaling.json: normalised by {found.factor:.6f} from the reference points")
    return there if there is not None else found.factor, notes


def _convergence(run: RunResult, benchmark: str) -> float | None:
    """Return when a run converged; BERT's is counted in samples, whatever its log counts in."""
    if not run.is_converged:
        return None
    return run.num_samples if benchmark == "bert" else run.convergence


def division_of(description: SystemDescription, runs: Iterable[RunResult]) -> str:
    """Return the division of the systems file, that of the logs without one."""
    stated = description.text("division")
    logged = (run.stated.get("submission_division") for run in runs)
    return division_name(stated or next((str(each) for each in logged if each), None))


def olympic(runs: Sequence[RunResult], drop: int) -> list[RunResult]:
    """Return the runs that the mean is taken of, none when too many missed the target.

    ``drop`` fastest and ``drop`` slowest go; a run that missed the target is slower than any.
    Source: training rules, and mlperf-logging's scorer.
    """
    ordered = sorted(runs, key=lambda run: run.minutes if run.is_converged else math.inf)
    kept = ordered[drop : len(ordered) - drop]
    return kept if all(run.is_converged for run in kept) else []


def throughput(runs: Sequence[RunResult]) -> Throughput | None:
    """Return the throughput of runs; None unless each tells its samples."""
    totals = [run.num_samples for run in runs if run.num_samples is not None]
    if not runs or len(totals) < len(runs):
        return None
    seconds = sum(run.minutes for run in runs) * _SECONDS_PER_MINUTE
    sources = dict.fromkeys(run.samples_source for run in runs)
    return Throughput(sum(totals) / seconds, _steady(runs), "; ".join(sources))


def _steady(runs: Sequence[RunResult]) -> float | None:
    samples = seconds = 0.0
    for run in runs:
        known = [each for each in run.evaluations if each.num_samples is not None]
        if len(known) < 2:
            return None
        samples += (known[-1].num_samples or 0.0) - (known[0].num_samples or 0.0)
        seconds += known[-1].elapsed - known[0].elapsed
    return samples / seconds if seconds > 0 else None


def _blemishes(runs: Sequence[RunResult], expected: int | None, benchmark: str) -> Iterator[str]:
    """Yield what keeps an entry from a rank."""
    if expected is None:
        yield "benchmark not known here: no rank"
    elif len(runs) != expected:
        yield f"{len(runs)} of {expected} runs: plain mean, no rank"
    for field, word in (("global_batch_size", "batch sizes"), ("quality_target", "targets")):
        files: dict[float, list[str]] = {}
        for run in runs:
            if getattr(run, field) is not None:
                files.setdefault(getattr(run, field), []).append(run.file)
        if len(files) > 1:
            listed = "; ".join(f"{value:g} in {_few(files[value])}" for value in sorted(files))
            yield f"runs have different {word} ({listed}): no rank"
    yield from _repeated(runs, PLACEHOLDER_SEEDS.get(benchmark))


def _few(files: Sequence[str]) -> str:
    more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    return ", ".join(files[:_MOST_FILES]) + more


def _repeated(runs: Sequence[RunResult], placeholder: int | None) -> Iterator[str]:
    """Yield runs that share what must be each run's own, each once."""
    seen: dict[tuple[str, object], str] = {}
    for run in runs:
        seeds = tuple(seed for seed in run.seeds if seed != placeholder)
        own = (
            (run.digest, "is byte for byte"),
            (seeds, "has the seed of"),
            (None if seeds else run.start_ms, "has no seed and starts in the same millisecond as"),
        )
        marks = [(words, value) for value, words in own if value]
        shared = next((mark for mark in marks if mark in seen), None)
        if shared:
            yield f"{run.file} {shared[0]} {seen[shared]}: no rank"
        for mark in marks:
            seen.setdefault(mark, run.file)


def _remarks(runs: Sequence[RunResult]) -> Iterator[str]:
    """Yield what a reader should know, but what takes nothing from the entry."""
    for run in runs:
        if run.run_status is RunStatus.ABORTED:
            reached = f", last accuracy {run.accuracy:.4f}" if run.accuracy is not None else ""
            yield f"{run.file}: target missed{reached}"
        yield from (f"{run.file}: {problem}" for problem in run.problems)
