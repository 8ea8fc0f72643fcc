"""Ranks of one node as plain processes, one command each."""

import socket
from pathlib import Path

from mlbench.launch import WORKER_MODULE, Command, python, rank_environment
from mlbench.plan import RunPlan


def local_commands(plan: RunPlan, plan_file: Path) -> tuple[Command, ...]:
    """Return one command for each rank, in the environment that torch calls ``env://``."""
    shared = {
        **rank_environment(plan),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(_free_port()),
        "WORLD_SIZE": str(plan.world_size),
        "LOCAL_WORLD_SIZE": str(plan.world_size),
    }
    argv = (python(), "-m", WORKER_MODULE, str(plan_file))
    return tuple(
        Command(argv, {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(plan.world_size)
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
