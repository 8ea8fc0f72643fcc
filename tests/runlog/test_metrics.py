"""Metrics come back as written, also while they are being written."""

import io
from pathlib import Path

import pytest

from mlbench.runlog.metrics import (
    EvaluationMetrics,
    Metrics,
    MetricsTail,
    StepMetrics,
    decode_metrics,
    encode_metrics,
    read_metrics,
    summarise,
)
from mlbench.vocabulary import Samples, Seconds, Tokens


def step(
    number: int, seconds: float = 0.1, samples: int = 8, loss: float | None = 1.5
) -> StepMetrics:
    return StepMetrics(
        step=number,
        num_samples=Samples(number * samples),
        step_samples=Samples(samples),
        loss=loss,
        learning_rate=0.1,
        gradient_norm=1.0,
        num_tokens=Tokens(80),
        num_padded_tokens=Tokens(100),
        step_seconds=Seconds(seconds),
        elapsed=Seconds(number * seconds),
    )


EVALUATION = EvaluationMetrics(
    step=3,
    num_samples=Samples(24),
    accuracy=0.5,
    target=0.6,
    evaluation_seconds=Seconds(2.0),
    elapsed=Seconds(9.0),
)


@pytest.mark.parametrize("metrics", [step(1), step(1, loss=None), EVALUATION])
def test_records_survive_the_file(metrics: Metrics, tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text(encode_metrics(metrics) + "\n", "utf-8")
    assert read_metrics(file) == [metrics]
    assert decode_metrics(encode_metrics(metrics)) == metrics


def test_a_tail_waits_for_the_end_of_a_line() -> None:
    lines = [encode_metrics(step(number)) + "\n" for number in (1, 2)]
    text = "".join(lines)
    for cut in range(len(text)):
        file = io.StringIO()
        tail = MetricsTail(file)
        seen: list[Metrics] = []
        for part in (text[:cut], text[cut:]):
            place = file.tell()
            file.write(part)
            file.seek(place)
            seen.extend(tail.new())
        assert seen == [step(1), step(2)]


def test_throughput_leaves_out_warmup_and_evaluations() -> None:
    slow_start = [step(1, 2.0), step(2, 2.0), *(step(number, 0.1) for number in range(3, 23))]
    summary = summarise([*slow_start, EVALUATION], warmup_steps=2)
    assert summary is not None
    assert summary.samples_per_second == pytest.approx(80)
    assert summary.tokens_per_second == pytest.approx(800)
    assert summary.padded_tokens_per_second == pytest.approx(1000)
    assert summary.evaluation_seconds == 2.0
    assert summary.warmup_steps == 2


def test_throughput_of_no_step_is_unknown() -> None:
    summary = summarise([step(1)], warmup_steps=5)
    assert summary is not None
    assert summary.samples_per_second is None
    assert summarise([], warmup_steps=5) is None
    assert read_metrics(Path("does-not-exist.jsonl")) == []


def test_an_odd_last_batch_counts_as_what_it_is() -> None:
    summary = summarise([step(1, 1.0, samples=8), step(2, 1.0, samples=3)], warmup_steps=0)
    assert summary is not None
    assert summary.samples_per_second == pytest.approx(5.5)
