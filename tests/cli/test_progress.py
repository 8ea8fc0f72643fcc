"""What a user sees while a run is going."""

from pathlib import Path

import pytest

from mlbench.cli.progress import RunView, show_progress
from mlbench.runlog.metrics import encode_metrics
from mlbench.submission.records import RunRecord
from tests.conftest import PlanOf
from tests.runlog.test_metrics import EVALUATION, step


def test_before_the_first_step_nothing_is_claimed() -> None:
    assert RunView(100, 0.6).facts() == ["starting", "accuracy - (target 0.6)"]


def test_rates_are_of_the_last_steps_and_time_left_is_a_bound() -> None:
    view = RunView(1000, 0.6)
    view.update(iter([*(step(n, 9.0) for n in range(1, 51)), EVALUATION]))
    view.update(step(n, 0.5) for n in range(51, 101))
    assert view.facts() == [
        "step 100/1000",
        "16 samples/s",
        "160 real tokens/s",
        "loss 1.500",
        "accuracy 0.500 (target 0.6)",
        "at most 7:30 left",
    ]


def test_a_loss_that_is_not_finite_is_shown_as_that() -> None:
    view = RunView(10, 0.6)
    view.update(iter([step(1, loss=None)]))
    assert "loss not finite" in view.facts()


@pytest.fixture
def record(plan_of: PlanOf) -> RunRecord:
    record = RunRecord(plan_of().record_folder)
    record.folder.mkdir(parents=True)
    return record


@pytest.mark.parametrize("mode", ["plain", "bar", "auto", "none"])
def test_every_mode_follows_the_file_and_ends_with_the_last_state(
    mode: str, plan_of: PlanOf, record: RunRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    with show_progress(plan_of(), record, mode) as watch:
        watch()
        with record.metrics_file.open("a") as file:
            file.write(encode_metrics(step(6)) + "\n")
        watch()
    printed = capsys.readouterr()
    assert printed.out == ""
    if mode == "none":
        assert printed.err == ""
    else:
        assert "step 6/6" in printed.err


def test_plain_lines_are_seldom(
    plan_of: PlanOf, record: RunRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    with show_progress(plan_of(), record, "plain") as watch:
        for _ in range(50):
            watch()
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_the_metrics_file_exists_before_it_is_followed(plan_of: PlanOf, record: RunRecord) -> None:
    assert not record.metrics_file.exists()
    with show_progress(plan_of(), record, "none"):
        assert record.metrics_file == Path(record.folder / "metrics.jsonl")
        assert record.metrics_file.exists()
