"""The torch side of a rank: devices, process group, engine."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist

from mlbench import registry
from mlbench.parallel import RankContext
from mlbench.plan import RunPlan
from mlbench.registry import Group
from mlbench.seeds import derive_seed
from mlbench.train import EngineFactory
from mlbench.train.allocator import keep_freed_memory
from mlbench.train.journal import Journal
from mlbench.train.loop import run_to_target
from mlbench.train.rank import Rank


def train_rank(plan: RunPlan, rank: Rank, journal: Journal) -> None:
    """Run this rank's part of the plan.

    Raises:
        TargetMissedError: the run ended without reaching its target, on every rank.
    """
    _set_up(plan, rank)
    build_engine: EngineFactory = registry.load(Group.ENGINE, plan.config.engine)
    with _process_group(plan, rank) as context:
        run_to_target(plan, context, build_engine, journal)


def _set_up(plan: RunPlan, rank: Rank) -> None:
    """Settings of the process that no engine should have to repeat."""
    torch.set_num_threads(plan.threads_per_rank)
    if plan.device == "cpu":
        keep_freed_memory()
    if plan.config.train.deterministic:
        torch.use_deterministic_algorithms(True)
    random.seed(derive_seed(plan.seed, "python", rank.rank))
    np.random.seed(derive_seed(plan.seed, "numpy", rank.rank) % 2**32)


@contextmanager
def _process_group(plan: RunPlan, rank: Rank) -> Iterator[RankContext]:
    """Join the other ranks; leave them only when all went well, for else they may be gone."""
    device = torch.device("cpu")
    if plan.device == "cuda":
        device = torch.device("cuda", rank.local_rank)
        torch.cuda.set_device(device)
    if rank.world_size > 1:
        dist.init_process_group(
            "nccl" if plan.device == "cuda" else "gloo",
            timeout=timedelta(seconds=plan.config.launch.collective_timeout_seconds),
        )
    yield RankContext(rank.rank, rank.local_rank, rank.world_size, device)
    if rank.world_size > 1:
        dist.destroy_process_group()
