"""Who stands where, and beside whom."""

import pytest

from mlbench.score import BenchmarkResult
from mlbench.score.leaderboard import Leaderboard, Order, leaderboard
from mlbench.score.statistics import Metric, Verdict
from tests.results import result

TEN = [10.0 + 0.01 * n for n in range(10)]


def entry(factor: float, name: str, **options: object) -> BenchmarkResult:
    return result([minutes * factor for minutes in TEN], name=name, **options)  # type: ignore[arg-type]


def systems(board: Leaderboard) -> list[list[tuple[str, int | None]]]:
    return [
        [(each.result.key.system, each.rank) for each in ranking.standings]
        for ranking in board.rankings
    ]


FAST = entry(1.0, "v2.0/a/fast/bert", samples=900_000.0, accelerators=16)
SLOW = entry(1.2, "v2.0/a/slow/bert", samples=700_000.0, accelerators=8)


def test_the_shortest_time_is_first_and_the_reference() -> None:
    board = leaderboard([SLOW, FAST])
    assert systems(board) == [[("fast", 1), ("slow", 2)]]
    (ranking,) = board.rankings
    assert ranking.reference is FAST
    comparison = ranking.standings[1].comparison
    assert comparison is not None
    assert comparison.ratio == pytest.approx(1.2)
    assert comparison.verdict is Verdict.SLOWER


METRICS = {
    Metric.TIME: ["fast", "slow"],
    Metric.THROUGHPUT: ["fast", "slow"],
    Metric.EFFICIENCY: ["slow", "fast"],
    Metric.SAMPLES_TO_TARGET: ["slow", "fast"],
}


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_has_its_own_order(metric: Metric) -> None:
    ((first, second),) = systems(leaderboard([SLOW, FAST], Order(metric=metric)))
    assert [first, second] == [(METRICS[metric][0], 1), (METRICS[metric][1], 2)]


def test_an_entry_without_the_metric_stands_last_without_rank() -> None:
    silent = entry(0.5, "v2.0/a/silent/bert", samples=None)
    board = leaderboard([silent, SLOW], Order(metric=Metric.THROUGHPUT))
    assert systems(board) == [[("slow", 1), ("silent", None)]]


def test_an_incomplete_entry_stands_by_its_time_and_takes_no_rank() -> None:
    short = result([1.0] * 9, name="v2.0/a/short/bert")
    board = leaderboard([SLOW, short, FAST])
    assert systems(board) == [[("short", None), ("fast", 1), ("slow", 2)]]
    assert board.rankings[0].reference is FAST


def test_groups_are_never_mixed() -> None:
    others = [
        entry(1, "v2.1/a/round/bert", global_batch_size=None),
        entry(1, "v2.0/a/open/bert", described={"division": "open"}),
        entry(1, "v2.0/a/preview/bert", described={"status": "preview"}),
        entry(1, "v2.0/a/other/resnet"),
        entry(1, "unverified/a/ours/bert", quality_target=0.2),
        entry(1, "unverified/a/ours2/bert", quality_target=0.3),
    ]
    board = leaderboard([FAST, *others])
    assert [str(ranking.key) for ranking in board.rankings] == [
        "bert, closed, available, unverified: not reviewed by MLCommons, target 0.2",
        "bert, closed, available, unverified: not reviewed by MLCommons, target 0.3",
        "bert, closed, v2.1, available",
        "bert, closed, v2.0, available",
        "bert, closed, v2.0, preview",
        "bert, open, v2.0, available",
        "resnet, closed, v2.0, available",
    ]


def test_cloud_and_on_premise_are_one_category() -> None:
    cloud = entry(1.1, "v2.0/a/cloud/bert", described={"status": "Available cloud"})
    assert systems(leaderboard([cloud, FAST])) == [[("fast", 1), ("cloud", 2)]]


def test_what_a_group_does_not_share_is_marked_in_each_row() -> None:
    old = entry(1.1, "v1.1/a/old/bert", described={"division": "open", "status": "preview"})
    (ranking,) = leaderboard([old, FAST], Order(group_by=("benchmark",))).rankings
    assert str(ranking.key) == "bert"
    assert [each.marks for each in ranking.standings] == [
        ("v2.0", "closed", "available"),
        ("v1.1", "open", "preview"),
    ]
    (ranking,) = leaderboard([FAST], Order()).rankings
    assert ranking.standings[0].marks == ()


def test_logs_told_twice_are_marked_where_they_are_told_again() -> None:
    again = entry(1.0, "v2.1/b/again/bert", digest="same")
    first = entry(1.0, "v2.0/a/first/bert", digest="same")
    board = leaderboard([first, again])
    marks = {each.result.key.system: each.marks for r in board.rankings for each in r.standings}
    assert marks == {"first": (), "again": ("logs of v2.0/a/first",)}


def test_ratios_are_to_a_baseline_of_another_group_but_not_of_another_benchmark() -> None:
    base = entry(0.5, "v1.1/z/base/bert")
    other = entry(1.0, "v2.0/z/other/resnet")
    board = leaderboard([FAST, SLOW, other], Order(baseline=base))
    by_system = {
        each.result.key.system: each.comparison for r in board.rankings for each in r.standings
    }
    fast, slow = by_system["fast"], by_system["slow"]
    assert fast is not None
    assert slow is not None
    assert fast.ratio == pytest.approx(2.0)
    assert slow.ratio == pytest.approx(2.4)
    assert by_system["other"] is None


def test_regressions_are_rows_that_are_surely_slower_than_the_baseline() -> None:
    noisy = result([7.0 + 0.7 * n for n in range(10)], name="v2.0/a/noisy/bert")
    board = leaderboard([FAST, SLOW, noisy], Order(baseline=FAST))
    assert [each.result.key.system for each in board.regressions()] == ["slow"]
    lenient = leaderboard([FAST, SLOW, noisy], Order(baseline=FAST, factor=1.3))
    assert lenient.regressions() == []
