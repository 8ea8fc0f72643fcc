"""Leaderboard to tables: one a group, best first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mlbench.errors import UsageError, did_you_mean
from mlbench.report import Report, Table
from mlbench.report.columns import FIELDS, Field, Row, problems
from mlbench.report.rules import RulesetVerdict
from mlbench.report.scaling import scaling_table
from mlbench.score.leaderboard import Leaderboard, Ranking, describe
from mlbench.score.scaling import Family
from mlbench.score.statistics import TEST, Metric
from mlbench.vocabulary import UNVERIFIED

_MOST_PROBLEMS = 3
"""Problems of a row that stand below the table; all are in csv and json."""

Verdicts = Mapping[Path, RulesetVerdict]
"""By the folder of the entry."""


@dataclass(frozen=True, slots=True)
class View:
    """What people want to see of a leaderboard."""

    columns: tuple[str, ...] = ()
    """Keys of the columns, in their order; empty for the usual ones."""
    sort: str | None = None
    """Key of the column that rows are sorted by, ``-`` in front for descending order; None for the
    order of the ranking."""
    limit: int | None = None
    """Rows of a table at most."""
    shows_rules: bool = False
    """Whether the columns of the rule sets are among the usual ones."""


def require_columns(view: View) -> None:
    """Check that there are the columns that a view names, before anything is read.

    Raises:
        UsageError: there is no such column.
    """
    for key in (*view.columns, *filter(None, [view.sort])):
        _field_named(key.removeprefix("-"))


def leaderboard_report(
    board: Leaderboard,
    inputs: Sequence[str] = (),
    *,
    verdicts: Verdicts | None = None,
    view: View = View(),
    families: Sequence[Family] = (),
) -> Report:
    """Return the tables of a leaderboard.

    Args:
        board: what to show.
        inputs: where it comes from.
        verdicts: what the rule sets' checker says of entries.
        view: columns, order and number of rows.
        families: systems whose scaling is shown, too.

    Raises:
        UsageError: there is no such column.
    """
    view = view or View()
    fields = _choose(view.columns, checked=view.shows_rules)
    order = _sorting(view.sort)
    tables = tuple(
        _table(ranking, fields, order(_rows(ranking, verdicts or {})), view.limit, board)
        for ranking in board.rankings
    )
    scaling = tuple(map(scaling_table, families))
    return Report(tuple(inputs), tables, board, scaling, tuple(_general_notes(board)))


def _choose(keys: Sequence[str], *, checked: bool) -> list[Field]:
    """Return the fields, those in front that people are shown.

    Args:
        keys: of the columns to show, in their order; empty for the usual ones.
        checked: whether the columns of the rule sets are among the usual ones.

    Raises:
        UsageError: there is no such column.
    """
    shown = [_field_named(key) for key in keys]
    if not keys:
        rules = ("ruleset", "ruleset_pass") if checked else ()
        return [_showing(each, each.column.key in rules) for each in FIELDS]
    others = [replace(each, column=replace(each.column, is_shown=False)) for each in FIELDS]
    return [
        *(_showing(each, True, spare=0) for each in dict.fromkeys(shown)),
        *(each for each in others if each.column.key not in keys),
    ]


def _field_named(key: str) -> Field:
    """Return the field of a column.

    Raises:
        UsageError: there is none.
    """
    known = {field.column.key: field for field in FIELDS}
    if key not in known:
        near = did_you_mean(key, known)
        raise UsageError(f"no column {key!r}{near} (columns: {', '.join(known)})")
    return known[key]


def _showing(field: Field, shown: bool, spare: int | None = None) -> Field:
    column = replace(
        field.column,
        is_shown=field.column.is_shown or shown,
        is_kept=field.column.is_kept or spare is not None,
        spare=field.column.spare if spare is None else spare,
    )
    return replace(field, column=column)


def _rows(ranking: Ranking, verdicts: Verdicts) -> list[Row]:
    return [Row(ranking, each, verdicts.get(each.result.path)) for each in ranking.standings]


def _sorting(column: str | None) -> Callable[[list[Row]], list[Row]]:
    """Return what sorts rows by a column; rows without a value come last."""
    if column is None:
        return lambda rows: rows
    value = _field_named(column.removeprefix("-")).value
    is_descending = column.startswith("-")

    def ordered(rows: list[Row]) -> list[Row]:
        known = [row for row in rows if value(row) is not None]
        unknown = [row for row in rows if value(row) is None]
        return sorted(known, key=value, reverse=is_descending) + unknown

    return ordered


def _table(
    ranking: Ranking,
    fields: Sequence[Field],
    rows: Sequence[Row],
    limit: int | None,
    board: Leaderboard,
) -> Table:
    shown = rows[:limit]
    key = ranking.key
    return Table(
        title=str(key),
        group={
            "benchmark": key.benchmark,
            "round": key.round,
            "division": key.division,
            "availability": key.availability,
            "quality_target": key.quality_target,
            "metric": board.order.metric.value,
            "reference": describe(ranking.reference) if ranking.reference else None,
            "rows": len(rows),
        },
        columns=tuple(field.column for field in fields),
        rows=tuple(tuple(field.cell(row) for field in fields) for row in shown),
        notes=tuple(_notes(ranking, shown, len(rows), board, fields)),
    )


def _general_notes(board: Leaderboard) -> Iterator[str]:
    standings = [each for ranking in board.rankings for each in ranking.standings]
    if any((each.result.scaling_factor or 1) != 1 for each in standings):
        yield (
            "x 1.01 and the like: minutes are multiplied by this, since the runs converged in "
            "fewer samples than the reference; raw_minutes has them as they were run"
        )
    if any(each.comparison and each.comparison.low is not None for each in standings):
        yield (
            f"faster, slower: the interval of the ratio excludes 1 and the factor is above "
            f"{board.order.factor:g}; same: within noise, or by no more than that; {TEST}"
        )


def _notes(
    ranking: Ranking,
    shown: Sequence[Row],
    num_rows: int,
    board: Leaderboard,
    fields: Sequence[Field],
) -> Iterator[str]:
    told = {field.column.key for field in fields if field.column.is_shown}
    if any(row.result.key.round == UNVERIFIED for row in shown):
        yield "rows of no round are unverified: MLCommons has not reviewed them"
    if len(shown) < num_rows:
        yield f"{num_rows - len(shown)} more rows: raise --limit"
    if ranking.reference and ranking.reference is board.order.baseline:
        yield f"ratios are to {describe(ranking.reference)}"
        yield from _explanations(shown, board.order.metric)
    if any(row.verdict for row in shown) and "ruleset_pass" in told:
        checkers = dict.fromkeys(row.verdict.checker for row in shown if row.verdict)
        yield f"passes: logs that pass the rule set as {', '.join(checkers)} has it today"
    for row in shown:
        found = list(problems(row.result))
        key = row.result.key
        for problem in found[:_MOST_PROBLEMS]:
            yield f"{key.submitter}/{key.system}: {problem}"
        if len(found) > _MOST_PROBLEMS:
            more = len(found) - _MOST_PROBLEMS
            yield f"{key.submitter}/{key.system}: {more} more notes in --json"


def _explanations(shown: Sequence[Row], metric: Metric) -> Iterator[str]:
    """Yield how each time ratio comes about: samples to target, and samples a second."""
    for row in shown:
        found = row.standing.comparison
        is_told = found and found.samples_ratio and found.throughput_ratio
        if metric is Metric.TIME and found and is_told and row.result is not row.ranking.reference:
            factor = found.ratio / (found.samples_ratio or 1) * (found.throughput_ratio or 1)
            scaled = f" x {factor:.4f} normalisation" if abs(factor - 1) > 1e-6 else ""
            yield (
                f"{describe(row.result)}: {found.ratio:.3f} x the time = "
                f"{found.samples_ratio:.3f} x the samples / "
                f"{found.throughput_ratio:.3f} x the throughput{scaled}"
            )
