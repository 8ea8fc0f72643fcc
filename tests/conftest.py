"""Fixtures that several parts share: a small corpus, a small config, published logs."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import hypothesis
import pytest

from mlbench import registry
from mlbench.config.load import load_config
from mlbench.data import PrepareSpec
from mlbench.data.manifest import load_manifest
from mlbench.data.prepare import prepare
from mlbench.plan import RunPlan
from mlbench.plan.machine import Machine
from mlbench.plan.resolve import Surroundings, resolve
from mlbench.registry import Group

ROOT = Path(__file__).resolve().parents[1]
OFFICIAL = ROOT.parent / "shared" / "data" / "official"

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("nightly", parent=hypothesis.settings(), max_examples=2_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

SMALL_CONFIG = """\
description: seconds on a CPU, for tests
model:
  hidden_size: 16
  num_hidden_layers: 1
  num_attention_heads: 2
  intermediate_size: 32
  max_position_embeddings: 16
  hidden_dropout: 0.0
  attention_dropout: 0.0
data:
  path: {data}
  prepare:
    corpus: text
    input: [{corpus}]
    vocabulary: {vocabulary}
    sequence_length: 16
    max_predictions: 3
    duplication: 2
    eval_fraction: 0.1
    eval_samples: 32
optimizer:
  learning_rate: 0.01
  training_steps: 1000
train:
  global_batch_size: 8
  max_steps: 6
  precision: fp32
evaluation:
  quality_target: 0.99
  every_samples: 24
launch:
  nproc_per_node: 2
  oversubscribe: true
  collective_timeout_seconds: 30
"""
"""Six steps of two ranks; the target is out of reach."""

WORDS = """\
the sea is calm and moon lies fair upon straits light gleams gone cliffs of old stand
glimmering vast out in tranquil bay come to window sweet night air
"""


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the results of tests out of the user's cache, and the user's out of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, its vocabulary and prepared data."""
    folder = tmp_path_factory.mktemp("small")
    words = WORDS.split()
    documents = [
        "\n".join(
            " ".join(words[(d * 7 + s * 3 + w) % len(words)] for w in range(4 + (d + s) % 5)) + "."
            for s in range(6)
        )
        for d in range(40)
    ]
    (folder / "corpus.txt").write_text("\n\n".join(documents), "utf-8")
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *sorted(set(words))]
    (folder / "vocabulary.txt").write_text("\n".join(tokens) + "\n", "utf-8")
    prepare(small_spec(folder), folder / "prepared", lambda text: None)
    return folder


def small_spec(folder: Path, **changes: object) -> PrepareSpec:
    """The spec of ``SMALL_CONFIG``, with changes."""
    values: dict[str, object] = {
        "corpus": "text",
        "input": (folder / "corpus.txt",),
        "vocabulary": str(folder / "vocabulary.txt"),
        "sequence_length": 16,
        "max_predictions": 3,
        "duplication": 2,
        "eval_fraction": 0.1,
        "eval_samples": 32,
    }
    return PrepareSpec(**(values | changes))  # type: ignore[arg-type]


@pytest.fixture
def small_config(small_data: Path, tmp_path: Path) -> Path:
    """A config file that trains on ``small_data``."""
    file = tmp_path / "small.yaml"
    file.write_text(
        SMALL_CONFIG.format(
            data=small_data / "prepared",
            corpus=small_data / "corpus.txt",
            vocabulary=small_data / "vocabulary.txt",
        ),
        "utf-8",
    )
    return file


@pytest.fixture(scope="session")
def official_rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Published logs of v2.0 and v2.1, where this checkout has them beside it."""
    archive = OFFICIAL / "rounds.tar.xz"
    if not archive.exists():
        pytest.skip(f"published logs are not here: {archive.name}")
    folder = tmp_path_factory.mktemp("official")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder


NOW = datetime(2026, 11, 30, 12, 0, 5, tzinfo=UTC)
TWO_CORES = Machine(num_cores=2, cpu_bf16=False)

PlanOf = Callable[..., RunPlan]
"""Settings, and keywords, to a plan of the small config."""


@pytest.fixture
def plan_of(small_config: Path, small_data: Path, tmp_path: Path) -> PlanOf:
    """Plan runs of the small config as if at ``NOW``, with seed 7."""

    def plan(*settings: str, machine: Machine = TWO_CORES, run_index: int = 0) -> RunPlan:
        surroundings = Surroundings(
            benchmark=registry.load(Group.BENCHMARK, "bert"),
            manifest=load_manifest(small_data / "prepared"),
            machine=machine,
            results=tmp_path / "results",
        )
        loaded = load_config(str(small_config), settings)
        return resolve(loaded, surroundings, run_index, 7, NOW)

    return plan


Mlbench = Callable[..., "subprocess.CompletedProcess[str]"]


def mlbench_command(*arguments: object) -> list[str]:
    """The command line of this checkout's mlbench."""
    return [sys.executable, "-m", "mlbench", *map(str, arguments)]


def clean_environment(**variables: str) -> dict[str, str]:
    """This process' environment without settings of mlbench, and with some variables."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MLBENCH_")}
    return kept | variables


@pytest.fixture
def mlbench() -> Mlbench:
    """Run the command line in a process of its own."""

    def run(
        *arguments: object, environment: Mapping[str, str] | None = None, cwd: Path = ROOT
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            mlbench_command(*arguments),
            capture_output=True,
            text=True,
            timeout=250,
            cwd=cwd,
            env=clean_environment(**(environment or {})),
            stdin=subprocess.DEVNULL,
            check=False,
        )

    return run
