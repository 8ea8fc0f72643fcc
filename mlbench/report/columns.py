"""The columns of a leaderboard: what each is called, where its value comes from, how it reads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mlbench.report import NOTHING, Cell, Column
from mlbench.report.rules import RulesetVerdict, ruleset_of_round
from mlbench.score import BenchmarkResult
from mlbench.score.leaderboard import Ranking, Standing
from mlbench.score.select import date_of
from mlbench.score.statistics import Verdict
from mlbench.submission.names import framework_family
from mlbench.vocabulary import printable

_UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Row:
    """An entry where it stands."""

    ranking: Ranking
    standing: Standing
    verdict: RulesetVerdict | None

    @property
    def result(self) -> BenchmarkResult:
        """The entry."""
        return self.standing.result


def plain(value: Any) -> str:
    """Return a value as people read it."""
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return _UNKNOWN if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Field:
    """A column, where its value comes from, and how people read it."""

    column: Column
    value: Callable[[Row], Any]
    text: Callable[[Any], str] = plain
    row_text: Callable[[Row], str] | None = None
    """Where the value alone does not tell what people read."""

    def cell(self, row: Row) -> Cell:
        """Return the field of a row."""
        value = self.value(row)
        return Cell(value, self.row_text(row) if self.row_text else self.text(value))


def _number(form: str) -> Callable[[Any], str]:
    return lambda value: NOTHING if value is None else format(value, form)


def _span(form: str) -> Callable[[Any], str]:
    return lambda value: (
        NOTHING if value is None else "-".join(format(each, form) for each in value)
    )


def _compared(name: str) -> Callable[[Row], Any]:
    return lambda row: getattr(row.standing.comparison, name, None)


def _described(name: str) -> Callable[[Row], Any]:
    return lambda row: row.result.description.text(name)


FIELDS = (
    Field(
        Column("rank", "#", is_number=True, is_kept=True),
        lambda row: row.standing.rank,
        _number("d"),
    ),
    Field(Column("submitter", "submitter"), lambda row: row.result.key.submitter),
    Field(Column("system", "system"), lambda row: row.result.key.system),
    Field(Column("accelerators", "accelerators", spare=5), lambda row: _accelerators(row.result)),
    Field(Column("framework", "framework", spare=7), _described("framework")),
    Field(
        Column("minutes", "minutes", is_number=True, is_kept=True),
        lambda row: row.result.minutes,
        _number(".3f"),
    ),
    Field(
        Column("spread_minutes", "min-max", is_number=True, spare=1),
        lambda row: row.result.spread_minutes,
        _span(".3f"),
    ),
    Field(Column("ratio", "ratio", is_number=True), _compared("ratio"), _number(".3f")),
    Field(
        Column("interval", "95 %", is_number=True, spare=2),
        lambda row: _interval(row),
        _span(".3f"),
    ),
    Field(
        Column("verdict", "verdict", spare=3),
        _compared("verdict"),
        row_text=lambda row: _verdict_text(row),
    ),
    Field(
        Column("samples_per_second", "samples/s", is_number=True),
        lambda row: row.result.throughput and row.result.throughput.end_to_end,
        _number(",.0f"),
    ),
    Field(
        Column("samples_per_second_per_accelerator", "per acc.", is_number=True, spare=4),
        lambda row: row.result.throughput_per_accelerator,
        _number(",.1f"),
    ),
    Field(
        Column("samples_per_second_steady", "steady", is_number=True, spare=11),
        lambda row: row.result.throughput and row.result.throughput.steady,
        _number(",.0f"),
    ),
    Field(
        Column("samples_to_target", "samples", is_number=True, spare=8),
        lambda row: row.result.samples_to_target,
        _number(",.0f"),
    ),
    Field(
        Column("samples_ratio", "x samples", is_number=True, spare=9),
        _compared("samples_ratio"),
        _number(".3f"),
    ),
    Field(
        Column("throughput_ratio", "x speed", is_number=True, spare=10),
        _compared("throughput_ratio"),
        _number(".3f"),
    ),
    Field(
        Column("runs_found", "runs", is_number=True, spare=6),
        lambda row: len(row.result.runs),
        row_text=lambda row: f"{row.result.runs_converged}/{plain(row.result.runs_expected)}",
    ),
    Field(
        Column("marks", "marks"),
        lambda row: list(_marks(row)),
        ", ".join,
    ),
    Field(Column("benchmark", "benchmark", is_shown=False), lambda row: row.result.key.benchmark),
    Field(Column("round", "round", is_shown=False), lambda row: row.result.key.round),
    Field(Column("division", "division", is_shown=False), lambda row: row.result.division),
    Field(Column("availability", "availability", is_shown=False), _described("status")),
    Field(
        Column("date", "date", is_shown=False),
        lambda row: day.isoformat() if (day := date_of(row.result)) else None,
    ),
    Field(
        Column("quality_target", "target", is_number=True, is_shown=False),
        lambda row: row.ranking.key.quality_target,
    ),
    Field(
        Column("num_nodes", "nodes", is_number=True, is_shown=False),
        lambda row: row.result.num_nodes,
    ),
    Field(
        Column("num_accelerators", "count", is_number=True, is_shown=False),
        lambda row: row.result.num_accelerators,
    ),
    Field(Column("accelerator", "accelerator", is_shown=False), lambda row: row.result.accelerator),
    Field(
        Column("accelerator_model_name", "accelerator as filed", is_shown=False),
        _described("accelerator_model_name"),
    ),
    Field(
        Column("framework_family", "framework family", is_shown=False),
        lambda row: framework_family(row.result.description.text("framework")),
    ),
    Field(
        Column("runs_expected", "runs expected", is_number=True, is_shown=False),
        lambda row: row.result.runs_expected,
    ),
    Field(
        Column("runs_converged", "runs converged", is_number=True, is_shown=False),
        lambda row: row.result.runs_converged,
    ),
    Field(
        Column("raw_minutes", "raw minutes", is_number=True, is_shown=False),
        lambda row: row.result.raw_minutes,
        _number(".3f"),
    ),
    Field(
        Column("scaling_factor", "factor", is_number=True, is_shown=False),
        lambda row: row.result.scaling_factor,
        _number(".6f"),
    ),
    Field(Column("ci_low", "low", is_number=True, is_shown=False), _compared("low")),
    Field(Column("ci_high", "high", is_number=True, is_shown=False), _compared("high")),
    Field(
        Column("throughput_source", "samples from", is_shown=False),
        lambda row: _throughput_source(row.result),
    ),
    Field(
        Column("logged_throughput", "logged throughput", is_number=True, is_shown=False),
        lambda row: _logged_throughput(row.result),
        _number(",.1f"),
    ),
    Field(
        Column("global_batch_size", "batch", is_number=True, is_shown=False),
        lambda row: _batch(row.result),
    ),
    Field(
        Column("scorable", "scorable", is_shown=False), lambda row: row.result.minutes is not None
    ),
    Field(
        Column("ruleset", "rule set", is_shown=False),
        lambda row: row.verdict.ruleset if row.verdict else ruleset_of_round(row.result.key.round),
    ),
    Field(
        Column("ruleset_pass", "passes", is_shown=False),
        lambda row: row.verdict.passed if row.verdict else None,
        row_text=lambda row: _passes(row.verdict),
    ),
    Field(
        Column("checker", "checker", is_shown=False),
        lambda row: row.verdict.checker if row.verdict else None,
    ),
    Field(Column("path", "path", is_shown=False), lambda row: printable(row.result.path)),
    Field(Column("problems", "problems", is_shown=False), lambda row: list(problems(row.result))),
)


def _interval(row: Row) -> tuple[float, float] | None:
    found = row.standing.comparison
    return (found.low, found.high) if found and found.low is not None and found.high else None


def _verdict_text(row: Row) -> str:
    if row.result is row.ranking.reference:
        return "reference"
    found = row.standing.comparison
    return NOTHING if found is None or found.verdict is None else _SHORT[found.verdict]


_SHORT = {Verdict.FASTER: "faster", Verdict.SLOWER: "slower", Verdict.SAME: "same"}


def _passes(verdict: RulesetVerdict | None) -> str:
    return "not asked" if verdict is None else f"{verdict.num_passed}/{verdict.num_logs}"


def _marks(row: Row) -> Iterator[str]:
    """Yield what keeps a row from being taken for more than it is."""
    yield from row.standing.marks
    if not row.result.is_complete:
        yield "not ranked"
    if row.result.scaling_factor is not None and row.result.scaling_factor != 1:
        yield f"x {row.result.scaling_factor:.4f}"


def _accelerators(result: BenchmarkResult) -> str:
    """Return such as ``64 x A100-SXM-80GB``; a system without any computes on CPUs."""
    count = result.num_accelerators
    if count == 0:
        nodes = result.num_nodes
        return f"none; CPUs of {nodes} node{'s' * (nodes != 1)}"
    return f"{plain(count)} x {result.accelerator or _UNKNOWN}"


def _batch(result: BenchmarkResult) -> int | None:
    batches = {run.global_batch_size for run in result.runs}
    return batches.pop() if len(batches) == 1 else None


def _throughput_source(result: BenchmarkResult) -> str:
    if result.throughput:
        return result.throughput.source
    reasons = dict.fromkeys(run.samples_source for run in result.kept if run.num_samples is None)
    return f"n/a: {'; '.join(reasons) or 'no run counts'}"


def _logged_throughput(result: BenchmarkResult) -> float | None:
    """Return the mean of what the runs themselves logged; units differ between benchmarks."""
    logged = [run.logged_throughput for run in result.kept if run.logged_throughput is not None]
    return sum(logged) / len(logged) if logged and len(logged) == len(result.kept) else None


def problems(result: BenchmarkResult) -> Iterator[str]:
    """Yield everything that is odd about an entry."""
    if result.description.problem:
        yield result.description.problem
    yield from result.problems
