"""Whole runs on the small data: two gloo ranks, real processes."""

import json
import socket
from itertools import pairwise
from pathlib import Path

import pytest

from mlbench import registry
from mlbench.registry import Group
from mlbench.submission.records import RunState
from tests.conftest import Mlbench
from tests.runs.launched import Finished, Launched, launch

REACHABLE = (
    *("--set", "evaluation.quality_target=0.05"),
    *("--set", "optimizer.learning_rate=0.03"),
    *("--set", "train.max_steps=600"),
)
"""A target that the small model reaches within seconds."""


def finished(config: Path, results: Path, *arguments: str) -> tuple[Launched, Finished]:
    launched = launch(config, results, *arguments)
    return launched, launched.finish()


def test_a_run_that_reaches_its_target(small_config: Path, tmp_path: Path) -> None:
    """From the config to a checked log and a leaderboard; two runs, each with its own seed."""
    launched, end = finished(small_config, tmp_path / "r", *REACHABLE, "--runs", "2")
    assert end.code == 0, end.errors
    folder = next((tmp_path / "r/local/results").iterdir()) / "bert"
    assert sorted(file.name for file in folder.iterdir()) == ["result_0.txt", "result_1.txt"]
    assert f"log: {folder / 'result_1.txt'}" in end.output
    assert end.output.count("passes rule set 5.0.0 (mlperf-logging ") == 2
    assert "2 of 10 runs: plain mean, no rank" in end.output
    assert "throughput: " in end.output
    assert "target 0.05" in end.output
    assert "starting 2 ranks" in end.errors
    assert "accuracy 0." in end.errors
    assert launched.status.run_state is RunState.SUCCESS
    seeds = {
        log.read_text().split('"seed", "value": ')[1].split(",")[0] for log in folder.iterdir()
    }
    assert len(seeds) == 2
    systems = tmp_path / "r/local/systems"
    assert json.loads(next(systems.iterdir()).read_text())["accelerators_per_node"] == "0"
    assert launched.log.events[-1].key == "run_stop"
    record = launched.record
    for file in (record.plan_file, record.config_file, record.metrics_file, record.launcher_log):
        assert file.exists()


def test_a_target_missed_is_no_success(small_config: Path, tmp_path: Path) -> None:
    launched, end = finished(small_config, tmp_path / "r")
    assert end.code == 3
    assert "after all 6 steps, the target is 0.99" in end.last_line
    assert launched.status.run_state is RunState.TARGET_MISSED
    stop = launched.log.last("run_stop")
    assert stop is not None
    assert stop.metadata["status"] == "aborted"
    assert stop.metadata["samples_count"] == 48
    assert launched.log.value("train_samples") == 48


def test_results_are_never_overwritten(small_config: Path, tmp_path: Path) -> None:
    folder = tmp_path / "r/local/results/small/bert"
    folder.mkdir(parents=True)
    (folder / "result_0.txt").write_text("mine", "utf-8")
    (folder / "result_4.txt").write_text("too", "utf-8")
    launched, end = finished(small_config, tmp_path / "r")
    assert end.code == 3
    assert launched.status.log_file.endswith("result_5.txt")
    assert (folder / "result_0.txt").read_text() == "mine"
    assert (folder / "result_4.txt").read_text() == "too"


def test_the_usual_port_may_be_taken(small_config: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("0.0.0.0", 29500))
        taken.listen()
        _, end = finished(small_config, tmp_path / "r", *REACHABLE)
    assert end.code == 0, end.errors


def test_two_runs_at_once_do_not_disturb_each_other(small_config: Path, tmp_path: Path) -> None:
    first = launch(small_config, tmp_path / "r", *REACHABLE)
    second = launch(small_config, tmp_path / "r", *REACHABLE)
    assert (first.finish().code, second.finish().code) == (0, 0)
    folder = next((tmp_path / "r/local/results").iterdir()) / "bert"
    assert sorted(file.name for file in folder.iterdir()) == ["result_0.txt", "result_1.txt"]


def test_the_same_seed_gives_the_same_run_bit_for_bit(small_config: Path, tmp_path: Path) -> None:
    """And so it does under another launcher; another seed gives another run."""
    runs = {}
    for name, seed, launcher in (("a", 5, "torchrun"), ("b", 5, "local"), ("c", 6, "local")):
        settings = (
            "--set",
            f"train.seed={seed}",
            "--set",
            f"launch.launcher={launcher}",
            "--set",
            "model.hidden_dropout=0.1",
        )
        launched, end = finished(small_config, tmp_path / name, "--deterministic", *settings)
        assert end.code == 3, end.errors
        runs[name] = (launched.losses, launched.accuracies)
        assert launched.log.value("seed") == seed
    assert len(runs["a"][0]) == 6
    assert runs["a"] == runs["b"]
    assert all(a != c for a, c in zip(runs["a"][0], runs["c"][0], strict=True))


@pytest.mark.parametrize("strategy", registry.names(Group.STRATEGY))
def test_a_strategy_on_two_ranks_trains_as_one_rank_does(
    strategy: str, small_config: Path, tmp_path: Path
) -> None:
    """Same seed, same batches: the losses agree to rounding in fp32, which six steps keep small.

    With accumulation as well, since a strategy holds gradients back then.
    """
    losses, accuracies = [], []
    for ranks, passes in ((1, 1), (2, 1), (2, 2)):
        launched, end = finished(
            small_config,
            tmp_path / f"{ranks}-{passes}",
            "--set",
            "train.seed=5",
            "--set",
            f"launch.nproc_per_node={ranks}",
            "--set",
            f"train.gradient_accumulation_steps={passes}",
            "--set",
            f"parallel.strategy={strategy}",
        )
        assert end.code == 3, end.errors
        losses.append(launched.losses)
        accuracies.append(launched.accuracies)
    for one, other in pairwise(losses):
        assert other == pytest.approx(one, rel=2e-5)
    assert accuracies[0] == accuracies[1] == accuracies[2]


def test_a_dry_run_prints_what_would_happen_and_does_nothing(
    small_config: Path, tmp_path: Path, mlbench: Mlbench
) -> None:
    done = mlbench("run", small_config, "--results", tmp_path / "r", "--dry-run", "--runs", 2)
    assert done.returncode == 0
    assert done.stdout.count("torch.distributed.run --standalone") == 2
    assert "result_0.txt" in done.stdout
    assert "result_1.txt" in done.stdout
    assert "systems/small.json" in done.stdout
    assert '"global_batch_size": 8' in done.stdout
    assert "OMP_NUM_THREADS=" in done.stdout
    assert not (tmp_path / "r").exists()
