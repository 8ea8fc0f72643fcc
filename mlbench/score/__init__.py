"""Logs to times: one run, the runs of an entry, entries ranked against each other. Pure.

"Score" names the act only: what comes out is a run's ``elapsed`` and an entry's ``minutes``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mlbench.submission import EntryKey, SystemDescription
from mlbench.submission.names import accelerator_name
from mlbench.vocabulary import Milliseconds, Minutes, RunStatus, Seconds


class Evaluation(NamedTuple):
    """One evaluation of a run; a tuple, since a round has tens of thousands of them."""

    elapsed: Seconds
    """Since ``run_start``."""
    accuracy: float | None
    """None when the log has something else than a number."""
    num_samples: float | None
    """Samples trained until then; None when the log does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One run, as its log tells it."""

    file: str
    """Name of the log."""
    digest: str
    """Of the log's bytes."""
    elapsed: Seconds | None
    """``run_stop`` minus ``run_start``; None when the log has no usable pair."""
    run_status: RunStatus | None
    """None when the log has no ``run_stop``."""
    start_ms: Milliseconds | None
    evaluations: tuple[Evaluation, ...]
    num_samples: float | None
    """Samples trained up to the last evaluation."""
    samples_source: str
    """Where ``num_samples`` comes from, or why there is none."""
    convergence: float | None
    """Counter of the last evaluation, in the unit of the reference convergence points."""
    logged_throughput: float | None
    """The last ``throughput`` that the run itself logged, in whatever unit it counts."""
    quality_target: float | None
    """As our own logs state it; official ones leave it to the rules."""
    global_batch_size: int | None
    seeds: tuple[int, ...]
    stated: Mapping[str, Any]
    """What the log says of its submission: organisation, division, benchmark, and such."""
    hyperparameters: Mapping[str, Any]
    problems: tuple[str, ...]

    @property
    def accuracy(self) -> float | None:
        """The last evaluation's accuracy."""
        return self.evaluations[-1].accuracy if self.evaluations else None

    @property
    def is_converged(self) -> bool:
        """Whether the run reached its target in a time that can be used."""
        return self.run_status is RunStatus.SUCCESS and self.elapsed is not None

    @property
    def minutes(self) -> Minutes:
        """The run's time in minutes; only of a run that has one."""
        assert self.elapsed is not None
        return Minutes(self.elapsed / 60.0)


@dataclass(frozen=True, slots=True)
class Throughput:
    """Samples a second of the runs that an entry's time is the mean of."""

    end_to_end: float
    """All samples over all of ``run_stop - run_start``, evaluations and start-up included."""
    steady: float | None
    """Between the first and the last evaluation only; None with fewer than two."""
    source: str
    """Where the number of samples comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResult:
    """The runs of an entry together."""

    key: EntryKey
    path: Path
    description: SystemDescription
    runs: tuple[RunResult, ...]
    kept: tuple[RunResult, ...]
    """The runs that the time is the mean of."""
    runs_expected: int | None
    """Runs of a complete result; None for a benchmark that is not known."""
    minutes: Minutes | None
    """Normalised time to train; lower is better. None when it cannot be said."""
    raw_minutes: Minutes | None
    """The same, not normalised."""
    scaling_factor: float | None
    """What the raw time was multiplied by; None when the round has no normalisation."""
    throughput: Throughput | None
    samples_to_target: float | None
    """Mean samples of the runs kept."""
    division: str
    """``closed``, ``open``, or that it is not known."""
    is_complete: bool
    """Whether the mean is that of the rules: every run there and its own, no mixture."""
    problems: tuple[str, ...]

    @property
    def runs_converged(self) -> int:
        """Runs that reached their target."""
        return sum(run.is_converged for run in self.runs)

    @property
    def spread_minutes(self) -> tuple[Minutes, Minutes] | None:
        """Fastest and slowest of the runs kept, normalised as their mean is."""
        factor = self.scaling_factor or 1.0
        times = [Minutes(run.minutes * factor) for run in self.kept]
        return (min(times), max(times)) if times else None

    @property
    def num_nodes(self) -> int | None:
        """Nodes by the systems file."""
        return self.description.count("number_of_nodes")

    @property
    def num_accelerators(self) -> int | None:
        """Accelerators of all nodes; 0 for a system that computes on CPUs."""
        each = self.description.count("accelerators_per_node")
        return None if each is None or self.num_nodes is None else self.num_nodes * each

    @property
    def accelerator(self) -> str | None:
        """Name of the accelerator, one for all spellings."""
        return accelerator_name(self.description.text("accelerator_model_name"))

    @property
    def throughput_per_accelerator(self) -> float | None:
        """Samples a second of one accelerator, end to end."""
        if self.throughput is None or not self.num_accelerators:
            return None
        return self.throughput.end_to_end / self.num_accelerators
