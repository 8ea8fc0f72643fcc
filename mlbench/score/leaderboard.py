"""Entries ranked within the groups that may be compared."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from mlbench.score import BenchmarkResult
from mlbench.vocabulary import UNVERIFIED


@dataclass(frozen=True, slots=True, order=True)
class GroupKey:
    """What entries must share to stand in one ranking."""

    benchmark: str
    round: str
    division: str
    quality_target: float | None = None
    """Stated by our own logs; None for the target of the rules."""

    def __str__(self) -> str:
        parts = [self.benchmark, self.division, self.round]
        if self.round == UNVERIFIED:
            parts[-1] = "unverified: not reviewed by MLCommons"
        if self.quality_target is not None:
            parts.append(f"target {self.quality_target:g}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Standing:
    """An entry's place in its group."""

    result: BenchmarkResult
    rank: int | None
    """None for an entry that is not complete: it stands where its time puts it."""
    ratio: float | None
    """Its time over that of the group's first."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The entries of one group, fastest first."""

    key: GroupKey
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Every group, in a fixed order."""

    rankings: tuple[Ranking, ...]


def leaderboard(results: Iterable[BenchmarkResult]) -> Leaderboard:
    """Return the entries, grouped and ranked by time to train."""
    groups: dict[GroupKey, list[BenchmarkResult]] = {}
    for result in results:
        groups.setdefault(_group(result), []).append(result)
    keys = sorted(groups, key=lambda key: (key.benchmark, key.round, key.division, str(key)))
    return Leaderboard(tuple(Ranking(key, _standings(groups[key])) for key in keys))


def _group(result: BenchmarkResult) -> GroupKey:
    key = result.entry.key
    targets = {run.quality_target for run in result.runs if run.quality_target is not None}
    return GroupKey(
        benchmark=key.benchmark,
        round=key.round,
        division=_division(result),
        quality_target=max(targets, default=None),
    )


def _division(result: BenchmarkResult) -> str:
    """Return the division of the systems file, that of the logs without one."""
    stated = result.entry.description.text("division")
    if not stated:
        logged = (log.value("submission_division") for log in result.entry.logs)
        stated = next((str(division) for division in logged if division), "division unknown")
    return {"close": "closed"}.get(stated.lower(), stated.lower())


def _standings(results: list[BenchmarkResult]) -> tuple[Standing, ...]:
    ordered = sorted(results, key=_order)
    best = next((result.minutes for result in ordered if result.minutes is not None), None)
    standings, complete = [], 0
    for result in ordered:
        complete += result.is_complete
        ratio = result.minutes / best if result.minutes is not None and best else None
        standings.append(Standing(result, complete if result.is_complete else None, ratio))
    return tuple(standings)


def _order(result: BenchmarkResult) -> tuple[float, str, str]:
    key = result.entry.key
    minutes = math.inf if result.minutes is None else result.minutes
    return minutes, key.submitter, key.system
