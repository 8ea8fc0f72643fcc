"""The runs of an entry: the rules' mean when all is there, and never quietly another."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlperf_logging.benchmark_meta import get_result_file_counts

from mlbench.runlog.read import parse_log
from mlbench.score import BenchmarkResult, RunResult
from mlbench.score.entry import olympic
from mlbench.score.rules import RUNS_EXPECTED
from mlbench.score.run import score_run
from mlbench.vocabulary import RunStatus, Seconds
from tests.logs import line, run_log, scored_folder, write_entry


def entry_of(tmp_path: Path, logs: Iterable[str], benchmark: str = "bert") -> BenchmarkResult:
    return scored_folder(write_entry(tmp_path, logs, benchmark=benchmark))


def ten(seconds: float = 60.0) -> list[str]:
    return [run_log(seconds, seed=n) for n in range(10)]


def test_ten_runs_are_the_mean_without_fastest_and_slowest(tmp_path: Path) -> None:
    result = entry_of(tmp_path, [run_log(60.0 * n, seed=n) for n in range(1, 11)])
    assert result.minutes == pytest.approx(5.5)
    assert result.spread_minutes == (2.0, 9.0)
    assert result.is_complete
    assert result.throughput is not None
    assert result.throughput.end_to_end == pytest.approx(600_000 * 8 / (44 * 60))
    assert result.throughput.steady == pytest.approx(300_000 * 8 / (22 * 60))
    assert result.throughput.source == "S1 eval_accuracy.epoch_num"
    assert result.samples_to_target == 600_000
    assert result.problems == ()


def test_one_failed_run_takes_the_place_of_the_slowest(tmp_path: Path) -> None:
    logs = [run_log(60.0 * n, seed=n) for n in range(1, 10)] + [run_log(1.0, status="aborted")]
    result = entry_of(tmp_path, [*logs[:9], logs[9].replace('"value": 1,', '"value": 10,')])
    assert result.minutes == pytest.approx(5.5)  # 2 to 9: the fastest is dropped, the failed too.
    assert result.is_complete
    assert result.problems == ("result_9.txt: target missed, last accuracy 0.7200",)


def test_two_failed_runs_are_no_result(tmp_path: Path) -> None:
    failed = [run_log(status="aborted", seed=n) for n in (8, 9)]
    result = entry_of(tmp_path, [*ten()[:8], *failed])
    assert result.minutes is None
    assert not result.is_complete
    assert "2 runs missed the target, 1 may: no result" in result.problems


def test_a_success_without_a_time_is_not_said_to_have_missed_its_target(tmp_path: Path) -> None:
    result = entry_of(tmp_path, [*ten()[:9], run_log(-5.0, seed=9)])
    assert result.runs_converged == 9
    assert result.problems[0] == "result_9.txt: run_stop is 5 s before run_start: no time"
    assert not any("target missed" in problem for problem in result.problems)


@pytest.mark.parametrize("count", [1, 9, 11])
def test_another_number_of_runs_is_a_plain_mean_without_rank(tmp_path: Path, count: int) -> None:
    result = entry_of(tmp_path, [run_log(60.0 * n, seed=n) for n in range(1, count + 1)])
    assert result.minutes == pytest.approx((count + 1) / 2)
    assert not result.is_complete
    assert result.problems == (f"{count} of 10 runs: plain mean, no rank",)


def test_an_empty_file_counts_as_a_run_and_is_named(tmp_path: Path) -> None:
    result = entry_of(tmp_path, [*ten()[:9], ""])
    assert (len(result.runs), result.runs_converged, result.minutes) == (10, 9, 1.0)
    assert result.problems == (
        "result_9.txt: no run_start and no run_stop",
        "result_9.txt: no event of MLPerf's log in this file",
    )


def test_mixed_batch_sizes_are_named_with_their_files(tmp_path: Path) -> None:
    logs = [run_log(seed=n, batch=128 if n in (3, 7) else 64) for n in range(10)]
    result = entry_of(tmp_path, logs)
    assert not result.is_complete
    assert result.problems == (
        "runs have different batch sizes (64 in result_0.txt, result_1.txt and 6 more; "
        "128 in result_3.txt, result_7.txt): no rank",
    )


def test_mixed_targets_are_named_with_their_files(tmp_path: Path) -> None:
    logs = [text + line("quality_target", 0.7 + (n == 9) / 100) for n, text in enumerate(ten())]
    result = entry_of(tmp_path, logs)
    assert not result.is_complete
    assert "0.71 in result_9.txt): no rank" in result.problems[0]


def test_a_seed_taken_twice_is_named_with_both_files(tmp_path: Path) -> None:
    logs = [run_log(60.0 + n, seed=min(n, 8)) for n in range(10)]
    result = entry_of(tmp_path, logs)
    assert not result.is_complete
    assert result.problems == ("result_9.txt has the seed of result_8.txt: no rank",)


def test_a_file_copied_is_said_once_and_not_also_for_its_seed(tmp_path: Path) -> None:
    result = entry_of(tmp_path, [*ten()[:8], ten()[2], ten()[2]])
    assert not result.is_complete
    assert result.problems == (
        "result_8.txt is byte for byte result_2.txt: no rank",
        "result_9.txt is byte for byte result_2.txt: no rank",
    )


def test_a_run_without_seed_copied_with_other_line_ends_is_found(tmp_path: Path) -> None:
    """Published: five runs of ten once more, as result_..._raw_06.txt."""
    text = run_log().replace('"seed"', '"sown"')
    result = entry_of(tmp_path, [*ten()[:8], text, text.replace("\n", "\r\n")])
    assert not result.is_complete
    assert result.problems == (
        "result_9.txt has no seed and starts in the same millisecond as result_8.txt: no rank",
    )


def test_runs_may_share_one_of_several_seeds(tmp_path: Path) -> None:
    logs = [run_log(seed=7, extra=[line("seed", n)]) for n in range(10)]
    assert entry_of(tmp_path, logs).is_complete


def test_a_placeholder_is_no_seed(tmp_path: Path) -> None:
    """minigo logs 0 when it takes the seed from the clock; elsewhere 0 is a seed."""
    logs = [
        run_log(60.0 + n, seed=0).replace(str(17 * 10**11), str(17 * 10**11 + n)) for n in range(10)
    ]
    assert entry_of(tmp_path / "a", logs, "minigo").is_complete
    assert not entry_of(tmp_path / "b", logs, "bert").is_complete


def test_problems_of_a_run_have_the_name_of_its_file(tmp_path: Path) -> None:
    logs = ten()
    logs[4] = "chatter\n:::MLLOG {\n" + logs[4]
    result = entry_of(tmp_path, logs)
    assert result.problems == ("result_4.txt: 1 event unreadable (line 2): event cut or broken: {",)
    assert result.is_complete


def test_normalisation_is_applied_and_the_raw_time_kept(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, ten())
    (folder / "scaling.json").write_text('{"scaling_factor": 1.5}', "utf-8")
    result = scored_folder(folder)
    assert (result.minutes, result.raw_minutes) == (1.5, 1.0)


FACTORS = [*("NaN", "Infinity", "0", "-1", '"x"', "[1]", "null"), "9" * 5000, "[" * 10_000]


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", *(f'{{"scaling_factor": {each}}}' for each in FACTORS)]
)
def test_a_broken_normalisation_is_said_and_not_applied(tmp_path: Path, text: str) -> None:
    folder = write_entry(tmp_path, ten())
    (folder / "scaling.json").write_text(text, "utf-8")
    result = scored_folder(folder)
    assert result.minutes == 1.0
    assert result.problems[0].startswith("scaling.json cannot be used")


def test_an_unknown_benchmark_is_scored_but_not_ranked(tmp_path: Path) -> None:
    result = entry_of(tmp_path, [run_log()], "frobnicate")
    assert result.minutes == 1.0
    assert result.problems == ("benchmark not known here: no rank",)
    assert not result.is_complete


BLANK = score_run(parse_log(run_log().encode(), Path("x")), "bert")


def fake_run(minutes: float | None) -> RunResult:
    return replace(
        BLANK,
        elapsed=Seconds((minutes or 1.0) * 60),
        run_status=RunStatus.ABORTED if minutes is None else RunStatus.SUCCESS,
    )


@given(
    times=st.lists(st.none() | st.floats(0.1, 100), min_size=1, max_size=12),
    drop=st.integers(1, 4),
)
def test_olympic_follows_the_rules_statement(times: list[float | None], drop: int) -> None:
    """The rules said again: failed runs are infinitely slow; none of those may be averaged."""
    kept = olympic([fake_run(each) for each in times], drop)
    ordered = sorted(float("inf") if each is None else each for each in times)
    expected = ordered[drop:-drop]
    if float("inf") in expected:
        assert kept == []
    else:
        assert [(run.elapsed or 0) / 60 for run in kept] == pytest.approx(expected)


def test_run_counts_are_those_of_mlperf_logging() -> None:
    official = get_result_file_counts("training")
    differing = {
        name: (count, RUNS_EXPECTED.get(name))
        for name, count in official.items()
        if RUNS_EXPECTED.get(name) != count
    }
    assert differing == {}
