"""The presets do what their descriptions say, and the target means something."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from mlbench.check.official import check_officially
from mlbench.config import RunConfig
from mlbench.config.load import load_config, presets
from mlbench.data.manifest import load_manifest
from mlbench.data.prepare import prepare
from mlbench.data.store import SampleStore
from mlbench.parallel import RankContext
from mlbench.plan.machine import probe_machine
from mlbench.plan.resolve import Surroundings, resolve
from mlbench.registry import Group, load
from mlbench.submission.records import RunState
from mlbench.train.engines.native import NativeEngine
from mlbench.train.schedule import learning_rate
from tests.conftest import NOW
from tests.runs.launched import launch

TINY = "bert-open-tiny-2xcpu-dp"
CLOSED_RULESETS = ("2.0.0", "2.1.0", "3.0.0", "3.1.0", "4.0.0", "4.1.0", "5.0.0")
MARGIN = 0.04
"""How far below the target a model that does not work must stay."""


def config_of(preset: str) -> RunConfig:
    return load_config(str(Path("configs") / f"{preset}.yaml")).config


@pytest.fixture(scope="module")
def speeches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of the tiny presets."""
    folder = tmp_path_factory.mktemp("speeches") / "data"
    prepare(config_of(TINY).data.prepare, folder, lambda text: None)
    return folder


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Tests that train in this process use what the presets use."""
    before = torch.get_num_threads()
    torch.set_num_threads(min(2, probe_machine().num_cores))
    yield
    torch.set_num_threads(before)


def test_every_preset_is_valid_and_described() -> None:
    assert {file.stem for file in presets()} >= {TINY, "bert-closed-like"}
    for file in presets():
        assert load_config(str(file)).config.description


def test_the_tiny_presets_share_their_data_and_model() -> None:
    tiny, closed = config_of(TINY), config_of("bert-closed-like")
    assert tiny.data == closed.data
    assert tiny.model == closed.model
    assert tiny.optimizer == closed.optimizer


@pytest.mark.timeout(600)
def test_a_sound_model_reaches_the_target(speeches: Path, tmp_path: Path) -> None:
    """The main job, as ``make run`` does it."""
    launched = launch(TINY, tmp_path / "r", "--set", f"data.path={speeches}")
    end = launched.finish(patience=500)
    assert end.code == 0, end.errors
    assert launched.status.run_state is RunState.SUCCESS
    assert launched.accuracies[-1] >= config_of(TINY).evaluation.quality_target  # type: ignore[operator]
    assert "passes rule set 5.0.0" in end.output
    assert "real tokens/s" in end.output
    assert launched.accuracies[0] < 0.1


def test_guessing_the_commonest_token_stays_far_below_the_target(speeches: Path) -> None:
    manifest = load_manifest(speeches)
    train, evaluation = (
        SampleStore(speeches / split.file) for split in (manifest.train, manifest.eval)
    )
    counts = np.bincount(train.batch(np.arange(len(train))).masked_ids)
    hidden = evaluation.batch(np.arange(len(evaluation))).masked_ids
    accuracy = float(np.mean(hidden == counts.argmax()))
    assert 0.04 < accuracy < 0.08


@pytest.mark.timeout(600)
def test_a_model_whose_encoder_does_not_learn_stays_far_below_the_target(
    speeches: Path, tmp_path: Path
) -> None:
    """Embeddings and heads learn, the encoder keeps its random weights."""
    config = load_config(
        str(Path("configs") / f"{TINY}.yaml"),
        [f"data.path={speeches}", "launch.nproc_per_node=1", "train.seed=1"],
    )
    surroundings = Surroundings(
        benchmark=load(Group.BENCHMARK, "bert"),
        manifest=load_manifest(speeches),
        machine=probe_machine(),
        results=tmp_path,
    )
    plan = resolve(config, surroundings, 0, 1, NOW)
    engine = NativeEngine(plan, RankContext(0, 0, 1, torch.device("cpu")))
    engine.open_data()
    for parameter in engine.model.bert.encoder.parameters():
        parameter.requires_grad_(False)
    accuracies = []
    for step in range(1, 1201):
        engine.step(step, learning_rate(plan.config.optimizer, step))
        if step % 200 == 0:
            accuracies.append(engine.evaluate())
    assert max(accuracies) < plan.quality_target - MARGIN
    assert max(accuracies) > 0.1  # It does learn which words are common.
    assert accuracies[-1] - accuracies[-2] < 0.01  # And it does not get further.


def test_the_closed_like_preset_keeps_the_closed_rules_but_for_its_accuracy(
    speeches: Path, tmp_path: Path
) -> None:
    short = ("--set", "train.max_steps=40", "--set", "evaluation.every_samples=1280")
    launched = launch("bert-closed-like", tmp_path / "r", *short, "--set", f"data.path={speeches}")
    end = launched.finish()
    assert end.code == 3
    assert "the target is 0.72" in end.last_line
    log = Path(launched.status.log_file)
    for ruleset in CLOSED_RULESETS:
        verdict = check_officially(log, ruleset)
        assert not verdict.passed
        assert verdict.complaints == (
            "Failed checks for eval_accuracy : (v['value'] >= 0.720) and v['value'] < 1.0",
        )
    above = tmp_path / "result_0.txt"
    last = f'"eval_accuracy", "value": {launched.accuracies[-1]}'
    text = log.read_text("utf-8")
    assert text.count(last) == 1
    above.write_text(text.replace(last, '"eval_accuracy", "value": 0.7201'), "utf-8")
    assert all(check_officially(above, ruleset).passed for ruleset in CLOSED_RULESETS)
