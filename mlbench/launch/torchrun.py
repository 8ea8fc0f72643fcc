"""Ranks of one node under torch elastic, started by torchrun."""

from pathlib import Path

from mlbench.launch import WORKER_MODULE, Command, python, rank_environment
from mlbench.plan import RunPlan


def torchrun_commands(plan: RunPlan, plan_file: Path) -> tuple[Command, ...]:
    """Return the torchrun command of a plan.

    ``--standalone`` takes a free port by itself. Ranks are never restarted in place: a run that
    lost its clock cannot go on.
    """
    argv = (
        python(),
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--local-addr=127.0.0.1",
        "--nnodes=1",
        f"--nproc-per-node={plan.world_size}",
        "--max-restarts=0",
        "--module",
        WORKER_MODULE,
        str(plan_file),
    )
    return (Command(argv, rank_environment(plan)),)
