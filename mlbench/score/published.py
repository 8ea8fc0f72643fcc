"""Published BERT results without their logs: figures of every official round, shipped as a table.

Each line of ``published_bert.jsonl`` is an entry as our own reader and scorer found it in the
repository of its round, single runs included, so that it can be compared with its interval.
``make published`` writes it anew; nothing in it is typed by hand.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from mlbench.score import BenchmarkResult, RunResult, Throughput
from mlbench.submission import EntryKey, SystemDescription
from mlbench.vocabulary import RunStatus

TABLE = "published_bert.jsonl"

_FIELDS = (
    *("division", "status", "framework", "number_of_nodes", "accelerators_per_node"),
    "accelerator_model_name",
)
"""What the table keeps of a systems file."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """An entry, and what today's rule set says of its logs."""

    result: BenchmarkResult
    ruleset: str | None
    """The round's rule set; None where the checker does not have it."""
    checker: str | None
    num_passed: int
    """Logs that pass it."""


def rounds() -> list[str]:
    """Return the rounds of the table, oldest first."""
    names = {row.result.key.round for row in table()}
    return sorted(names, key=lambda name: [int(part) for part in name[1:].split(".")])


@cache
def table() -> tuple[PublishedRow, ...]:
    """Return the whole table."""
    text = files("mlbench.score").joinpath(TABLE).read_bytes()
    return tuple(map(decode, filter(None, text.split(b"\n"))))


def published(wanted: Iterable[str]) -> list[PublishedRow]:
    """Return the rows of some rounds."""
    chosen = set(wanted)
    return [row for row in table() if row.result.key.round in chosen]


def encode(row: PublishedRow) -> bytes:
    """Return a row as a line of the table."""
    result = row.result
    rate = result.throughput
    record = {
        "key": [result.key.round, result.key.submitter, result.key.system, result.key.benchmark],
        "described": {name: result.description.fields.get(name) for name in _FIELDS},
        "description_problem": result.description.problem,
        "division": result.division,
        "minutes": result.minutes,
        "raw_minutes": result.raw_minutes,
        "scaling_factor": result.scaling_factor,
        "throughput": [rate.end_to_end, rate.steady, rate.source] if rate else None,
        "samples_to_target": result.samples_to_target,
        "runs_expected": result.runs_expected,
        "is_complete": result.is_complete,
        "problems": result.problems,
        "rules": [row.ruleset, row.checker, row.num_passed],
        "kept": [result.runs.index(run) for run in result.kept],
        "runs": list(map(_encode_run, result.runs)),
    }
    return orjson.dumps(record) + b"\n"


def _encode_run(run: RunResult) -> list[Any]:
    status = run.run_status.value if run.run_status else None
    return [
        *(run.file, run.digest, run.elapsed, status, run.start_ms, run.num_samples),
        *(run.samples_source, run.logged_throughput, run.global_batch_size),
    ]


def decode(line: bytes) -> PublishedRow:
    """Return the row of a line that ``encode`` made."""
    record: dict[str, Any] = orjson.loads(line)
    key = EntryKey(*record["key"])
    runs = tuple(map(_decode_run, record["runs"]))
    result = BenchmarkResult(
        key=key,
        path=Path(f"training_results_{key.round}", key.submitter, "results", key.system)
        / key.benchmark,
        description=SystemDescription(record["described"], record["description_problem"]),
        runs=runs,
        kept=tuple(runs[number] for number in record["kept"]),
        runs_expected=record["runs_expected"],
        minutes=record["minutes"],
        raw_minutes=record["raw_minutes"],
        scaling_factor=record["scaling_factor"],
        throughput=Throughput(*record["throughput"]) if record["throughput"] else None,
        samples_to_target=record["samples_to_target"],
        division=record["division"],
        is_complete=record["is_complete"],
        problems=tuple(record["problems"]),
    )
    return PublishedRow(result, *record["rules"])


def _decode_run(fields: list[Any]) -> RunResult:
    file, digest, elapsed, status, start_ms, samples, source, logged, batch = fields
    return RunResult(
        file=file,
        digest=digest,
        elapsed=elapsed,
        run_status=RunStatus(status) if status else None,
        start_ms=start_ms,
        evaluations=(),
        num_samples=samples,
        samples_source=source,
        convergence=None,
        logged_throughput=logged,
        quality_target=None,
        global_batch_size=batch,
        seeds=(),
        stated={},
        hyperparameters={},
        problems=(),
    )


def without_those_at_hand(
    rows: Iterable[PublishedRow], at_hand: Iterable[BenchmarkResult]
) -> Iterator[PublishedRow]:
    """Yield the rows whose logs have not been read as well."""
    keys = {result.key for result in at_hand}
    return (row for row in rows if row.result.key not in keys)
