"""RunConfig, prepared data and machine to a RunPlan."""

import hashlib
import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import mlbench
from mlbench.benchmarks import Benchmark
from mlbench.config import AUTO, RunConfig
from mlbench.config.load import LoadedConfig
from mlbench.data import Manifest
from mlbench.data.manifest import require_spec
from mlbench.errors import DataError, PreflightError
from mlbench.plan import BatchPlan, Device, RunPlan
from mlbench.plan.layout import entry_folder, log_name, record_folder
from mlbench.plan.machine import Machine
from mlbench.vocabulary import Precision

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._+-]+")

_NOT_MEASURED = (
    ("description",),
    ("submission",),
    ("data", "path"),
    ("train", "seed"),
    ("train", "max_steps"),
    ("launch", "oversubscribe"),
    ("launch", "collective_timeout_seconds"),
    ("launch", "shutdown_grace_seconds"),
)
"""Parts of a config that may differ between the runs of one entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a config meets where it is run."""

    benchmark: Benchmark
    manifest: Manifest
    machine: Machine
    results: Path


def resolve(
    loaded: LoadedConfig, surroundings: Surroundings, run_index: int, seed: int, now: datetime
) -> RunPlan:
    """Decide everything about run number ``run_index`` of an entry.

    Raises:
        DataError: the prepared data do not fit the config.
        PreflightError: the machine does not.
    """
    config, benchmark = loaded.config, surroundings.benchmark
    manifest, machine = surroundings.manifest, surroundings.machine
    _check_data(config, manifest)
    device = _device(config, machine)
    system = system_name(loaded)
    run_id = f"{now.astimezone(UTC):%Y%m%dT%H%M%S}-{system}-{run_index}"
    folder = entry_folder(
        surroundings.results, config.submission.submitter, system, config.benchmark
    )
    every = config.evaluation.every_samples or benchmark.evaluation_interval(
        config.train.global_batch_size
    )
    return RunPlan(
        run_id=run_id,
        run_index=run_index,
        created_by=f"mlbench {mlbench.__version__}",
        config_name=loaded.name,
        config=config,
        system_name=system,
        ruleset=ruleset(config, benchmark),
        seed=seed,
        device=device,
        precision=_precision(config, machine, device),
        world_size=config.launch.nproc_per_node,
        threads_per_rank=_threads(config, machine),
        batch=batch_plan(config),
        num_steps=config.train.max_steps or config.optimizer.training_steps,
        evaluation_interval_steps=math.ceil(every / config.train.global_batch_size),
        quality_target=config.evaluation.quality_target or benchmark.quality_target,
        vocabulary_size=manifest.vocabulary_size,
        num_train_samples=manifest.train.num_samples,
        num_eval_samples=manifest.eval.num_samples,
        log_file=(folder / log_name(run_index)).absolute(),
        record_folder=record_folder(surroundings.results, run_id).absolute(),
    )


def system_name(loaded: LoadedConfig) -> str:
    """Return the name of the system, which is the folder of its runs.

    Unless one is set it is the config's. Settings from outside the file make another entry, so
    a digest of those that change what is measured is added: runs of different configs must not
    be averaged.
    """
    if loaded.config.submission.system != AUTO:
        return loaded.config.submission.system
    name = _NOT_IN_A_NAME.sub("-", loaded.name).strip("-.") or "config"
    changed = {
        ".".join(map(str, path)): value
        for path, value in loaded.overrides().items()
        if not any(path[: len(free)] == free for free in _NOT_MEASURED)
    }
    if not changed:
        return name
    text = json.dumps(changed, sort_keys=True)
    return f"{name}+{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def ruleset(config: RunConfig, benchmark: Benchmark) -> str:
    """Return the rule set that logs are checked against."""
    chosen = config.submission.ruleset
    return benchmark.last_ruleset if chosen == AUTO else chosen


def batch_plan(config: RunConfig) -> BatchPlan:
    """Return how a global batch is shared; the config's own check has seen that it divides."""
    train = config.train
    passes = config.launch.nproc_per_node * train.gradient_accumulation_steps
    return BatchPlan(
        global_batch_size=train.global_batch_size,
        gradient_accumulation_steps=train.gradient_accumulation_steps,
        micro_batch_size=train.global_batch_size // passes,
    )


def _check_data(config: RunConfig, manifest: Manifest) -> None:
    require_spec(manifest, config.data.prepare, config.data.path)
    size = config.train.global_batch_size
    if manifest.train.num_samples < size:
        raise DataError(
            f"{config.data.path}: {manifest.train.num_samples} training samples are fewer than "
            f"one global batch of {size}; set train.global_batch_size to at most "
            f"{manifest.train.num_samples}, or prepare more data"
        )


def _device(config: RunConfig, machine: Machine) -> Device:
    """Return what ranks compute on, when there is one for each of them."""
    asked = config.launch.device
    device: Device = "cuda" if machine.accelerators else "cpu"
    if asked != "auto":
        device = asked
    ranks = config.launch.nproc_per_node
    devices = len(machine.accelerators) if device == "cuda" else machine.num_cores
    kind = "accelerators" if device == "cuda" else "usable CPU cores"
    if not devices:
        raise PreflightError("launch.device is 'cuda', but nvidia-smi shows no device")
    if ranks > devices and not config.launch.oversubscribe:
        raise PreflightError(
            f"launch.nproc_per_node asks for {ranks} ranks, this machine has {devices} {kind}; "
            "lower it, or set launch.oversubscribe"
        )
    return device


def _precision(config: RunConfig, machine: Machine, device: Device) -> Precision:
    if config.train.precision is not Precision.AUTO:
        return config.train.precision
    has_bf16 = machine.accelerators_bf16 if device == "cuda" else machine.cpu_bf16
    return Precision.BF16 if has_bf16 else Precision.FP32


def _threads(config: RunConfig, machine: Machine) -> int:
    shared = machine.num_cores // config.launch.nproc_per_node
    return config.launch.threads_per_rank or max(1, shared)
