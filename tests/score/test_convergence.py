"""Normalisation by the reference's convergence, as the official checker computes it."""

import json
from pathlib import Path

import numpy as np
import pytest
from mlperf_logging.rcp_checker import rcp_checker
from scipy.special import stdtrit

from mlbench.score.convergence import (
    ReferencePoint,
    lowest_mean,
    normalisation,
    prune,
    reference_points,
    t_quantile,
)
from tests.results import read_results, result

TABLES = [
    ("bert", ruleset) for ruleset in ("2.1.0", "3.0.0", "3.1.0", "4.0.0", "4.1.0", "5.0.0")
] + [("resnet", "2.1.0"), ("rnnt", "3.0.0"), ("unet3d", "4.0.0"), ("llama2_70b_lora", "5.0.0")]


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 24, 26, 69, 70])
def test_the_quantile_is_students(degrees: int) -> None:
    assert t_quantile(0.95, degrees) == pytest.approx(float(stdtrit(degrees, 0.95)), rel=1e-12)


@pytest.mark.parametrize(("benchmark", "ruleset"), TABLES)
def test_points_are_those_of_the_official_checker(benchmark: str, ruleset: str) -> None:
    checker = rcp_checker.RCP_Checker("training", ruleset, benchmark, verbose=False)
    theirs = sorted(checker.pruned_rcp_data.values(), key=lambda record: record["BS"])
    ours = reference_points(benchmark, ruleset)
    assert [point.batch for point in ours] == [record["BS"] for record in theirs]
    runs = rcp_checker.submission_runs["training"][benchmark]
    for point, record in zip(ours, theirs, strict=True):
        assert point.mean == pytest.approx(record["RCP Mean"], rel=1e-12)
        assert point.std == pytest.approx(record["RCP Stdev"], rel=1e-12)
        # Theirs is found by halving until 1e-4 of the unit is left.
        assert lowest_mean(point, runs - 2) == pytest.approx(record["Min Epochs"], abs=2e-4)


@pytest.mark.parametrize("batch", [448, 1000, 4608, 9000, 16384])
def test_a_factor_is_that_of_the_official_checker(batch: int) -> None:
    checker = rcp_checker.RCP_Checker("training", "2.1.0", "bert", verbose=False)
    record = checker._find_rcp(batch, "pruned_rcps")
    if record is None:
        low, high = (
            find(batch, "pruned_rcps")
            for find in (checker._find_top_min_rcp, checker._find_bottom_max_rcp)
        )
        _, record = checker._create_interp_rcp(batch, low, high)
    for share in (0.99, 1.0, 1.02):
        samples = [record["RCP Mean"] * share * (1 + 0.001 * n) for n in range(-5, 5)]
        passed, factor = checker._eval_submission_record(record, list(samples), "")
        assert passed
        ours = normalisation("bert", "2.1.0", batch, samples).factor
        assert ours == pytest.approx(factor, rel=1e-12)


def test_a_result_below_the_bound_is_not_normalised_but_named() -> None:
    found = normalisation("bert", "2.1.0", 448, [2_000_000.0] * 10)
    assert found.factor is None
    assert found.problem == "converged faster (2e+06) than the reference allows (2.27473e+06)"


def test_a_batch_above_every_point_has_no_reference() -> None:
    found = normalisation("bert", "2.1.0", 65_536, [9e6] * 10)
    assert (found.factor, found.problem) == (
        None,
        "no reference convergence point for batch size 65536",
    )


def test_below_the_smallest_batch_the_smallest_points_mean_counts() -> None:
    assert normalisation("bert", "2.1.0", 256, [9e6] * 10).factor == 1.0


@pytest.mark.parametrize("ruleset", ["0.7.0", "1.0.0", "1.1.0", "2.0.0"])
def test_rounds_before_2_1_have_no_normalisation(ruleset: str) -> None:
    assert normalisation("bert", ruleset, 448, [2_300_000.0] * 10).factor is None


def test_one_run_may_miss_the_target_and_two_may_not() -> None:
    runs: list[float | None] = [2_400_000.0] * 8
    assert normalisation("bert", "2.1.0", 448, [*runs, 2_400_000.0, None]).factor is not None
    assert normalisation("bert", "2.1.0", 448, [*runs, None, None]).factor is None


def test_a_point_slower_than_its_neighbours_line_is_pruned() -> None:
    means = {1.0: 5.0, 2.0: 3.0, 4.0: 9.0, 6.0: 7.0}
    points = [ReferencePoint(batch, mean, 1.0, 18) for batch, mean in means.items()]
    assert [point.batch for point in prune(points)] == [2.0, 6.0]


def test_only_closed_entries_of_a_round_are_normalised() -> None:
    fast = {"samples": 2_400_000.0, "global_batch_size": 448}
    closed = result([10.0] * 10, name="v2.1/acme/box/bert", **fast)  # type: ignore[arg-type]
    assert closed.scaling_factor == pytest.approx(2414421.3333 / 2.4e6)
    assert closed.raw_minutes == 10.0
    assert closed.minutes == pytest.approx(10.0 * 2414421.3333 / 2.4e6)
    assert any("no scaling.json: normalised by 1.006009" in each for each in closed.problems)
    for name, division in (("v2.1", "open"), ("unverified", "closed"), ("v2.0", "closed")):
        other = result(
            [10.0] * 10,
            name=f"{name}/acme/box/bert",
            described={"division": division},
            **fast,  # type: ignore[arg-type]
        )
        assert (other.scaling_factor, other.minutes) == (None, 10.0)


def test_published_factors_are_what_we_compute(official_rounds: Path) -> None:
    folders = [file.parent for file in official_rounds.rglob("scaling.json")]
    assert len(folders) == 2
    for read in read_results(*folders):
        there = json.loads((read.path / "scaling.json").read_bytes())["scaling_factor"]
        batch = read.runs[0].global_batch_size
        counts = [run.convergence if run.is_converged else None for run in read.runs]
        ruleset = f"{read.key.round[1:]}.0"
        found = normalisation(read.key.benchmark, ruleset, batch, counts)
        assert found.factor == pytest.approx(there, rel=1e-12)
        assert read.minutes == pytest.approx((read.raw_minutes or np.nan) * there, rel=1e-12)
