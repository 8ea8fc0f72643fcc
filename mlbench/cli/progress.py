"""Live progress of a run, read from its metrics file, on standard error."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from mlbench.runlog.metrics import EvaluationMetrics, Metrics, MetricsTail, StepMetrics

if TYPE_CHECKING:
    from mlbench.launch.supervise import Watch
    from mlbench.plan import RunPlan
    from mlbench.submission.records import RunRecord

PLAIN_SECONDS = 10
"""Time between two plain lines."""

_WINDOW = 50
"""Steps that the rates are taken over."""


@dataclass(slots=True)
class RunView:
    """What is known of a run that is going."""

    num_steps: int
    target: float
    steps: list[StepMetrics] = field(default_factory=list)
    """The last steps."""
    accuracy: float | None = None

    def update(self, records: Iterator[Metrics]) -> None:
        """Take in new records."""
        for record in records:
            if isinstance(record, StepMetrics):
                self.steps = [*self.steps[-_WINDOW + 1 :], record]
            elif isinstance(record, EvaluationMetrics):
                self.accuracy = record.accuracy

    def facts(self) -> list[str]:
        """Return step, rates, loss, accuracy against the target and time left, in words."""
        accuracy = "-" if self.accuracy is None else f"{self.accuracy:.3f}"
        against = f"accuracy {accuracy} (target {self.target:g})"
        if not self.steps:
            return ["starting", against]
        last = self.steps[-1]
        seconds = sum(step.step_seconds for step in self.steps) or float("inf")
        samples = sum(step.step_samples for step in self.steps) / seconds
        tokens = sum(step.num_tokens for step in self.steps) / seconds
        left = (self.num_steps - last.step) * seconds / len(self.steps)
        return [
            f"step {last.step}/{self.num_steps}",
            f"{samples:,.0f} samples/s",
            f"{tokens:,.0f} real tokens/s",
            f"loss {'not finite' if last.loss is None else format(last.loss, '.3f')}",
            against,
            f"at most {_clock(left)} left",
        ]

    @property
    def step(self) -> int:
        """The last step done."""
        return self.steps[-1].step if self.steps else 0


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


@contextmanager
def show_progress(plan: "RunPlan", record: "RunRecord", mode: str) -> Iterator["Watch"]:
    """Yield a function to call at every poll; what it shows is gone or complete at the end."""
    view = RunView(plan.num_steps, plan.quality_target)
    record.metrics_file.touch()
    with record.metrics_file.open(encoding="utf-8") as file:
        tail = MetricsTail(file)
        if mode == "none":
            yield lambda: None
        elif mode == "bar" or (mode == "auto" and sys.stderr.isatty()):
            with Live(console=Console(stderr=True), auto_refresh=False) as live:
                yield lambda: _redraw(view, tail, live)
        else:
            click.echo(f"run {plan.run_id}: starting {plan.world_size} ranks", err=True)
            yield _PlainLines(view, tail)
            _PlainLines(view, tail, seconds=0)()


def _redraw(view: RunView, tail: MetricsTail, live: Live) -> None:
    view.update(tail.new())
    grid = Table.grid(padding=(0, 1))
    grid.add_row(
        ProgressBar(total=view.num_steps, completed=view.step, width=20), ", ".join(view.facts())
    )
    live.update(grid, refresh=True)


@dataclass(slots=True)
class _PlainLines:
    view: RunView
    tail: MetricsTail
    seconds: float = PLAIN_SECONDS
    _last: float = field(default_factory=time.monotonic)

    def __call__(self) -> None:
        self.view.update(self.tail.new())
        now = time.monotonic()
        if now - self._last >= self.seconds:
            self._last = now
            click.echo(", ".join(self.view.facts()), err=True)
