"""How sure a difference is."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlbench.score import BenchmarkResult
from mlbench.score.statistics import Comparison, Metric, Verdict, compare
from tests.results import read_results, result


def beside(
    ours: BenchmarkResult,
    theirs: BenchmarkResult,
    metric: Metric = Metric.TIME,
    factor: float = 1.02,
) -> Comparison:
    found = compare(ours, theirs, metric, factor)
    assert found is not None
    return found


def noisy(mean: float, spread: float, seed: int, **options: object) -> BenchmarkResult:
    draw = random.Random(seed)
    times = [mean * (1 + draw.uniform(-spread, spread)) for _ in range(10)]
    return result(times, name=f"v2.0/acme/s{seed}/bert", **options)  # type: ignore[arg-type]


def test_a_clear_difference_is_one() -> None:
    found = beside(noisy(8.0, 0.01, 1), noisy(10.0, 0.01, 2))
    assert found.verdict is Verdict.FASTER
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.ratio < found.high < 0.82
    assert beside(noisy(10.0, 0.01, 2), noisy(8.0, 0.01, 1)).verdict is Verdict.SLOWER


def test_a_difference_within_the_spread_is_none() -> None:
    found = beside(noisy(10.0, 0.2, 1), noisy(10.3, 0.2, 2))
    assert found.verdict is Verdict.SAME
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1 < found.high


def test_a_sure_difference_below_the_factor_is_none() -> None:
    ours, theirs = noisy(9.9, 0.0005, 1), noisy(10.0, 0.0005, 2)
    assert beside(ours, theirs).verdict is Verdict.SAME
    assert beside(ours, theirs, factor=1.005).verdict is Verdict.FASTER


def test_more_samples_a_second_is_faster() -> None:
    fast, slow = noisy(8.0, 0.01, 1), noisy(10.0, 0.01, 2)
    found = beside(fast, slow, Metric.THROUGHPUT)
    assert found.verdict is Verdict.FASTER
    assert found.ratio > 1.2
    assert beside(slow, fast, Metric.THROUGHPUT).verdict is Verdict.SLOWER


def test_a_time_ratio_is_samples_over_throughput() -> None:
    ours = noisy(8.0, 0.05, 1, samples=500_000.0)
    found = beside(ours, noisy(10.0, 0.05, 2))
    assert found.samples_ratio is not None
    assert found.samples_ratio == pytest.approx(5 / 6)
    assert found.throughput_ratio is not None
    assert found.ratio == pytest.approx(found.samples_ratio / found.throughput_ratio)


@pytest.mark.parametrize("count", [1, 2])
def test_few_runs_give_a_ratio_and_no_verdict(count: int) -> None:
    found = beside(result([5.0] * count, name="unverified/me/box/bert"), noisy(10.0, 0.01, 2))
    assert found.ratio == pytest.approx(0.5, rel=0.02)
    assert (found.low, found.high, found.verdict) == (None, None, None)


def test_an_entry_beside_itself_is_the_reference() -> None:
    one = noisy(10.0, 0.1, 1)
    assert beside(one, one) == Comparison(1.0, None, None, None, 1.0, 1.0)


def test_without_samples_there_is_no_throughput_to_compare() -> None:
    assert (
        compare(noisy(9.0, 0.1, 1, samples=None), noisy(9.0, 0.1, 2), Metric.THROUGHPUT, 1) is None
    )


def test_a_run_that_missed_the_target_is_not_drawn_and_costs_the_slowest() -> None:
    times = [10.0 + 0.1 * n for n in range(9)]
    full, missed = result([*times, 10.9]), result([*times, None], name="v2.0/acme/other/bert")
    assert full.minutes == missed.minutes == pytest.approx(10.45)
    found = beside(full, missed)
    assert found.ratio == 1.0
    assert found.low is not None
    assert 0.97 < found.low < 1.0


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000))
def test_two_draws_agree_and_directions_mirror(seed: int) -> None:
    ours, theirs = noisy(10.0, 0.1, seed), noisy(11.0, 0.1, seed + 5000)
    there, back = beside(ours, theirs), beside(theirs, ours)
    assert there == beside(ours, theirs)
    assert there.low == pytest.approx(1 / back.high, rel=0.02)  # type: ignore[operator]
    assert there.high == pytest.approx(1 / back.low, rel=0.02)  # type: ignore[operator]


def test_the_interval_covers_the_true_ratio_about_as_often_as_it_says() -> None:
    """Forty comparisons of equal systems: a 95 % interval of ten runs each misses few of them."""
    draw = random.Random(7)
    misses = 0
    for n in range(40):
        entries = [
            result([draw.gauss(10, 0.5) for _ in range(10)], name=f"v2.0/a/{n}{side}/bert")
            for side in "xy"
        ]
        found = beside(entries[0], entries[1], factor=1.0)
        misses += found.verdict is not Verdict.SAME
    assert misses <= 8


ARTICLE = {  # What an independent bootstrap of the published logs gave: facts of the pack.
    "dgxa100_n8_ngc22.09_pytorch": (-0.038, 0.055, Verdict.SAME),
    "ND96amsr_A100_v4_n8_pytorch": (0.041, 0.115, Verdict.SLOWER),
    "HPE-ProLiant-XL675d-Gen10-Plus_A100-SXM-80GB_8N_pytorch": (0.141, 0.251, Verdict.SLOWER),
}


def test_second_place_of_v2_1_is_within_noise_and_the_others_are_not(official_rounds: Path) -> None:
    entries = {read.key.system: read for read in read_results(official_rounds / "v2.1")}
    baidu = entries["8_node_64_A100_PaddlePaddle"]
    for system, (low, high, verdict) in ARTICLE.items():
        found = beside(entries[system], baidu)
        assert found.verdict is verdict
        assert found.low is not None
        assert found.high is not None
        assert 1 - 1 / found.low == pytest.approx(low, abs=0.005)
        assert 1 - 1 / found.high == pytest.approx(high, abs=0.005)
