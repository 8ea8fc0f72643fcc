"""Leaderboard to tables: one a group, fastest first."""

from collections.abc import Iterator
from typing import Any

from mlbench.report import Cell, Column, Report, Table
from mlbench.score import BenchmarkResult
from mlbench.score.leaderboard import Leaderboard, Ranking, Standing
from mlbench.vocabulary import UNVERIFIED

COLUMNS = (
    Column("rank", "#", is_number=True),
    Column("submitter", "submitter"),
    Column("system", "system"),
    Column("accelerators", "accelerators", spare=2),
    Column("framework", "framework", spare=3),
    Column("minutes", "minutes", is_number=True),
    Column("spread_minutes", "min-max", is_number=True),
    Column("ratio", "ratio", is_number=True, spare=1),
    Column("samples_per_second", "samples/s", is_number=True),
    Column("runs_found", "runs", is_number=True),
    Column("round", None),
    Column("benchmark", None),
    Column("division", None),
    Column("quality_target", None),
    Column("availability", None),
    Column("num_nodes", None),
    Column("num_accelerators", None),
    Column("accelerator", None),
    Column("runs_expected", None),
    Column("runs_converged", None),
    Column("raw_minutes", None),
    Column("scaling_factor", None),
    Column("samples_to_target", None),
    Column("throughput_source", None),
    Column("global_batch_size", None),
    Column("is_complete", None),
    Column("path", None),
    Column("problems", None),
)

_UNKNOWN = "?"
_NONE = "-"


def leaderboard_report(board: Leaderboard, inputs: tuple[str, ...]) -> Report:
    """Return the tables of a leaderboard."""
    return Report(inputs, tuple(map(_table, board.rankings)))


def _table(ranking: Ranking) -> Table:
    rows = tuple(_row(ranking, standing) for standing in ranking.standings)
    return Table(
        title=str(ranking.key),
        group={
            "benchmark": ranking.key.benchmark,
            "round": ranking.key.round,
            "division": ranking.key.division,
            "quality_target": ranking.key.quality_target,
        },
        columns=COLUMNS,
        rows=rows,
        notes=tuple(_notes(ranking)),
    )


def _row(ranking: Ranking, standing: Standing) -> tuple[Cell, ...]:
    cells = _cells(ranking, standing)
    return tuple(cells[column.key] for column in COLUMNS)


def _cells(ranking: Ranking, standing: Standing) -> dict[str, Cell]:
    result, key = standing.result, standing.result.entry.key
    description = result.entry.description
    batches = {run.global_batch_size for run in result.runs}
    values = {
        "submitter": key.submitter,
        "system": key.system,
        "framework": description.text("framework"),
        "round": key.round,
        "benchmark": key.benchmark,
        "division": ranking.key.division,
        "quality_target": ranking.key.quality_target,
        "availability": description.text("status"),
        "num_nodes": description.count("number_of_nodes"),
        "num_accelerators": _num_accelerators(result),
        "accelerator": description.text("accelerator_model_name"),
        "runs_expected": result.runs_expected,
        "runs_converged": result.runs_converged,
        "raw_minutes": result.raw_minutes,
        "scaling_factor": result.entry.scaling_factor,
        "samples_to_target": result.samples_to_target,
        "throughput_source": result.samples_source,
        "global_batch_size": batches.pop() if len(batches) == 1 else None,
        "is_complete": result.is_complete,
        "path": str(result.entry.folder),
        "problems": list(_problems(result)),
    }
    cells = {name: Cell(value, _text(value)) for name, value in values.items()}
    return cells | {
        "rank": Cell(standing.rank, _optional(standing.rank, "d")),
        "accelerators": Cell(_accelerators(result), _accelerators(result)),
        "minutes": Cell(result.minutes, _optional(result.minutes, ".3f")),
        "spread_minutes": Cell(result.spread_minutes, _spread(result)),
        "ratio": Cell(standing.ratio, _optional(standing.ratio, ".3f")),
        "samples_per_second": Cell(
            result.samples_per_second, _optional(result.samples_per_second, ",.0f")
        ),
        "runs_found": Cell(
            len(result.runs), f"{result.runs_converged}/{_text(result.runs_expected)}"
        ),
    }


def _text(value: Any) -> str:
    return _UNKNOWN if value is None else str(value)


def _optional(value: float | None, form: str) -> str:
    return _NONE if value is None else format(value, form)


def _spread(result: BenchmarkResult) -> str:
    if result.spread_minutes is None:
        return _NONE
    return "-".join(format(minutes, ".3f") for minutes in result.spread_minutes)


def _num_accelerators(result: BenchmarkResult) -> int | None:
    description = result.entry.description
    nodes = description.count("number_of_nodes")
    each = description.count("accelerators_per_node")
    return nodes * each if nodes is not None and each is not None else None


def _accelerators(result: BenchmarkResult) -> str:
    """Return such as ``64 x NVIDIA A100-SXM4-80GB``; a system without any computes on CPUs."""
    description, count = result.entry.description, _num_accelerators(result)
    if count == 0:
        nodes = description.count("number_of_nodes")
        return f"none; CPUs of {nodes} node{'s' * (nodes != 1)}"
    return f"{_text(count)} x {description.text('accelerator_model_name') or _UNKNOWN}"


def _problems(result: BenchmarkResult) -> Iterator[str]:
    if result.entry.description.problem:
        yield result.entry.description.problem
    yield from result.problems


def _notes(ranking: Ranking) -> Iterator[str]:
    if ranking.key.round == UNVERIFIED:
        yield "these runs are unverified: MLCommons has not reviewed them"
    for standing in ranking.standings:
        key = standing.result.entry.key
        for problem in _problems(standing.result):
            yield f"{key.submitter}/{key.system}: {problem}"
