"""What every extension of a group must do, built in or not."""

from configparser import ConfigParser
from pathlib import Path

import numpy as np
import pytest
import torch

from mlbench import registry
from mlbench.benchmarks import Benchmark
from mlbench.data.store import SampleStore
from mlbench.parallel import RankContext
from mlbench.registry import Group
from mlbench.report import Cell, Column, Renderer, Report, Table
from mlbench.score.leaderboard import Leaderboard, Order
from mlbench.train import EngineFactory
from mlbench.train.schedule import learning_rate
from tests.conftest import ROOT, PlanOf

CPU = torch.device("cpu")
ALONE = RankContext(0, 0, 1, CPU)


def test_entry_points_are_those_of_setup_cfg() -> None:
    """After adding one, install again: make setup."""
    parser = ConfigParser()
    parser.read(ROOT / "setup.cfg")
    for group in Group:
        lines = parser["options.entry_points"][group.value].split("\n")
        declared = sorted(line.split("=")[0].strip() for line in lines if line.strip())
        assert registry.names(group) == declared


@pytest.mark.parametrize("name", registry.names(Group.BENCHMARK))
def test_a_benchmark_states_what_mlperf_states(name: str) -> None:
    benchmark: Benchmark = registry.load(Group.BENCHMARK, name)
    assert benchmark.name == name
    assert benchmark.quality_target > 0
    assert benchmark.num_runs >= 3
    assert benchmark.evaluation_interval(256) > 0
    assert benchmark.last_ruleset.count(".") == 2
    assert benchmark.metric


@pytest.mark.parametrize("name", registry.names(Group.ENGINE))
def test_steps_of_an_engine_lower_the_loss(name: str, plan_of: PlanOf) -> None:
    plan = plan_of("launch.nproc_per_node=1", "optimizer.learning_rate=0.03")
    build: EngineFactory = registry.load(Group.ENGINE, name)
    engine = build(plan, ALONE)
    engine.open_data()
    before = engine.evaluate()
    losses = []
    for step in range(1, 121):
        result = engine.step(step, learning_rate(plan.config.optimizer, step))
        assert 0 < result.num_tokens <= result.num_padded_tokens
        assert result.gradient_norm > 0
        losses.append(result.loss)
    assert np.mean(losses[-10:]) < 0.93 * np.mean(losses[:10])
    after = engine.evaluate()
    assert after == engine.evaluate()
    assert 0 <= before < after <= 1


@pytest.mark.parametrize("name", registry.names(Group.STRATEGY))
def test_a_strategy_on_one_rank_leaves_the_gradient_as_it_is(
    name: str, plan_of: PlanOf, small_data: Path
) -> None:
    strategy = registry.load(Group.STRATEGY, name)(ALONE)
    torch.manual_seed(0)
    module = torch.nn.Linear(3, 1)
    inputs = torch.randn(4, 3)
    module(inputs).sum().backward()
    assert module.weight.grad is not None
    expected = module.weight.grad.clone()
    module.zero_grad()
    wrapped = strategy.wrap(module)
    for part in (inputs[:2], inputs[2:]):
        with strategy.accumulate(wrapped, last=part is inputs[2:]):
            (wrapped(part).sum() * strategy.loss_scale).backward()
    torch.testing.assert_close(module.weight.grad, expected)


@pytest.mark.parametrize("name", registry.names(Group.REPORT))
def test_a_report_format_shows_texts_and_survives_odd_ones(name: str) -> None:
    render: Renderer = registry.load(Group.REPORT, name)
    columns = (
        Column("a", "first"),
        Column("b", "second", is_number=True),
        Column("c", "third", is_shown=False),
    )
    odd = 'x|y, "z"; [bold] é'
    row = (Cell(odd, odd), Cell(1.5, "1.500"), Cell(None))
    tables = (Table("title", {}, columns, (row,), ("a note",)),)
    text = render(Report(("in",), tables, Leaderboard((), Order())))
    assert text.endswith("\n")
    assert "1.5" in text
    assert "[bold]" in text


def test_the_small_data_has_short_samples(small_data: Path) -> None:
    """Else the tests above would not see padding."""
    store = SampleStore(small_data / "prepared" / "train.arrow")
    lengths = store.batch(np.arange(len(store))).lengths
    assert lengths.min() < lengths.max()
