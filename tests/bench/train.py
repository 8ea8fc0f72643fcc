"""The native engine against Hugging Face's Trainer: same model, data and batch, in turn."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (
    BertForPreTraining,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from mlbench.benchmarks.bert import BERT
from mlbench.config.load import load_config
from mlbench.data.manifest import load_manifest
from mlbench.data.order import SampleOrder
from mlbench.data.prepare import prepare
from mlbench.data.store import SampleStore
from mlbench.parallel import RankContext
from mlbench.plan import RunPlan
from mlbench.plan.machine import probe_machine
from mlbench.plan.resolve import Surroundings, resolve
from mlbench.train.allocator import keep_freed_memory
from mlbench.train.engines.native import NativeEngine
from tests.bench import Figure, median, spread

PRESET = "configs/bert-open-tiny-2xcpu-dp.yaml"
ROUNDS = 5
STEPS = 60
WARMUP_STEPS = 10
"""Steps at the start of a block that are not timed."""

Item = dict[str, Any]


class Samples(Dataset[Item]):
    """The prepared samples, one at a time, in the order the native engine reads them."""

    def __init__(self, store: SampleStore, order: SampleOrder, first_step: int) -> None:
        self._store = store
        steps = range(first_step, first_step + STEPS)
        self._indices = np.concatenate([order.global_batch(step) for step in steps])

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, index: int) -> Item:
        sample = self._store.batch(self._indices[index : index + 1])
        length = len(sample.input_ids)
        labels = np.full(length, -100)
        labels[sample.masked_positions] = sample.masked_ids
        return {
            "input_ids": sample.input_ids.astype(np.int64),
            "token_type_ids": (np.arange(length) >= sample.segment_b[0]).astype(np.int64),
            "labels": labels,
            "next_sentence_label": int(sample.next_sentence_labels[0]),
        }


def pad(items: list[Item]) -> dict[str, torch.Tensor]:
    """Pad samples to the longest; what a user of Trainer writes."""
    longest = max(len(item["input_ids"]) for item in items)

    def padded(key: str, value: int) -> torch.Tensor:
        rows = [
            np.pad(item[key], (0, longest - len(item[key])), constant_values=value)
            for item in items
        ]
        return torch.from_numpy(np.stack(rows))

    mask = [
        [1] * len(item["input_ids"]) + [0] * (longest - len(item["input_ids"])) for item in items
    ]
    return {
        "input_ids": padded("input_ids", 0),
        "token_type_ids": padded("token_type_ids", 0),
        "labels": padded("labels", -100),
        "attention_mask": torch.tensor(mask),
        "next_sentence_label": torch.tensor([item["next_sentence_label"] for item in items]),
    }


@dataclass
class Timer(TrainerCallback):
    """Wall and CPU seconds of the steps after the warm-up."""

    wall: float = 0.0
    cpu: float = 0.0
    losses: list[float] = field(default_factory=list)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self.mark(state.global_step)

    def mark(self, step: int) -> None:
        """Note the end of a step."""
        if step == WARMUP_STEPS:
            self.wall, self.cpu = time.perf_counter(), time.process_time()
        elif step == STEPS:
            self.wall = time.perf_counter() - self.wall
            self.cpu = time.process_time() - self.cpu


def figures() -> Iterator[Figure]:
    """Ratio of samples per second, wall and CPU; loss of both on the same batch and weights."""
    with tempfile.TemporaryDirectory() as scratch:
        plan = _plan(Path(scratch))
        torch.set_num_threads(plan.threads_per_rank)
        keep_freed_memory()
        engine = NativeEngine(plan, RankContext(0, 0, 1, torch.device("cpu")))
        engine.open_data()
        store = SampleStore(plan.config.data.path / "train.arrow")
        order = SampleOrder(plan.seed, len(store), plan.batch.global_batch_size)
        difference = _loss_difference(engine, Samples(store, order, 0), plan)
        pairs = []
        for number in range(ROUNDS):
            ours = _native_block(engine, number * STEPS)
            theirs = _trainer_block(
                engine.model, Samples(store, order, number * STEPS), plan, scratch
            )
            pairs.append((ours, theirs))
    size = plan.batch.global_batch_size
    rates = [size * (STEPS - WARMUP_STEPS) / ours.wall for ours, _ in pairs]
    shape = (
        f"{size} x {plan.config.data.prepare.sequence_length} tokens, fp32, one rank, "
        f"{plan.threads_per_rank} threads; first loss differs by {difference:.1g}"
    )
    yield Figure(
        name="train.tiny.32.samples_per_second",
        value=median(rates),
        unit="samples/s",
        better="higher",
        against=f"{spread(rates)}; {shape}",
    )
    for name, ratios in (
        ("vs_hf_trainer", [theirs.wall / ours.wall for ours, theirs in pairs]),
        ("vs_hf_trainer_cpu", [theirs.cpu / ours.cpu for ours, theirs in pairs]),
    ):
        yield Figure(
            name=f"train.tiny.32.{name}",
            value=median(ratios),
            unit="x",
            better="higher",
            against=f"{spread(ratios)}, in turn; Trainer's defaults (AdamW); {shape}",
        )


def _plan(scratch: Path) -> RunPlan:
    loaded = load_config(PRESET, [f"data.path={scratch / 'data'}", "launch.nproc_per_node=1"])
    config = loaded.config
    prepare(config.data.prepare, config.data.path, lambda text: None)
    surroundings = Surroundings(
        benchmark=BERT,
        manifest=load_manifest(config.data.path),
        machine=probe_machine(),
        results=scratch,
    )
    return resolve(loaded, surroundings, run_index=0, seed=1, now=datetime.now(UTC))


def _loss_difference(engine: NativeEngine, samples: Samples, plan: RunPlan) -> float:
    """Return how far the losses of the first batch are apart, relative; refuse to go on if far."""
    batch = pad([samples[index] for index in range(plan.batch.global_batch_size)])
    with torch.no_grad():
        theirs = float(engine.model(**batch).loss)
    ours = engine.step(1, learning_rate=0.0).loss
    difference = abs(ours - theirs) / theirs
    if difference > 1e-4:
        raise AssertionError(f"losses differ: {ours} and {theirs}; a ratio would mean nothing")
    return difference


def _native_block(engine: NativeEngine, first_step: int) -> Timer:
    timer = Timer()
    for step in range(1, STEPS + 1):
        engine.step(first_step + step, learning_rate=1e-3)
        timer.mark(step)
    return timer


def _trainer_block(
    model: BertForPreTraining, samples: Samples, plan: RunPlan, scratch: str
) -> Timer:
    timer = Timer()
    arguments = TrainingArguments(
        output_dir=scratch,
        per_device_train_batch_size=plan.batch.global_batch_size,
        max_steps=STEPS,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        dataloader_pin_memory=False,
        train_sampling_strategy="sequential",
    )
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=samples,
        data_collator=pad,
        callbacks=[timer],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return timer
