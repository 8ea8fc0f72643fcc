"""Logs that tests make: events, files, trees."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mlbench.runlog import RunLog
from mlbench.runlog.read import read_log
from mlbench.score import BenchmarkResult, RunResult
from mlbench.score.entry import score_entry
from mlbench.score.run import SCORED_KEYS, score_run
from mlbench.submission import Entry
from mlbench.submission.store import read_entry

START_MS = 1_700_000_000_000


def line(key: str, value: Any = None, time_ms: float = START_MS, **metadata: Any) -> str:
    """One event, as mlperf-logging writes it."""
    event = {
        "namespace": "",
        "time_ms": time_ms,
        "event_type": "POINT_IN_TIME",
        "key": key,
        "value": value,
        "metadata": {"file": "x.py", "lineno": 1, **metadata},
    }
    return f":::MLLOG {json.dumps(event)}\n"


def run_log(
    seconds: float = 60.0,
    *,
    status: str | None = "success",
    samples: int = 600_000,
    seed: int = 1,
    batch: int = 64,
    extra: Iterable[str] = (),
) -> str:
    """A run of some seconds, evaluated at its middle and its end."""
    stop = START_MS + seconds * 1000
    lines = [
        line("submission_benchmark", "bert"),
        line("submission_division", "closed"),
        line("seed", seed),
        line("global_batch_size", batch),
        *extra,
        line("run_start"),
        line("eval_accuracy", 0.70, START_MS + seconds * 500, epoch_num=samples // 2),
        line("eval_accuracy", 0.72, stop, epoch_num=samples),
    ]
    if status:
        lines.append(line("run_stop", None, stop, status=status))
    return "".join(lines)


def write_entry(
    root: Path,
    logs: Iterable[str],
    *,
    submitter: str = "acme",
    system: str = "box",
    benchmark: str = "bert",
    description: dict[str, Any] | None = None,
) -> Path:
    """An entry in MLPerf's layout; returns the folder of its logs."""
    folder = root / submitter / "results" / system / benchmark
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(logs):
        (folder / f"result_{number}.txt").write_text(text, "utf-8")
    fields = {
        "division": "closed",
        "status": "onprem",
        "number_of_nodes": "1",
        "accelerators_per_node": "8",
        "accelerator_model_name": "Chip",
        "framework": "PyTorch",
    }
    systems = root / submitter / "systems"
    systems.mkdir(exist_ok=True)
    (systems / f"{system}.json").write_text(json.dumps(fields | (description or {})), "utf-8")
    return folder


def write_log(folder: Path, data: str | bytes, name: str = "result_0.txt") -> Path:
    """A file with these bytes."""
    file = folder / name
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return file


def logged(folder: Path, data: str | bytes) -> RunLog:
    """A log with these bytes, read from a file: its lines can be told."""
    return read_log(write_log(folder, data))


def scored_file(file: Path, benchmark: str = "bert") -> RunResult:
    """The run of a log file."""
    digest = hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
    return score_run(read_log(file, SCORED_KEYS), benchmark, digest)


def scored(folder: Path, data: str | bytes, benchmark: str = "bert") -> RunResult:
    """The run of a log with these bytes."""
    return scored_file(write_log(folder, data), benchmark)


def scored_entry(entry: Entry) -> BenchmarkResult:
    """The result of an entry, its logs read."""
    return score_entry(entry, [scored_file(log, entry.key.benchmark) for log in entry.logs])


def scored_folder(folder: Path) -> BenchmarkResult:
    """The result of the entry in a folder."""
    return scored_entry(read_entry(folder))
