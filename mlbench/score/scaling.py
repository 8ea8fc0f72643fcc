"""How an entry's speed grows with its accelerators, within a family of systems."""

from collections.abc import Iterable
from dataclasses import dataclass

from mlbench.score import BenchmarkResult
from mlbench.submission.names import framework_family


@dataclass(frozen=True, slots=True, order=True)
class FamilyKey:
    """What the systems of a family share; their rounds may differ, and are shown."""

    benchmark: str
    submitter: str
    accelerator: str
    framework: str
    division: str

    def __str__(self) -> str:
        parts = (self.benchmark, self.submitter, self.accelerator, self.framework, self.division)
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """An entry beside the smallest of its family."""

    result: BenchmarkResult
    num_accelerators: int
    throughput_efficiency: float
    """Samples/s of one accelerator over that of the smallest system; 1 is ideal."""
    time_speedup: float | None
    """Minutes of the smallest system over its own."""
    time_efficiency: float | None
    """``time_speedup`` over the factor by which accelerators grow; batch size costs samples."""


@dataclass(frozen=True, slots=True)
class Family:
    """Systems of one family, smallest first; the first is what the others are held against."""

    key: FamilyKey
    points: tuple[ScalingPoint, ...]

    @property
    def base(self) -> BenchmarkResult:
        """The smallest system; the fastest of those of its size."""
        return self.points[0].result


def families(results: Iterable[BenchmarkResult], *, as_one: bool = False) -> list[Family]:
    """Return the families with systems of two sizes at least.

    Args:
        results: entries; those without throughput or accelerators have no place.
        as_one: hold all entries of a benchmark against the smallest, whoever submitted them.
    """
    groups: dict[FamilyKey, list[BenchmarkResult]] = {}
    for result in results:
        if result.throughput_per_accelerator is not None and result.kept:
            groups.setdefault(_family(result, as_one), []).append(result)
    found = (Family(key, _points(groups[key])) for key in sorted(groups))
    return [each for each in found if len({point.num_accelerators for point in each.points}) > 1]


def _family(result: BenchmarkResult, as_one: bool) -> FamilyKey:
    if as_one:
        return FamilyKey(result.key.benchmark, "", "", "", result.division)
    return FamilyKey(
        benchmark=result.key.benchmark,
        submitter=result.key.submitter,
        accelerator=result.accelerator or "",
        framework=framework_family(result.description.text("framework")) or "",
        division=result.division,
    )


def _points(results: list[BenchmarkResult]) -> tuple[ScalingPoint, ...]:
    ordered = sorted(results, key=lambda each: (_count(each), -_rate(each), each.key.round))
    base = ordered[0]
    return tuple(_point(result, base) for result in ordered)


def _point(result: BenchmarkResult, base: BenchmarkResult) -> ScalingPoint:
    speedup = None
    if result.minutes is not None and base.minutes is not None:
        speedup = base.minutes / result.minutes
    return ScalingPoint(
        result,
        _count(result),
        throughput_efficiency=_rate(result) / _rate(base),
        time_speedup=speedup,
        time_efficiency=speedup * _count(base) / _count(result) if speedup is not None else None,
    )


def _count(result: BenchmarkResult) -> int:
    return result.num_accelerators or 0


def _rate(result: BenchmarkResult) -> float:
    return result.throughput_per_accelerator or 0.0
