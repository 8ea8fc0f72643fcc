"""Rankings to rows of data that charts are drawn from. Knows nothing of drawing."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mlbench.score import BenchmarkResult, RunResult
from mlbench.score.leaderboard import GroupKey, Ranking, Standing

Points = list[dict[str, Any]]
_Item = TypeVar("_Item")

AVERAGED = "averaged"
LEFT_OUT = "left out of the mean"
MISSED = "missed the target"

REFERENCE = "reference"
RANKED = "ranked"
UNRANKED = "not ranked"

MOST_EVALUATIONS = 40
"""Of a run's evaluations no more are drawn; the last is always among them."""


def digest(rows: Points) -> str:
    """Return a name for some data: equal data has one name, and is written once."""
    text = json.dumps(rows, separators=(",", ":"))
    return f"data-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Drawn:
    """The data of one ranking."""

    key: GroupKey
    entries: Points
    """One a row of the table, in its order."""
    runs: Points
    """Every run that has a time."""
    evaluations: Points
    """Every evaluation that has a number, thinned out where they are many."""


def drawn(ranking: Ranking, standings: Sequence[Standing], first: int = 0) -> Drawn:
    """Return the data of the rows that a ranking's table shows.

    Args:
        ranking: where they stand.
        standings: those of the rows, in their order.
        first: number of the first entry; entries of a report are numbered through.
    """
    names = _names(ranking.key, standings)
    shown = list(zip(range(first, first + len(standings)), standings, names, strict=True))
    return Drawn(
        ranking.key,
        [_entry(n, standing, name, ranking) for n, standing, name in shown],
        [row for n, standing, name in shown for row in _runs(n, standing.result, name)],
        [row for n, standing, name in shown for row in _evaluations(n, standing.result, name)],
    )


def _names(key: GroupKey, standings: Sequence[Standing]) -> list[str]:
    """Return what tells the entries apart on an axis; two of one name would share a bar."""
    names = []
    for standing in standings:
        found = standing.result.key
        round_ = f" ({found.round})" if key.round is None else ""
        names.append(f"{found.submitter}: {found.system}{round_}")
    total, seen = Counter(names), Counter[str]()
    for number, name in enumerate(names):
        seen[name] += 1
        if total[name] > 1:
            names[number] = f"{name} [{seen[name]}]"
    return names


def _entry(number: int, standing: Standing, name: str, ranking: Ranking) -> dict[str, Any]:
    result = standing.result
    is_reference = result is ranking.reference
    role = REFERENCE if is_reference else UNRANKED if standing.rank is None else RANKED
    rate = result.throughput.end_to_end if result.throughput else None
    return {
        "entry": number,
        "name": name,
        "role": role,
        "accelerators": _accelerators(result),
        "samples": result.samples_to_target,
        "runs": f"{result.runs_converged} of {result.runs_expected or '?'}",
        **_bar("minutes", result.minutes, result, _minutes),
        **_bar("rate", rate, result, lambda run, _: _rate(run)),
        **_bar("each", result.throughput_per_accelerator, result, _rate_of_one),
        "minutes_label": _label(result.minutes, ".3f", role, _time_ratio(result, ranking)),
        "rate_label": _label(rate, ",.0f", role, _rate_ratio(standing)),
        "each_label": _label(result.throughput_per_accelerator, ",.1f", role, None),
    }


def _bar(
    name: str,
    value: float | None,
    result: BenchmarkResult,
    of_run: Callable[[RunResult, BenchmarkResult], float | None],
) -> dict[str, float | None]:
    """Return a bar: its value, the range of the runs averaged, and where the last run lies."""
    kept = [each for run in result.kept if (each := of_run(run, result)) is not None]
    timed = [run for run in result.runs if run.elapsed is not None]
    every = [each for run in timed if (each := of_run(run, result)) is not None]
    return {
        name: value,
        f"{name}_low": min(kept, default=None),
        f"{name}_high": max(kept, default=None),
        f"{name}_end": None if value is None else max([value, *every, *kept]),
    }


def _rate_ratio(standing: Standing) -> float | None:
    return standing.comparison.throughput_ratio if standing.comparison else None


def _accelerators(result: BenchmarkResult) -> str:
    count = result.num_accelerators
    if count == 0:
        return "CPUs"
    return f"{'?' if count is None else count} x {result.accelerator or '?'}"


def _time_ratio(result: BenchmarkResult, ranking: Ranking) -> float | None:
    base = ranking.reference.minutes if ranking.reference else None
    if base is None or result.minutes is None or result is ranking.reference:
        return None
    return result.minutes / base


def _label(value: float | None, form: str, role: str, ratio: float | None) -> str:
    """Return what stands beside a bar: its value, and its ratio or why it has none."""
    if value is None:
        return ""
    if role == REFERENCE:
        return f"{value:{form}} ({role})"
    beside = "" if ratio is None else f" \u00d7{ratio:{'.3f' if ratio < 10 else ',.1f'}}"
    return f"{value:{form}}{beside}" + (f" ({role})" if role == UNRANKED else "")


def _minutes(run: RunResult, result: BenchmarkResult) -> float:
    """Return a run's time, normalised as the entry's time is: its dot lies where its bar ends."""
    return run.minutes * (result.scaling_factor or 1.0)


def _rate(run: RunResult) -> float | None:
    return run.num_samples / run.elapsed if run.num_samples is not None and run.elapsed else None


def _rate_of_one(run: RunResult, result: BenchmarkResult) -> float | None:
    rate, count = _rate(run), result.num_accelerators
    return rate / count if rate is not None and count else None


def _runs(number: int, result: BenchmarkResult, name: str) -> Iterator[dict[str, Any]]:
    kept = {id(run) for run in result.kept}
    for run in result.runs:
        if run.elapsed is None:
            continue
        state = AVERAGED if id(run) in kept else LEFT_OUT if run.is_converged else MISSED
        yield {
            "entry": number,
            "name": name,
            "run": run.file,
            "state": state,
            "minutes": _minutes(run, result),
            "rate": _rate(run),
            "each": _rate_of_one(run, result),
            "samples": run.num_samples,
            "accuracy": run.accuracy,
        }


def _evaluations(number: int, result: BenchmarkResult, name: str) -> Iterator[dict[str, Any]]:
    for run in result.runs:
        found = [each for each in run.evaluations if each.accuracy is not None]
        for each in thinned(found, MOST_EVALUATIONS):
            yield {
                "entry": number,
                "name": name,
                "run": run.file,
                "minutes": _rounded(each.elapsed * (result.scaling_factor or 1.0) / 60),
                "samples": _rounded(each.num_samples),
                "accuracy": _rounded(each.accuracy),
            }


def thinned(items: Sequence[_Item], most: int) -> Sequence[_Item]:
    """Return at most so many items, evenly spread, first and last among them."""
    if len(items) <= most:
        return items
    return [items[round(n * (len(items) - 1) / (most - 1))] for n in range(most)]


def _rounded(value: float | None) -> float | None:
    """Return six digits: more are not seen, and a round has ten thousands of them."""
    return None if value is None else float(f"{value:.6g}")
