"""Data parallel: every rank has the whole model and a share of the batch."""

from contextlib import AbstractContextManager, nullcontext

from torch import nn
from torch.nn.parallel import DistributedDataParallel

from mlbench.parallel import RankContext


class DataParallel:
    """PyTorch's DistributedDataParallel; one rank needs no wrapper."""

    def __init__(self, context: RankContext) -> None:
        self._context = context
        self.loss_scale = float(context.world_size)  # DDP divides the sum by it.

    def wrap(self, module: nn.Module) -> nn.Module:
        """Wrap the module; its parameters become those of rank 0 on every rank."""
        if self._context.world_size == 1:
            return module
        device_ids = [self._context.device] if self._context.device.type == "cuda" else None
        return DistributedDataParallel(
            module,
            device_ids=device_ids,
            forward_sync_buffers=False,
            gradient_as_bucket_view=True,
        )

    def accumulate(self, module: nn.Module, *, last: bool) -> AbstractContextManager[None]:
        """Hold gradients back until the last pass."""
        if last or not isinstance(module, DistributedDataParallel):
            return nullcontext()
        return module.no_sync()
