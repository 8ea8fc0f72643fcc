"""What a run says of itself while it goes: ``metrics.jsonl``, one record a line.

Rank 0 appends; whoever wants to watch reads. The MLPerf log stays free of all this.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from mlbench.vocabulary import Samples, Seconds, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMetrics:
    """One optimizer step, over all ranks."""

    step: int
    """Counted from 1."""
    num_samples: Samples
    """Samples trained so far, this step included."""
    step_samples: Samples
    """Samples of this step."""
    loss: float | None
    """Mean masked-LM loss plus mean next-sentence loss of the global batch; None if not finite."""
    learning_rate: float
    gradient_norm: float | None
    """Before clipping; None if not finite."""
    num_tokens: Tokens
    """Real tokens of this step."""
    num_padded_tokens: Tokens
    """Tokens computed in this step, padding included."""
    step_seconds: Seconds
    elapsed: Seconds
    """Since ``run_start``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationMetrics:
    """One evaluation."""

    step: int
    num_samples: Samples
    accuracy: float
    target: float
    evaluation_seconds: Seconds
    elapsed: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryMetrics:
    """A whole run; throughput leaves out evaluations and the first steps."""

    num_steps: int
    num_samples: Samples
    samples_per_second: float | None
    tokens_per_second: float | None
    padded_tokens_per_second: float | None
    warmup_steps: int
    """Steps at the start that throughput leaves out."""
    evaluation_seconds: Seconds
    elapsed: Seconds


WARMUP_STEPS = 20
"""Steps at the start that a run's throughput leaves out."""

Metrics = StepMetrics | EvaluationMetrics | SummaryMetrics

_KINDS: dict[str, type[Metrics]] = {
    "step": StepMetrics,
    "evaluation": EvaluationMetrics,
    "summary": SummaryMetrics,
}


def encode_metrics(metrics: Metrics) -> str:
    """Return a record as one line of JSON, its kind first."""
    kind = next(kind for kind, cls in _KINDS.items() if isinstance(metrics, cls))
    return json.dumps({"kind": kind, **asdict(metrics)}, allow_nan=False)


def decode_metrics(line: str) -> Metrics:
    """Return the record of a line that ``encode_metrics`` made."""
    record: dict[str, Any] = json.loads(line)
    return _KINDS[record.pop("kind")](**record)


def read_metrics(path: Path) -> list[Metrics]:
    """Return the records of a file, of a run that has ended or one that is going."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(MetricsTail(file).new())


class MetricsTail:
    """Follows a metrics file that is being written."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._partial = ""

    def new(self) -> Iterator[Metrics]:
        """Yield the records completed since the last call."""
        text = self._partial + self._file.read()
        *lines, self._partial = text.split("\n")
        return map(decode_metrics, lines)


def summarise(metrics: list[Metrics], warmup_steps: int) -> SummaryMetrics | None:
    """Return the summary of a run's records, None before the first step.

    Throughput is the total over the steps after the first ``warmup_steps``, divided by the time
    of these steps: evaluations and start-up are not in it. With no step left it is None.
    """
    steps = [record for record in metrics if isinstance(record, StepMetrics)]
    evaluations = [record for record in metrics if isinstance(record, EvaluationMetrics)]
    if not steps:
        return None
    measured = steps[warmup_steps:]
    seconds = sum(step.step_seconds for step in measured)

    def rate(count: int) -> float | None:
        return count / seconds if seconds > 0 else None

    return SummaryMetrics(
        num_steps=steps[-1].step,
        num_samples=steps[-1].num_samples,
        samples_per_second=rate(sum(step.step_samples for step in measured)),
        tokens_per_second=rate(sum(step.num_tokens for step in measured)),
        padded_tokens_per_second=rate(sum(step.num_padded_tokens for step in measured)),
        warmup_steps=warmup_steps,
        evaluation_seconds=Seconds(sum(record.evaluation_seconds for record in evaluations)),
        elapsed=max(record.elapsed for record in metrics),
    )
