"""Logs that tests make: events, files, trees."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
    folder.mkdir(parents=True)
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
