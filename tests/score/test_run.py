"""One log to one run: what it says counts, and what is odd about it is said with its lines."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from mlbench.vocabulary import RunStatus
from tests.logs import START_MS, line, run_log, scored, write_log


def test_a_run_is_its_stop_minus_its_start(tmp_path: Path) -> None:
    run = scored(tmp_path, run_log(90.5))
    assert run.elapsed == 90.5
    assert run.is_converged
    assert run.num_samples == 600_000
    assert (run.accuracy, run.seeds, run.global_batch_size) == (0.72, (1,), 64)
    assert run.stated["submission_division"] == "closed"
    assert [each.elapsed for each in run.evaluations] == [45.25, 90.5]
    assert run.problems == ()


def test_the_last_start_before_the_first_stop_counts(tmp_path: Path) -> None:
    text = line("run_start", None, START_MS - 9000) + run_log(60.0)
    text += line("run_stop", None, START_MS + 99_000, status="aborted")
    run = scored(tmp_path, text)
    assert run.elapsed == 60.0
    assert run.is_converged
    assert run.problems == (
        "2 run_start events (line 1, 6): the last before run_stop counts",
        "2 run_stop events (line 9, 10): the first counts",
    )


def test_a_start_behind_the_stop_is_used_and_said(tmp_path: Path) -> None:
    start = line("run_start")
    run = scored(tmp_path, run_log().replace(start, "") + start)
    assert run.elapsed == 60.0
    assert run.problems == ("run_start stands behind run_stop in the file (line 8, 7)",)


@pytest.mark.parametrize("status", ["aborted", "abort", "fail", "", "Success", None])
def test_whatever_is_not_success_is_a_failed_run(tmp_path: Path, status: str | None) -> None:
    run = scored(tmp_path, run_log(status=status))
    assert not run.is_converged
    assert run.run_status is (RunStatus.ABORTED if status else None)


def test_a_stop_of_unknown_status_is_said(tmp_path: Path) -> None:
    run = scored(tmp_path, run_log(status="fail"))
    assert run.problems == ("status of run_stop is fail (line 8): not a success",)
    run = scored(tmp_path, run_log().replace('"status": "success"', '"x": 1'))
    assert run.problems == ("status of run_stop is none (line 8): not a success",)


CLOCKS = {
    "no run_stop": run_log(status=None),
    "no run_start and no run_stop": line("seed", 1),
    "no run_start": run_log().replace("run_start", "begin"),
    "run_stop is 5 s before run_start: no time": run_log(-5.0),
    "run_stop is 0 s before run_start: no time": run_log(0.0),
    "run_stop is 100 days after run_start: not believed": run_log(100 * 86_400),
    "run_start or run_stop has no time": run_log().replace(
        line("run_start"), line("run_start").replace("time_ms", "when")
    ),
}


@pytest.mark.parametrize("problem", CLOCKS)
def test_a_run_without_a_usable_time_has_none_and_says_why(tmp_path: Path, problem: str) -> None:
    run = scored(tmp_path, CLOCKS[problem])
    assert run.elapsed is None
    assert not run.is_converged
    assert run.problems[0] == problem


@pytest.mark.parametrize(
    "time", ["NaN", "Infinity", "-Infinity", "9" * 400, "1e999", '"x"', "true"]
)
def test_a_time_that_is_no_number_is_no_time(tmp_path: Path, time: str) -> None:
    """A NaN for a time made a run of NaN minutes, and long numbers a crash."""
    head, stop, tail = run_log().rpartition(str(START_MS + 60_000.0))
    run = scored(tmp_path, head + time + tail)
    assert stop
    assert run.elapsed is None
    assert "run_start or run_stop has no time" in run.problems


def test_a_file_without_events_is_said(tmp_path: Path) -> None:
    problems = scored(tmp_path, "Non compliant run allowed\n").problems
    assert problems == ("no run_start and no run_stop", "no event of MLPerf's log in this file")


def test_evaluations_written_out_of_order_are_taken_by_time(tmp_path: Path) -> None:
    first, second = (
        line("eval_accuracy", acc, START_MS + at, epoch_num=n)
        for acc, at, n in ((0.6, 10_000, 400_000), (0.72, 20_000, 800_000))
    )
    text = line("global_batch_size", 64) + line("run_start") + second + first
    text += line("run_stop", None, START_MS + 21_000, status="success")
    run = scored(tmp_path, text)
    assert (run.accuracy, run.num_samples) == (0.72, 800_000)
    assert run.problems == ()


def test_evaluations_outside_of_the_run_are_left_out_and_said(tmp_path: Path) -> None:
    early, late = (
        line("eval_accuracy", 0.9, START_MS + at, epoch_num=n)
        for at, n in ((-1, 1), (99_000, 900_000))
    )
    timeless = late.replace("time_ms", "when")
    run = scored(tmp_path, run_log(extra=[early]) + late + timeless)
    assert (run.accuracy, run.num_samples) == (0.72, 600_000)
    assert run.problems == (
        "3 of 5 evaluations not within the time of the run (line 5, 10, 11): left out",
        "1 event repaired (line 11): eval_accuracy has no time",
    )


def test_where_checkpoints_are_evaluated_offline_late_evaluations_are_no_fault(
    tmp_path: Path,
) -> None:
    late = line("eval_accuracy", 80.0, START_MS + 99_000, metric="FID")
    assert scored(tmp_path, run_log() + late, "stable_diffusion").problems == ()


Change = Callable[[list[str]], list[str]]
RANKS: dict[str, Change] = {
    "each line twice": lambda lines: [each for each in lines for _ in range(2)],
    "each line eight times": lambda lines: [each for each in lines for _ in range(8)],
    "rank labels": lambda lines: [f" {n}: {each}" for each in lines for n in range(4)],
    "other namespaces": lambda lines: [
        each.replace('"namespace": ""', f'"namespace": "worker{n}"')
        for each in lines
        for n in range(2)
    ],
    "other callers": lambda lines: [
        each.replace('"lineno": 1', f'"lineno": {n}') for each in lines for n in range(3)
    ],
    "one rank behind the other": lambda lines: [*lines, *lines],
}


@pytest.mark.parametrize("ranks", RANKS)
def test_a_log_of_all_ranks_gives_what_that_of_one_gives(tmp_path: Path, ranks: str) -> None:
    for text in (LADDER, PLACEHOLDERS, BLOCKS):
        clean = scored(tmp_path, text)
        assert clean.num_samples
        run = scored(tmp_path, "".join(RANKS[ranks](text.splitlines(keepends=True))))
        for field in ("elapsed", "run_status", "evaluations", "num_samples", "samples_source"):
            assert getattr(run, field) == getattr(clean, field)
        assert run.seeds == clean.seeds
        assert any(text.startswith(("2 run_start", "3 ", "4 ", "8 ")) for text in run.problems)


LADDER = run_log()
PLACEHOLDERS = run_log(samples=2).replace('"epoch_num": 2', '"epoch_num": 1')
PLACEHOLDERS += line("train_samples", 640_000, START_MS + 60_000)
BLOCKS = run_log(
    samples=2,
    extra=[
        *(
            event
            for n in range(4)
            for event in (
                line(
                    "block_start", None, START_MS + n * 9_000, first_epoch_num=n, epoch_count=90 + n
                ),
                line("block_stop", None, START_MS + n * 9_000 + 8_000, first_epoch_num=n),
            )
        ),
        line("block_start", None, START_MS + 36_000, first_epoch_num=4, epoch_count=99),
    ],
)
"""The last block has not ended."""


def test_evaluations_with_equal_accuracy_are_told_apart_by_their_counter(tmp_path: Path) -> None:
    text = run_log().replace("0.7,", "0.72,")
    assert len(scored(tmp_path, text).evaluations) == 2


def test_evaluations_with_a_placeholder_are_told_apart_by_their_time(tmp_path: Path) -> None:
    text = run_log(samples=0).replace("0.7,", "0.72,")
    assert [each.elapsed for each in scored(tmp_path, text).evaluations] == [30.0, 60.0]


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_lines_changes_nothing_unsaid(tmp_path: Path, seed: int) -> None:
    lines = run_log().splitlines(keepends=True)
    clean = scored(tmp_path, run_log())
    random.Random(seed).shuffle(lines)
    run = scored(tmp_path, "".join(lines))
    assert (run.elapsed, run.run_status) == (clean.elapsed, clean.run_status)
    assert (run.evaluations, run.num_samples) == (clean.evaluations, clean.num_samples)


def test_numbers_may_be_text_or_alone_in_a_list(tmp_path: Path) -> None:
    text = run_log().replace('"value": 64', '"value": "64"').replace("0.72,", '["0.72"],')
    text = text.replace('"epoch_num": 600000', '"epoch_num": "600000"')
    run = scored(tmp_path, text.replace('"value": 1,', '"value": [1],'))
    assert (run.global_batch_size, run.accuracy, run.num_samples) == (64, 0.72, 600_000)
    assert run.seeds == (1,)


def test_what_is_no_number_is_none(tmp_path: Path) -> None:
    odd = ["NaN", "9" * 400, "true", "[1, 2]", '{"BBOX": 0.3}', '"high"', "[" * 500 + "]" * 500]
    for value in odd:
        run = scored(tmp_path, run_log().replace("0.72,", f"{value},"))
        assert run.accuracy is None
        assert run.elapsed == 60.0


def test_values_too_deep_for_any_use_do_no_harm(tmp_path: Path) -> None:
    deep = "[" * 1000 + "]" * 1000
    for key in ("submission_org", "opt_base_learning_rate", "global_batch_size", "seed"):
        text = line(key, "VALUE").replace('"VALUE"', deep) + run_log()
        run = scored(tmp_path, text)
        assert run.elapsed == 60.0
        assert all(len(str(value)) <= 200 for value in run.stated.values())
    metadata = run_log().replace('"epoch_num": 600000', f'"epoch_num": {deep}')
    assert scored(tmp_path, metadata).accuracy == 0.72


def test_a_log_that_contradicts_itself_is_said_with_both_lines(tmp_path: Path) -> None:
    text = run_log(extra=[line("global_batch_size"), line("global_batch_size", 128)])
    run = scored(tmp_path, line("submission_org", "a") + text + line("submission_org", "b"))
    assert run.global_batch_size == 64
    assert run.problems == (
        "global_batch_size has several values (64, 128; line 5, 7): the first counts",
        "submission_org has several values (a, b; line 1, 12): the first counts",
    )


def test_the_same_said_again_is_no_contradiction(tmp_path: Path) -> None:
    run = scored(tmp_path, run_log(extra=[line("global_batch_size", 64)]))
    assert run.problems == ()


def test_repairs_and_losses_are_counted_by_kind_with_their_lines(tmp_path: Path) -> None:
    seed = line("seed", 1)
    dirt = [seed.strip() + " tail\n"] * 7 + [":::MLLOG {\n", seed.replace("se", "s\0e"), seed[3:]]
    run = scored(tmp_path, "".join(dirt) + run_log())
    assert [text.partition(": ")[0] for text in run.problems] == [
        "1 event unreadable (line 8)",
        "1 event unreadable (line 10)",
        "7 events repaired (line 1, 2, 3, 4, 5, ...)",
        "1 event repaired (line 9)",
    ]
    assert run.elapsed == 60.0


def test_the_last_throughput_that_is_a_number_is_the_logged_one(tmp_path: Path) -> None:
    stats = [{"throughput": 5.0}, {"throughput": "7"}, {"loss": 1.0}, "x"]
    text = run_log() + "".join(line("tracked_stats", each) for each in stats)
    assert scored(tmp_path, text).logged_throughput == 7.0
    text += line("throughput", 9.0) + line("throughput")
    assert scored(tmp_path, text).logged_throughput == 9.0


def test_the_name_of_the_file_stays_with_the_run(tmp_path: Path) -> None:
    odd = write_log(tmp_path, run_log(), "result ü+\n1.txt")
    assert scored(odd.parent, run_log()).file == "result_0.txt"
