"""RunPlan to processes.

A launcher is a pure function from a plan to the commands that are executed; printing them is the
dry run. Starting and watching them is the same for all, in ``launch.supervise``.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil

from mlbench.plan import LEASE_VARIABLE, RunPlan

WORKER_MODULE = "mlbench.train.worker"


@dataclass(frozen=True, slots=True)
class Command:
    """One process to start, and what is added to its environment."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


class Launcher(Protocol):
    """Returns the commands that start every rank of a plan."""

    def __call__(self, plan: RunPlan, plan_file: Path) -> tuple[Command, ...]:
        """Return the commands; nothing is started."""


def rank_environment(plan: RunPlan) -> dict[str, str]:
    """Return what every rank of a plan finds in its environment, whoever starts it."""
    environment = {
        LEASE_VARIABLE: "stdin",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": str(plan.threads_per_rank),
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "TORCH_CPP_LOG_LEVEL": "ERROR",
    }
    loopback = _loopback()
    if plan.device == "cpu" and loopback:  # Else gloo asks what the host's name resolves to.
        environment["GLOO_SOCKET_IFNAME"] = loopback
    if plan.config.train.deterministic:
        environment["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    return environment


def python() -> str:
    """Return the interpreter that ranks run in: this one."""
    return sys.executable


def _loopback() -> str | None:
    for name, addresses in psutil.net_if_addrs().items():
        if any(address.address == "127.0.0.1" for address in addresses):
            return name
    return None
