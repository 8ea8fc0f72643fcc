"""A round to measure with: 2,000 logs, 500 MB, in the proportions of the published round v2.1.

How many events of which key a log has, how much other text, line endings and labels of ranks were
counted there; what the events say is made up. The same bytes come out every time.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mlbench.atomic import write_atomically
from mlbench.submission.description import REQUIRED_FIELDS
from tests.logs import START_MS

VERSION = 1
"""Counted up when the tree changes."""
CRLF_SHARE = 0.46
BUFFER = 2700
"""Bytes of other text that come at once, behind some twenty events."""


class Shape(NamedTuple):
    """The logs of one benchmark."""

    entries: int
    runs: int
    """Logs of an entry."""
    labels: float
    """Share of logs with the label of a rank before each event."""
    text: int
    """Bytes of other text in a log."""
    keys: dict[str, int]
    """Events of a log, besides those that each has once."""


EPOCHS = ("epoch_start", "epoch_stop")
EVALS = ("eval_start", "eval_accuracy", "eval_stop")
BLOCKS = ("block_start", "block_stop")

SHAPES = {
    "bert": Shape(
        *(51, 10, 0.36, 70_000),
        {"init_start": 184, "weights_initialization": 364, "cache_clear": 24}
        | dict.fromkeys(BLOCKS, 2)
        | {"eval_accuracy": 17},
    ),
    "resnet": Shape(
        *(40, 5, 0.0, 215_000),
        {"weights_initialization": 161, "init_start": 148, "throughput": 36, "tracked_stats": 35}
        | dict.fromkeys(EPOCHS, 36)
        | dict.fromkeys(EVALS + BLOCKS, 10),
    ),
    "maskrcnn": Shape(
        *(26, 5, 0.31, 340_000),
        {"tracked_stats": 330, "throughput": 330, "init_start": 37, "weights_initialization": 21}
        | dict.fromkeys(EPOCHS + EVALS + BLOCKS, 15),
    ),
    "dlrm": Shape(*(17, 5, 0.0, 25_000), {"weights_initialization": 9} | dict.fromkeys(EVALS, 17)),
    "rnnt": Shape(
        *(23, 10, 0.0, 62_000),
        {"init_start": 91, "throughput": 50, "cache_clear": 11, "weights_initialization": 7}
        | dict.fromkeys(EPOCHS + EVALS + BLOCKS, 55),
    ),
    "ssd": Shape(
        *(23, 5, 0.0, 66_000),
        {"seed": 164, "status": 164, "weights_initialization": 89, "cache_clear": 21}
        | dict.fromkeys(EPOCHS + EVALS, 5)
        | {"tracked_stats": 5},
    ),
    "unet3d": Shape(
        *(16, 40, 0.0, 36_000),
        {"weights_initialization": 50, "tracked_stats": 113, "throughput": 98, "current_lr": 98}
        | dict.fromkeys(BLOCKS, 113)
        | dict.fromkeys(EVALS, 63),
    ),
    "minigo": Shape(
        *(9, 10, 0.0, 5_000),
        {"actual_selfplay_games_per_generation": 293, "throughput": 59, "tracked_stats": 59}
        | {"save_model": 59}
        | dict.fromkeys(EPOCHS, 59)
        | dict.fromkeys(EVALS, 46),
    ),
}

CHATTER = (
    "ip-0A{a}:{b}:{a} [6] NCCL INFO Channel {a:02} : {b}[b00000] -> {a}[200000] via P2P/IPC/read",
    " {a}%|####      | {a}/1000 [00:{a}<00, {b}.48it/s]\r {a}%|######    | {b}/1000 [00:01<00]",
    "Epoch [{a}]  [{b}/9143]  eta 0:37:38  lr 0.0{b}  time 0.{b}  data 0.0003  max mem {b}",
    "2022-10-06 03:06,{b} model_serialization INFO backbone.body.layer2.{a}.conv1.weight "
    "          loaded from layer2.{a}.conv1.weight    of shape ({b}, 256, 1, 1)",
    "5 When using more than one image per device you may run out of memory if it has not enough.",
    "+ export LR=0.0{b} WALLTIME={b} MLPERF_CLUSTER={a}",
    "Gradient overflow.  Skipping step, GPU loss scaler {a} reducing loss scale to {b}.0",
    "",
)
"""Lines as logs have them; the letters that ``grep`` looks for are as frequent as there."""


def make_round(folder: Path) -> Path:
    """Return the tree, made unless it is there."""
    root = folder / f"round-{VERSION}" / "training_results_v2.1"
    done = root.parent / "done"
    if not done.exists():
        for benchmark, shape in SHAPES.items():
            for number in range(shape.entries):
                _make_entry(root / f"submitter{number}", benchmark, shape, number)
        write_atomically(done, "")
    return root


def bert_part(root: Path) -> list[Path]:
    """Return the folders of BERT's entries."""
    return sorted(root.glob("*/results/*/bert"))


