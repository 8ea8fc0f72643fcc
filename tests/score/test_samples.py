"""The ladder of sources of the number of samples, surest first."""

from pathlib import Path

import pytest

from mlbench.score import RunResult
from tests.logs import START_MS, line, run_log, scored

STOP_MS = START_MS + 60_000
TRAINED = line("train_samples", 600_000, STOP_MS)


def placeholder(text: str = "") -> str:
    """A run whose evaluations all say epoch 1, with something before it."""
    return text + run_log(samples=2).replace('"epoch_num": 2', '"epoch_num": 1')


def at(run: RunResult) -> list[float | None]:
    return [each.num_samples for each in run.evaluations]


def test_epochs_of_bert_count_samples(tmp_path: Path) -> None:
    run = scored(tmp_path, run_log())
    assert run.samples_source == "S1 eval_accuracy.epoch_num"
    assert at(run) == [300_000, 600_000]
    assert run.convergence == 600_000


@pytest.mark.parametrize(
    "name", ["samples_count", "train_samples", "train_samples_since_beginning"]
)
def test_a_counter_of_samples_goes_before_all(tmp_path: Path, name: str) -> None:
    text = run_log().replace('"epoch_num": 300000', f'"epoch_num": 9, "{name}": 55')
    text = text.replace('"epoch_num": 600000', f'"epoch_num": 9, "{name}": "555"') + TRAINED
    run = scored(tmp_path, text)
    assert (run.num_samples, run.samples_source) == (555, f"S1 eval_accuracy.{name}")
    assert at(run) == [55, 555]


def test_a_counter_of_a_resumed_run_counts_from_its_first_block(tmp_path: Path) -> None:
    begun = [line("block_start", train_samples=count) for count in (9_050, 9_000)]
    text = run_log(extra=begun)
    text = text.replace('"epoch_num": 3', '"train_samples": 9100, "epoch_num": 3')
    text = text.replace('"epoch_num": 6', '"train_samples": 9300, "epoch_num": 6')
    assert at(scored(tmp_path, text)) == [100, 300]


def test_a_counter_that_falls_or_is_missing_once_is_not_taken(tmp_path: Path) -> None:
    once = run_log().replace('"epoch_num": 600000', '"epoch_num": 600000, "samples_count": 5')
    assert scored(tmp_path, once).num_samples == 600_000
    falls = run_log().replace('"epoch_num": 300000', '"epoch_num": 300000, "samples_count": 9')
    falls = falls.replace('"epoch_num": 600000', '"epoch_num": 600000, "samples_count": 5')
    assert scored(tmp_path, falls).samples_source == "S1 eval_accuracy.epoch_num"


def test_steps_are_counted_times_the_batch(tmp_path: Path) -> None:
    text = run_log().replace("epoch_num", "step_num").replace("00000", "00")
    run = scored(tmp_path, text)
    assert (at(run), run.samples_source) == ([19_200, 38_400], "S2 eval_accuracy.step_num x batch")


def test_epochs_that_grow_as_blocks_do_are_steps(tmp_path: Path) -> None:
    text = run_log(samples=200, extra=[line("block_start", epoch_count=100)])
    run = scored(tmp_path, text)
    assert (at(run), run.samples_source) == ([6400, 12800], "S2 eval_accuracy.epoch_num x batch")


def test_train_samples_behind_the_last_evaluation_were_trained(tmp_path: Path) -> None:
    run = scored(tmp_path, placeholder() + TRAINED)
    assert run.samples_source == "S3 train_samples behind the last evaluation"
    assert at(run) == [300_000, 600_000]
    assert scored(tmp_path, placeholder() + TRAINED.replace("600000", "[6e5]")).num_samples == 6e5


def test_train_samples_before_the_run_are_a_plan_and_not_counted(tmp_path: Path) -> None:
    run = scored(tmp_path, placeholder(line("train_samples", 10**6)))
    assert run.num_samples is None
    assert run.samples_source == "evaluations count epochs or something else than samples"


def test_evaluations_that_begin_late_do_not_share_the_samples_evenly(tmp_path: Path) -> None:
    late = "".join(
        line("eval_accuracy", 0.5 + n, START_MS + 50_000 + n * 2_000, epoch_num=1) for n in range(3)
    )
    text = line("global_batch_size", 64) + line("run_start") + late
    text += line("train_samples", 600, STOP_MS)
    text += line("run_stop", None, STOP_MS, status="success")
    assert at(scored(tmp_path, text)) == [None, None, 600]


def blocks(count: int, **metadata: object) -> list[str]:
    return [
        event
        for n in range(count)
        for event in (
            line("block_start", None, START_MS + n * 10_000, **metadata),
            line("block_stop", None, START_MS + n * 10_000 + 9_000, **metadata),
        )
    ]


def test_finished_blocks_are_counted_times_the_batch(tmp_path: Path) -> None:
    text = run_log(samples=2, extra=blocks(8, epoch_count=100))
    run = scored(tmp_path, text)
    assert run.samples_source == "S4 finished blocks x batch"
    assert run.num_samples == 6 * 100 * 64  # The seventh begins as the run stops.


def test_the_order_of_blocks_in_the_file_is_no_matter(tmp_path: Path) -> None:
    first, unfinished = blocks(1, epoch_count=100), blocks(1, epoch_count=7)[:1]
    unfinished[0] = unfinished[0].replace(str(START_MS), str(START_MS + 20_000))
    for extra in ([*first, *unfinished], [*unfinished, *first]):
        assert scored(tmp_path, run_log(samples=2, extra=extra)).num_samples == 100 * 64


def test_blocks_of_one_epoch_are_no_steps(tmp_path: Path) -> None:
    assert scored(tmp_path, run_log(samples=2, extra=blocks(8, epoch_count=1))).num_samples is None


def test_epochs_of_resnet_are_counted_times_its_data_set(tmp_path: Path) -> None:
    run = scored(tmp_path, run_log(samples=40), "resnet")
    assert run.num_samples == 40 * 1_281_167
    assert run.samples_source == "S5 eval_accuracy.epoch_num x data set"
    assert scored(tmp_path, run_log(samples=40), "ssd").num_samples is None


REASONS = {
    "no evaluation between run_start and run_stop": run_log().replace("eval_accuracy", "other"),
    "evaluations have no counter": run_log().replace("epoch_num", "other"),
    "evaluations count epochs or something else than samples": run_log(samples=2),
    "the run has no start and stop": run_log(status=None),
}


@pytest.mark.parametrize("reason", REASONS)
def test_samples_that_cannot_be_told_have_a_reason(tmp_path: Path, reason: str) -> None:
    run = scored(tmp_path, REASONS[reason])
    assert (run.num_samples, run.samples_source) == (None, reason)
