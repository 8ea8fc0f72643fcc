"""Normalisation by reference convergence points (RCP).

A result that needed fewer samples than the reference is multiplied by reference mean over its own
mean, if it is within what chance explains; since v2.1. Source: training rules, and
mlperf-logging's rcp_checker, whose tables are read and whose test is put in closed form: the bound
is ``mean - t(0.95) * std * sqrt(1/n1 + 1/n2)`` with the reference's spread for both sides.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev

from mlbench.score.rules import RUNS_EXPECTED, runs_dropped

_FIRST_RULESET = (2, 1)
_CONFIDENCE = 0.95
_ALLOWANCE = {"llama31_405b": 46_080.0}
"""Samples below the bound that the rules allow in addition, since 5.0."""
_NOT_BY_LAST_EVALUATION = frozenset(["stable_diffusion"])
"""Evaluated behind the run: converged at the first good evaluation, not at the last."""


@dataclass(frozen=True, slots=True)
class ReferencePoint:
    """Convergence of the reference at a batch size, in the unit that the benchmark counts."""

    batch: float
    mean: float
    """Without fastest and slowest."""
    std: float
    """Over all runs."""
    count: int
    """Runs that the mean is of."""


@dataclass(frozen=True, slots=True)
class Normalisation:
    """What the reference says of an entry's convergence."""

    factor: float | None
    """What the time is multiplied by, at least 1; None when it cannot be said."""
    problem: str = ""


def normalisation(
    benchmark: str, ruleset: str, batch: int | None, convergence: Sequence[float | None]
) -> Normalisation:
    """Return the factor of a closed entry's runs; a run that missed its target is None.

    Args:
        benchmark: as MLPerf's log spells it.
        ruleset: such as ``2.1.0``.
        batch: the global batch size.
        convergence: of each run, in the unit of the reference.
    """
    mean = _mean_convergence(convergence, runs_dropped(benchmark))
    points = reference_points(benchmark, ruleset) if _version(ruleset) >= _FIRST_RULESET else ()
    if not points or not batch or mean is None or benchmark in _NOT_BY_LAST_EVALUATION:
        return Normalisation(None)
    point = _at(points, batch, RUNS_EXPECTED[benchmark])
    if point is None:
        return Normalisation(None, f"no reference convergence point for batch size {batch}")
    bound = lowest_mean(point, RUNS_EXPECTED[benchmark] - 2) - _ALLOWANCE.get(benchmark, 0.0)
    if mean < bound:
        text = f"converged faster ({mean:,.6g}) than the reference allows ({bound:,.6g})"
        return Normalisation(None, text)
    return Normalisation(max(1.0, point.mean / mean))


def _mean_convergence(convergence: Sequence[float | None], drop: int) -> float | None:
    """Return the mean without fastest and slowest; None if more missed the target than may."""
    ordered = sorted(math.inf if each is None else each for each in convergence)
    kept = ordered[drop : len(ordered) - drop]
    return fmean(kept) if kept and math.isfinite(kept[-1]) else None


@lru_cache
def reference_points(benchmark: str, ruleset: str) -> tuple[ReferencePoint, ...]:
    """Return the points of a rule set by batch size, pruned; none if it has no table."""
    file = _tables() / f"training_{ruleset}" / f"rcps_{benchmark}.json"
    if benchmark not in RUNS_EXPECTED or not file.is_file():
        return ()
    records = json.loads(file.read_bytes()).values()
    points = [_point(record, runs_dropped(benchmark)) for record in records]
    return tuple(prune(sorted(points, key=lambda point: point.batch)))


@cache
def _tables() -> Path:
    """Return the folder of mlperf-logging's tables, found without importing it."""
    package = find_spec("mlperf_logging")
    folders = package.submodule_search_locations if package else None
    return Path(next(iter(folders or ["."]))) / "rcp_checker"


def _point(record: dict[str, object], drop: int) -> ReferencePoint:
    unit = next(key for key in record if key.lower().endswith("to converge"))
    runs = sorted(map(float, record[unit]))  # type: ignore[call-overload]
    kept = runs[drop : len(runs) - drop]
    return ReferencePoint(
        float(record["BS"]),  # type: ignore[arg-type]
        fmean(kept),
        pstdev(runs),
        len(kept),
    )


def prune(points: Sequence[ReferencePoint]) -> list[ReferencePoint]:
    """Return the points that count, of points by batch size.

    None is left below the batch size that converges fastest; of the others one goes that is slower
    than the line between its neighbours, in one pass upwards, as the official checker does.
    """
    best = min(points, key=lambda point: point.mean)
    kept = [point for point in points if point.batch >= best.batch]
    position = 1
    while position < len(kept) - 1:
        low, point, high = kept[position - 1 : position + 2]
        if point.mean > _between(low, high, point.batch, 0).mean:
            del kept[position]
        else:
            position += 1
    return kept


def _at(points: Sequence[ReferencePoint], batch: float, runs: int) -> ReferencePoint | None:
    """Return the point of a batch size; below the smallest it is the smallest's, above none."""
    if batch < points[0].batch:
        return points[0]
    for point in points:
        if point.batch == batch:
            return point
    for low, high in pairwise(points):
        if low.batch < batch < high.batch:
            return _between(low, high, batch, 2 * runs)
    return None


def _between(low: ReferencePoint, high: ReferencePoint, batch: float, count: int) -> ReferencePoint:
    share = (batch - low.batch) / (high.batch - low.batch)
    return ReferencePoint(
        batch,
        low.mean + share * (high.mean - low.mean),
        low.std + share * (high.std - low.std),
        count,
    )


def lowest_mean(point: ReferencePoint, count: int) -> float:
    """Return the lowest mean of ``count`` runs that a reference point allows."""
    quantile = t_quantile(_CONFIDENCE, point.count + count - 2)
    return point.mean - quantile * point.std * math.sqrt(1 / point.count + 1 / count)


@lru_cache
def t_quantile(probability: float, degrees: int) -> float:
    """Return Student's t at a probability above one half, by halving an interval."""
    low, high = 0.0, 1e3
    for _ in range(80):
        middle = (low + high) / 2
        if _t_cdf(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _t_cdf(t: float, degrees: int) -> float:
    """Return Student's distribution at ``t >= 0``: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    theta = math.atan2(t, math.sqrt(degrees))
    cos = math.cos(theta)
    if degrees % 2:
        term = total = cos if degrees > 1 else 0.0
        for k in range(3, degrees - 1, 2):
            term *= (k - 1) / k * cos * cos
            total += term
        inside = (theta + math.sin(theta) * total) * 2 / math.pi
    else:
        term = total = 1.0
        for k in range(2, degrees - 1, 2):
            term *= (k - 1) / k * cos * cos
            total += term
        inside = math.sin(theta) * total
    return 0.5 + inside / 2


def _version(ruleset: str) -> tuple[int, ...]:
    return tuple(int(part) for part in ruleset.split(".")[:2] if part.isdigit())
