"""Logs to times: one run, the runs of an entry, entries ranked against each other. Pure.

"Score" names the act only: what comes out is a run's ``elapsed`` and an entry's ``minutes``.
"""

from dataclasses import dataclass
from pathlib import Path

from mlbench.submission import Entry
from mlbench.vocabulary import Minutes, RunStatus, Samples, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One run, as its log tells it."""

    path: Path
    elapsed: Seconds | None
    """``run_stop`` minus ``run_start``; None when the log has no usable pair."""
    run_status: RunStatus | None
    """None when the log has no ``run_stop``."""
    num_samples: Samples | None
    """Samples trained up to the last evaluation."""
    samples_source: str
    """Where ``num_samples`` comes from, or why there is none."""
    accuracy: float | None
    """The last evaluation's."""
    quality_target: float | None
    """As our own logs state it; official ones leave it to the rules."""
    global_batch_size: int | None
    seed: int | None
    problems: tuple[str, ...]

    @property
    def is_converged(self) -> bool:
        """Whether the run reached its target in a time that can be used."""
        return self.run_status is RunStatus.SUCCESS and self.elapsed is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResult:
    """The runs of an entry together."""

    entry: Entry
    runs: tuple[RunResult, ...]
    runs_expected: int | None
    """Runs of a complete result; None for a benchmark that is not known."""
    minutes: Minutes | None
    """Normalised time to train; lower is better. None when it cannot be said."""
    raw_minutes: Minutes | None
    """The same, not normalised."""
    spread_minutes: tuple[Minutes, Minutes] | None
    """Fastest and slowest of the runs that the mean is taken of."""
    samples_per_second: float | None
    """Samples of these runs over their time, evaluations included."""
    samples_source: str
    samples_to_target: float | None
    """Mean samples of these runs."""
    is_complete: bool
    """Whether the mean is the one of the rules: all runs there, fastest and slowest dropped."""
    problems: tuple[str, ...]

    @property
    def runs_converged(self) -> int:
        """Runs that reached their target."""
        return sum(run.is_converged for run in self.runs)
