"""What is measured: each benchmark is a statement without torch, and an implementation with it.

The statement (``benchmarks/<name>/__init__.py``) says what MLPerf says of the benchmark: metric,
target, number of runs, evaluation schedule. The implementation is imported by ranks only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from mlbench.vocabulary import Samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """The statement of a benchmark."""

    name: str
    """As ``submission_benchmark`` spells it."""
    metric: str
    """What ``eval_accuracy`` measures, in words."""
    quality_target: float
    """Reached when the metric is at least this."""
    num_runs: int
    """Runs of a complete result."""
    num_eval_samples: int
    """Size of the official evaluation set."""
    last_ruleset: str
    """The newest rule set that knows the benchmark."""
    evaluation_interval: Callable[[int], Samples]
    """Global batch size to training samples between evaluations."""
    initialised_tensors: Callable[[Any], Mapping[str, bool]]
    """Model to the tensors that ``weights_initialization`` logs, by the reference's names, and
    whether this model has each: a log of a smaller model must not claim the reference's."""
    implementation_module: str
    """Where model, loss and metric are; imports torch."""

    def implementation(self) -> ModuleType:
        """Import and return the implementation."""
        return import_module(self.implementation_module)
