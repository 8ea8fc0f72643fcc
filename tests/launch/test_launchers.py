"""What would be executed, as text; the same commands are what is executed."""

import shlex
import sys
from pathlib import Path

import pytest

from mlbench import registry
from mlbench.launch import Launcher
from mlbench.plan import RunPlan
from mlbench.registry import Group
from tests.conftest import PlanOf

PLAN_FILE = Path("/records/plan.json")

GOLDEN = {
    "torchrun": [
        "python -m torch.distributed.run --standalone --local-addr=127.0.0.1 --nnodes=1 "
        "--nproc-per-node=2 --max-restarts=0 --module mlbench.train.worker /records/plan.json"
    ],
    "local": ["python -m mlbench.train.worker /records/plan.json"] * 2,
}


@pytest.fixture
def plan(plan_of: PlanOf) -> RunPlan:
    return plan_of()


def test_every_launcher_has_a_golden_text() -> None:
    assert registry.names(Group.LAUNCHER) == sorted(GOLDEN)


@pytest.mark.parametrize("name", GOLDEN)
def test_commands_are_the_golden_ones(plan: RunPlan, name: str) -> None:
    launcher: Launcher = registry.load(Group.LAUNCHER, name)
    commands = launcher(plan, PLAN_FILE)
    texts = [shlex.join(("python", *command.argv[1:])) for command in commands]
    assert texts == GOLDEN[name]
    assert all(command.argv[0] == sys.executable for command in commands)


@pytest.mark.parametrize("name", GOLDEN)
def test_every_rank_gets_the_settings_of_the_run(plan: RunPlan, name: str) -> None:
    launcher: Launcher = registry.load(Group.LAUNCHER, name)
    for command in launcher(plan, PLAN_FILE):
        environment = command.environment
        assert environment["OMP_NUM_THREADS"] == "1"
        assert environment["MLBENCH_LEASE"] == "stdin"
        assert environment["HF_HUB_OFFLINE"] == "1"
        assert environment["GLOO_SOCKET_IFNAME"].startswith("lo")
        assert "CUBLAS_WORKSPACE_CONFIG" not in environment


def test_plain_processes_are_told_their_rank_and_one_meeting_place(plan: RunPlan) -> None:
    launcher: Launcher = registry.load(Group.LAUNCHER, "local")
    first, second = (command.environment for command in launcher(plan, PLAN_FILE))
    assert (first["RANK"], second["RANK"]) == ("0", "1")
    assert first["WORLD_SIZE"] == second["WORLD_SIZE"] == "2"
    assert first["MASTER_PORT"] == second["MASTER_PORT"]
    assert 1024 <= int(first["MASTER_PORT"]) < 65536


def test_deterministic_runs_fix_the_workspace_of_cublas(plan_of: PlanOf) -> None:
    launcher: Launcher = registry.load(Group.LAUNCHER, "torchrun")
    (command,) = launcher(plan_of("train.deterministic=true"), PLAN_FILE)
    assert command.environment["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