def _make_entry(submitter: Path, benchmark: str, shape: Shape, number: int) -> None:
    system = f"box{number}"
    folder = submitter / "results" / system / benchmark
    folder.mkdir(parents=True, exist_ok=True)
    stated = {"division": "closed", "status": "onprem", "system_name": system}
    description = dict.fromkeys(REQUIRED_FIELDS, "1") | {"submitter": submitter.name} | stated
    (submitter / "systems").mkdir(exist_ok=True)
    (submitter / "systems" / f"{system}.json").write_text(json.dumps(description), "utf-8")
    for run in range(shape.runs):
        draw = random.Random(f"{benchmark} {number} {run}")
        label = "{:2d}: " if draw.random() < shape.labels else ""
        end = "\r\n" if draw.random() < CRLF_SHARE else "\n"
        lines = _lines(benchmark, shape, draw)
        text = "".join(
            (label.format(draw.randrange(8)) if each.startswith(":") else "") + each + end
            for each in lines
        )
        (folder / f"result_{run}.txt").write_bytes(text.encode())


def _lines(benchmark: str, shape: Shape, draw: random.Random) -> Iterator[str]:
    """Yield the lines of a log: what each has once, then its events and other text in turn."""
    time = START_MS
    for key, value in (
        *(("submission_benchmark", f'"{benchmark}"'), ("submission_org", '"Acme"')),
        *(("submission_division", '"closed"'), ("submission_status", '"onprem"')),
        *(("submission_platform", '"box"'), ("seed", str(draw.randrange(2**32)))),
        *(("global_batch_size", "448"), ("train_samples", "156725653"), ("eval_samples", "10000")),
        *(("opt_base_learning_rate", "0.00035"), ("opt_epsilon", "1e-06")),
        *(("max_sequence_length", "512"), ("gradient_accumulation_steps", "1")),
    ):
        yield _event(time, key, value)
    yield _event(time, "init_stop", "null")
    yield _event(time, "run_start", "null")
    keys = [key for key, count in shape.keys.items() for _ in range(count)]
    draw.shuffle(keys)
    room = 0
    seen: dict[str, int] = {}
    for key in keys:
        time += draw.randrange(1, 3000)
        seen[key] = seen.get(key, 0) + 1
        yield _event(time, key, _value(key, draw), _metadata(key, seen[key]))
        room += shape.text // len(keys)
        if room > BUFFER:
            yield from _chatter(room, draw)
            room = 0
    yield _event(time + 5, "run_stop", "null", ', "status": "success"')


def _event(time: int, key: str, value: str, metadata: str = "") -> str:
    return (
        f':::MLLOG {{"namespace": "", "time_ms": {time}, "event_type": "POINT_IN_TIME", '
        f'"key": "{key}", "value": {value}, '
        f'"metadata": {{"file": "/workspace/model/run_training.py", "lineno": 820{metadata}}}}}'
    )


def _value(key: str, draw: random.Random) -> str:
    if key == "tracked_stats":
        losses = ", ".join(f'"loss_{n}": {draw.random()}' for n in range(8))
        return f'{{"throughput": {1000 * draw.random()}, {losses}}}'
    if key in ("throughput", "current_lr", "eval_accuracy"):
        return str(draw.random())
    return str(draw.randrange(2**32)) if key == "seed" else "null"


def _metadata(key: str, count: int) -> str:
    if key in EVALS or key in EPOCHS:
        return f', "epoch_num": {count * 136_000}'
    if key in BLOCKS:
        return f', "first_epoch_num": {count}, "epoch_count": 20'
    if key == "weights_initialization":
        return f', "tensor": "bert/encoder/layer_{count % 24}/attention/self/query/bias"'
    return ""


def _chatter(room: int, draw: random.Random) -> Iterator[str]:
    while room > 0:
        text = draw.choice(CHATTER).format(a=draw.randrange(10, 100), b=draw.randrange(100, 1000))
        room -= len(text) + 1
        yield text
