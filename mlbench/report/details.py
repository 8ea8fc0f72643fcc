"""What a page tells of a row when it is opened: runs, seeds, hyperparameters, system, problems."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mlbench.report.columns import plain, problems
from mlbench.report.points import AVERAGED, LEFT_OUT, MISSED
from mlbench.score import BenchmarkResult, RunResult

RUN_HEADINGS = (
    "run",
    "is",
    "minutes",
    "samples",
    "samples/s",
    "evaluations",
    "last accuracy",
    "seeds",
    "batch",
    "problems",
)

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Details:
    """The parts, ready to be read."""

    problems: tuple[str, ...]
    runs: tuple[tuple[str, ...], ...]
    """A text for each of ``RUN_HEADINGS``."""
    hyperparameters: Pairs
    system: Pairs


def details(result: BenchmarkResult) -> Details:
    """Return what is told of an entry."""
    kept = {id(run) for run in result.kept}
    return Details(
        problems=tuple(problems(result)),
        runs=tuple(_run(run, id(run) in kept) for run in result.runs),
        hyperparameters=_hyperparameters([run.hyperparameters for run in result.runs]),
        system=_pairs(result.description.fields),
    )


def _run(run: RunResult, is_kept: bool) -> tuple[str, ...]:
    has_rate = run.num_samples is not None and run.elapsed
    status = run.run_status.value if run.run_status else "no run_stop"
    state = AVERAGED if is_kept else LEFT_OUT if run.is_converged else f"{MISSED}: {status}"
    return (
        run.file,
        state,
        _number(run.minutes if run.elapsed is not None else None, ".3f"),
        _number(run.num_samples, ",.0f"),
        _number(run.num_samples / run.elapsed if has_rate else None, ",.0f"),  # type: ignore[operator]
        str(len(run.evaluations)),
        _number(run.accuracy, ".5f"),
        ", ".join(map(str, run.seeds)) or "-",
        _number(run.global_batch_size, ",d"),
        "; ".join(run.problems),
    )


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _hyperparameters(runs: Iterable[Mapping[str, Any]]) -> Pairs:
    """Return what the runs were told; where they differ, each value once."""
    values: dict[str, dict[str, None]] = {}
    for run in runs:
        for key, value in run.items():
            values.setdefault(key, {})[plain(value)] = None
    return tuple((key, "  |  ".join(found)) for key, found in sorted(values.items()))


def _pairs(fields: Mapping[str, Any]) -> Pairs:
    pairs = ((str(key), _words(value).strip()) for key, value in fields.items())
    return tuple((key, text) for key, text in pairs if text)


def _words(value: Any) -> str:
    """Return a value of a systems file; some are lists of software and versions."""
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_words(each)}" for key, each in value.items())
    return plain(value)
