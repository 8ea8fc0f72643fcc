"""Results that tests make without logs: runs of given times, entries of given runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mlbench.report.gather import gather
from mlbench.score import BenchmarkResult, Evaluation, RunResult
from mlbench.score.entry import score_entry
from mlbench.submission import Entry, EntryKey, SystemDescription
from mlbench.vocabulary import Milliseconds, RunStatus, Seconds
from tests.logs import START_MS


def run_result(
    minutes: float, samples: float | None = 600_000.0, *, number: int = 0, **changes: Any
) -> RunResult:
    """A converged run, evaluated at its middle and its end."""
    seconds = minutes * 60
    counts = (None, None) if samples is None else (samples / 2, samples)
    fields: dict[str, Any] = {
        "file": f"result_{number}.txt",
        "digest": f"{number}",
        "elapsed": Seconds(seconds),
        "run_status": RunStatus.SUCCESS,
        "start_ms": Milliseconds(START_MS),
        "evaluations": (
            Evaluation(Seconds(seconds / 2), 0.70, counts[0]),
            Evaluation(Seconds(seconds), 0.72, counts[1]),
        ),
        "num_samples": samples,
        "samples_source": "S1 eval_accuracy.epoch_num",
        "convergence": samples,
        "logged_throughput": None,
        "quality_target": None,
        "global_batch_size": 64,
        "seeds": (number,),
        "stated": {},
        "hyperparameters": {},
        "problems": (),
    }
    return RunResult(**(fields | changes))


_MISSED = {"run_status": RunStatus.ABORTED}


def result(
    times: Sequence[float | None],
    *,
    samples: float | None = 600_000.0,
    name: str = "v2.0/acme/box/bert",
    accelerators: int = 8,
    described: dict[str, Any] | None = None,
    **changes: Any,
) -> BenchmarkResult:
    """An entry with runs of these minutes; None for a run that missed its target."""
    runs = [
        run_result(
            minutes or 1.0,
            samples,
            number=number,
            **({"digest": f"{name}{number}"} | (changes if minutes else _MISSED)),
        )
        for number, minutes in enumerate(times)
    ]
    fields = {
        "division": "closed",
        "status": "onprem",
        "number_of_nodes": "1",
        "accelerators_per_node": str(accelerators),
        "accelerator_model_name": "Chip",
        "framework": "PyTorch",
    }
    entry = Entry(
        key=EntryKey(*name.split("/")),
        folder=Path(name),
        description=SystemDescription(fields | (described or {})),
        logs=(),
    )
    return score_entry(entry, runs)


def read_results(*paths: Path) -> list[BenchmarkResult]:
    """The entries at some paths."""
    return gather(paths, lambda *_: None, use_cache=False)
