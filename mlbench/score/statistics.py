"""How sure a difference between two entries is: a bootstrap over their runs.

An entry's runs that converged are drawn again with replacement, as many as there were; fastest and
slowest of each draw are left out as in the entry's own mean. The ratio of two entries is taken draw
by draw; its interval is that of the percentiles. Draws are fixed, so that two calls agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mlbench.score import BenchmarkResult, RunResult
from mlbench.score.rules import runs_dropped

NUM_DRAWS = 10_000
CONFIDENCE = 0.95
FEWEST_RUNS = 3
"""Fewer runs say nothing of their spread."""
_SEED = 2018  # The year of the first round; any number would do.
_SHIFT = 617
"""Rows by which the draws of two entries are shifted: odd to ``NUM_DRAWS``, so that none meets."""

TEST = (
    f"percentile bootstrap over converged runs, {NUM_DRAWS:,} draws, {CONFIDENCE:.0%} interval; "
    "fastest and slowest of each draw left out as in the mean"
)
"""What a verdict rests on, in words."""

Draws = npt.NDArray[np.float64]


class Metric(StrEnum):
    """What entries are ranked by."""

    TIME = "time"
    THROUGHPUT = "throughput"
    EFFICIENCY = "efficiency"
    SAMPLES_TO_TARGET = "samples-to-target"

    @property
    def is_lower_better(self) -> bool:
        """Whether the smaller value wins."""
        return self in (Metric.TIME, Metric.SAMPLES_TO_TARGET)


class Verdict(StrEnum):
    """What may be said of an entry beside another."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same within noise"


@dataclass(frozen=True, slots=True)
class Comparison:
    """An entry beside another, in one metric."""

    ratio: float
    """Its value over the other's."""
    low: float | None
    high: float | None
    """Interval of the ratio; None with too few runs."""
    verdict: Verdict | None
    """None when it cannot be said."""
    samples_ratio: float | None
    """Its samples to target over the other's: time ratio is this over ``throughput_ratio``."""
    throughput_ratio: float | None


def metric_value(result: BenchmarkResult, metric: Metric) -> float | None:
    """Return an entry's value in a metric, None where it has none."""
    match metric:
        case Metric.TIME:
            return result.minutes
        case Metric.SAMPLES_TO_TARGET:
            return result.samples_to_target
        case Metric.THROUGHPUT:
            return result.throughput.end_to_end if result.throughput else None
        case Metric.EFFICIENCY:
            return result.throughput_per_accelerator


def compare(
    result: BenchmarkResult, other: BenchmarkResult, metric: Metric, factor: float
) -> Comparison | None:
    """Return an entry beside another; None unless both have a value.

    Args:
        result: the entry.
        other: the entry it is held against.
        metric: what is compared.
        factor: least factor that counts as a difference, such as 1.02.
    """
    value, base = metric_value(result, metric), metric_value(other, metric)
    if value is None or not base:
        return None
    interval = None if result is other else _interval(result, other, metric)
    low, high = interval or (None, None)
    throughputs = [
        each.throughput.end_to_end if each.throughput else None for each in (result, other)
    ]
    return Comparison(
        ratio=value / base,
        low=low,
        high=high,
        verdict=_verdict(value / base, low, high, metric, factor),
        samples_ratio=_ratio(result.samples_to_target, other.samples_to_target),
        throughput_ratio=_ratio(*throughputs),
    )


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def _verdict(
    ratio: float, low: float | None, high: float | None, metric: Metric, factor: float
) -> Verdict | None:
    if low is None or high is None:
        return None
    better = high < 1 if metric.is_lower_better else low > 1
    worse = low > 1 if metric.is_lower_better else high < 1
    if max(ratio, 1 / ratio) <= factor or not (better or worse):
        return Verdict.SAME
    return Verdict.FASTER if better else Verdict.SLOWER


def _interval(
    result: BenchmarkResult, other: BenchmarkResult, metric: Metric
) -> tuple[float, float] | None:
    ours, theirs = _draws(result, metric, 0), _draws(other, metric, _SHIFT)
    if ours is None or theirs is None:
        return None
    cut = round(NUM_DRAWS * (1 - CONFIDENCE) / 2)
    ratios = ours / theirs
    ratios.partition((cut, NUM_DRAWS - 1 - cut))
    return float(ratios[cut]), float(ratios[NUM_DRAWS - 1 - cut])


def _draws(result: BenchmarkResult, metric: Metric, shift: int) -> Draws | None:
    """Return the metric of each draw, shifted so that two entries share none; None if too few."""
    runs = sorted((run for run in result.runs if run.is_converged), key=lambda run: run.minutes)
    if len(runs) < FEWEST_RUNS:
        return None
    weights = _weights(len(runs), *_left_out(result))
    seconds = np.roll(weights @ [run.minutes * 60 for run in runs], shift)
    if metric is Metric.TIME:
        return seconds * (result.scaling_factor or 1.0)
    samples = _samples(runs)
    if samples is None:
        return None
    trained = np.roll(weights @ samples, shift)
    if metric is Metric.SAMPLES_TO_TARGET:
        return trained
    rate: Draws = trained / seconds
    return rate / (result.num_accelerators or 1) if metric is Metric.EFFICIENCY else rate


def _left_out(result: BenchmarkResult) -> tuple[int, int]:
    """Return how many fastest and slowest of the converged runs the entry's mean leaves out."""
    if len(result.runs) != result.runs_expected:
        return 0, 0
    drop = runs_dropped(result.key.benchmark)
    return drop, drop - (len(result.runs) - result.runs_converged)


@lru_cache
def _weights(num_runs: int, fastest: int, slowest: int) -> Draws:
    """Return what each run counts in the mean of each draw (NUM_DRAWS, runs), runs by time."""
    draws = np.random.default_rng(_SEED).integers(0, num_runs, (NUM_DRAWS, num_runs), np.uint16)
    draws.sort(axis=1)
    kept = draws[:, fastest : num_runs - slowest]
    # A product with these is a fraction of the cost of looking every drawn run up.
    places = np.arange(NUM_DRAWS)[:, None] * num_runs + kept
    counts = np.bincount(places.ravel(), minlength=NUM_DRAWS * num_runs)
    weights: Draws = counts.reshape(NUM_DRAWS, num_runs) / kept.shape[1]
    return weights


def _samples(runs: Sequence[RunResult]) -> list[float] | None:
    samples = [run.num_samples for run in runs if run.num_samples is not None]
    return samples if len(samples) == len(runs) else None
