"""How work is spread over ranks: one module a strategy, all with the same small protocol."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class RankContext:
    """Where a rank stands among the others."""

    rank: int
    local_rank: int
    world_size: int
    device: torch.device

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum of ``values`` over all ranks, the same on each."""
        if self.world_size > 1:
            dist.all_reduce(values)
        return values

    def barrier(self) -> None:
        """Wait until every rank is here."""
        if self.world_size > 1:
            dist.barrier()


class Strategy(Protocol):
    """Turns a module for one rank into one for all."""

    loss_scale: float
    """What a rank multiplies its share of the loss by, so that the synchronised gradient is that
    of the sum of all shares."""

    def __init__(self, context: RankContext) -> None: ...

    def wrap(self, module: nn.Module) -> nn.Module:
        """Return the module to train; called once, on every rank."""

    def accumulate(self, module: nn.Module, *, last: bool) -> AbstractContextManager[None]:
        """Return the context of one of several passes; gradients are synchronised in the last."""
