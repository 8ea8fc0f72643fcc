"""Entries ranked within the groups that may be compared."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlbench.score import BenchmarkResult
from mlbench.score.statistics import Comparison, Metric, Verdict, compare, metric_value
from mlbench.submission.names import AvailabilityClass, availability_class
from mlbench.vocabulary import UNVERIFIED

GROUPINGS: Mapping[str, Callable[[BenchmarkResult], Any]] = {
    "benchmark": lambda result: result.key.benchmark,
    "round": lambda result: result.key.round,
    "division": lambda result: result.division,
    "availability": lambda result: availability_of(result).value,
}
"""What entries of one ranking share, unless a user asks for fewer. The target goes always along."""


@dataclass(frozen=True, slots=True)
class Order:
    """How entries are ranked and compared."""

    metric: Metric = Metric.TIME
    factor: float = 1.02
    """Least factor that counts as a difference."""
    group_by: tuple[str, ...] = tuple(GROUPINGS)
    baseline: BenchmarkResult | None = None
    """What ratios refer to; None for the first of each group."""


@dataclass(frozen=True, slots=True)
class GroupKey:
    """What the entries of one ranking have in common."""

    benchmark: str
    round: str | None = None
    division: str | None = None
    availability: str | None = None
    """None, as for round and division, where entries of several stand together."""
    quality_target: float | None = None
    """Stated by our own logs; None for the target of the rules."""

    def __str__(self) -> str:
        known = [self.benchmark, self.division, self.round, self.availability]
        parts = [part for part in known if part and part != UNVERIFIED]
        if self.round == UNVERIFIED:
            parts.append("unverified: not reviewed by MLCommons")
        if self.quality_target is not None:
            parts.append(f"target {self.quality_target:g}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Standing:
    """An entry's place in its group."""

    result: BenchmarkResult
    rank: int | None
    """None for an entry that is not complete: it stands where its value puts it."""
    comparison: Comparison | None
    """Beside the reference; None without one, or where one of the two has no value."""
    marks: tuple[str, ...]
    """In what it differs from the entries it stands among."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The entries of one group, best first."""

    key: GroupKey
    reference: BenchmarkResult | None
    """What the ratios refer to; None for a single entry."""
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Every group, in a fixed order."""

    rankings: tuple[Ranking, ...]
    order: Order

    def regressions(self) -> list[Standing]:
        """Return the entries that are slower than the baseline, by the test and the factor."""
        return [
            standing
            for ranking in self.rankings
            for standing in ranking.standings
            if standing.comparison and standing.comparison.verdict is Verdict.SLOWER
        ]


def leaderboard(results: Iterable[BenchmarkResult], order: Order | None = None) -> Leaderboard:
    """Return the entries, grouped and ranked."""
    order = order or Order()
    results = list(results)
    carried = _carried_over(results)
    groups: dict[GroupKey, list[BenchmarkResult]] = {}
    for result in results:
        groups.setdefault(_group(result, order.group_by), []).append(result)
    keys = sorted(groups, key=lambda key: (key.benchmark != "bert", _round_order(key), str(key)))
    return Leaderboard(tuple(_ranking(key, groups[key], order, carried) for key in keys), order)


def availability_of(result: BenchmarkResult) -> AvailabilityClass:
    """Return the category of the systems file, that of the logs without one."""
    stated = result.description.text("status")
    logged = (run.stated.get("submission_status") for run in result.runs)
    return availability_class(stated or next((str(each) for each in logged if each), None))


def _group(result: BenchmarkResult, group_by: Sequence[str]) -> GroupKey:
    targets = {run.quality_target for run in result.runs if run.quality_target is not None}
    shared = {name: GROUPINGS[name](result) for name in {*group_by, "benchmark"}}
    return GroupKey(**shared, quality_target=max(targets, default=None))


def _round_order(key: GroupKey) -> tuple[str, list[int]]:
    """Return what sorts by benchmark, ours first, then from the newest round to the oldest."""
    digits = [
        int(part) for part in (key.round or "").removeprefix("v").split(".") if part.isdigit()
    ]
    return key.benchmark, [-digit for digit in digits] if digits else []


def _ranking(
    key: GroupKey,
    results: list[BenchmarkResult],
    order: Order,
    carried: Mapping[int, str],
) -> Ranking:
    ordered = sorted(results, key=lambda result: _place(result, order.metric))
    reference = _reference(key, ordered, order)
    standings, rank = [], 0
    for result in ordered:
        is_ranked = result.is_complete and metric_value(result, order.metric) is not None
        rank += is_ranked
        beside = compare(result, reference, order.metric, order.factor) if reference else None
        marks = (*_marks(result, key), *filter(None, [carried.get(id(result))]))
        standings.append(Standing(result, rank if is_ranked else None, beside, marks))
    return Ranking(key, reference, tuple(standings))


def _reference(
    key: GroupKey, ordered: Sequence[BenchmarkResult], order: Order
) -> BenchmarkResult | None:
    """Return what ratios are to: a baseline of the same benchmark, else the best of several."""
    if order.baseline:
        return order.baseline if order.baseline.key.benchmark == key.benchmark else None
    return _first(ordered, order.metric) if len(ordered) > 1 else None


def _first(ordered: Sequence[BenchmarkResult], metric: Metric) -> BenchmarkResult | None:
    """Return the best entry that has a rank, the best of all where none has one."""
    valued = [result for result in ordered if metric_value(result, metric) is not None]
    return next((result for result in valued if result.is_complete), next(iter(valued), None))


def _place(result: BenchmarkResult, metric: Metric) -> tuple[float, str, str, str]:
    value = metric_value(result, metric)
    key = result.key
    place = math.inf if value is None else value if metric.is_lower_better else -value
    return place, key.submitter, key.system, key.round


def _marks(result: BenchmarkResult, key: GroupKey) -> list[str]:
    """Return the entry's own words for what its group does not share."""
    mixed = [name for name in GROUPINGS if getattr(key, name) is None]
    return [str(GROUPINGS[name](result)) for name in mixed]


def _carried_over(results: Sequence[BenchmarkResult]) -> dict[int, str]:
    """Return the entries that have a log of an entry further up: results told twice."""
    owners: dict[str, BenchmarkResult] = {}
    found: dict[int, str] = {}
    for result in results:
        for run in result.runs:
            owner = owners.setdefault(run.digest, result) if run.digest else result
            if owner is not result:
                found.setdefault(id(result), f"logs of {describe(owner)}")
    return found


def describe(result: BenchmarkResult) -> str:
    """Return an entry's name: round, submitter and system."""
    key = result.key
    return f"{key.round}/{key.submitter}/{key.system}"
