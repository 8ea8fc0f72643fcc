"""What runs inside a rank: the worker, the loop around an engine, and the engines.

An engine trains and evaluates; the loop around it keeps the clock, writes the log and decides
when the target is reached, whoever trains.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mlbench.plan import RunPlan
from mlbench.vocabulary import Tokens

if TYPE_CHECKING:  # A rank sets its signals before torch is imported.
    from mlbench.parallel import RankContext


@dataclass(frozen=True, slots=True)
class StepResult:
    """What an optimizer step did, over all ranks."""

    loss: float
    """Mean masked-LM loss plus mean next-sentence loss of the global batch."""
    gradient_norm: float
    """Global norm before clipping."""
    num_tokens: Tokens
    """Real tokens."""
    num_padded_tokens: Tokens
    """Computed tokens, padding included."""


class Engine(Protocol):
    """Trains one model. Every call is made on all ranks at the same point."""

    def open_data(self) -> None:
        """Open the prepared data: called after the clock has started, not before."""

    def step(self, step: int, learning_rate: float) -> StepResult:
        """Do optimizer step ``step``, counted from 1."""

    def evaluate(self) -> float:
        """Return the metric on the evaluation set, the same on every rank."""


EngineFactory = Callable[[RunPlan, "RankContext"], Engine]
"""What an entry point of the group ``mlbench.engines`` names; builds the model."""
