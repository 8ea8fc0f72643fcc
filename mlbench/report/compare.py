"""What ``mlbench compare`` does, from its options to the report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mlbench.errors import InputMissingError, UsageError
from mlbench.report import Report
from mlbench.report.gather import gather
from mlbench.report.leaderboard import View, leaderboard_report, require_columns
from mlbench.report.rules import RulesetVerdict, check_rules
from mlbench.score.leaderboard import GROUPINGS, Order, leaderboard
from mlbench.score.published import PublishedRow, published, rounds, without_those_at_hand
from mlbench.score.scaling import families
from mlbench.score.select import Selection, entry_named, explain_selection, select, without_copies
from mlbench.score.statistics import Metric
from mlbench.vocabulary import printable

Say = Callable[[str, int, int], None]
"""Told what is being done, and how many of how many are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a user asks to be compared, and how."""

    paths: tuple[Path, ...]
    published: tuple[str, ...] = ()
    """Rounds of the built-in table; ``all`` for every one."""
    selection: Selection = field(default_factory=Selection)
    metric: Metric = Metric.TIME
    baseline: str | None = None
    factor: float = 1.02
    group_by: tuple[str, ...] = tuple(GROUPINGS)
    scaling: str | None = None
    """``submitter`` or ``all``: what makes a family."""
    view: View = field(default_factory=View)
    check: bool = False
    """Whether MLPerf's checker is asked about each log."""
    use_cache: bool = True


def compare_paths(request: Request, say: Say) -> Report:
    """Return the report that a request asks for.

    Raises:
        InputMissingError: a path holds no result, or nothing passes the filters.
        UsageError: there is no such round, row or column.
    """
    wanted = _rounds(request.published)
    require_columns(request.view)
    read = without_copies(
        gather(request.paths, partial(say, "reading logs"), use_cache=request.use_cache)
    )
    rows = list(without_those_at_hand(published(wanted), read))
    results = [*read, *(row.result for row in rows)]
    chosen = select(results, request.selection)
    if not chosen:
        words = explain_selection(request.selection)
        raise InputMissingError(f"none of {len(results)} rows passes the filters: {words}")
    baseline = entry_named(request.baseline, chosen, results) if request.baseline else None
    board = leaderboard(chosen, Order(request.metric, request.factor, request.group_by, baseline))
    verdicts = _published_verdicts(rows)
    if request.check:
        at_hand = [result for result in chosen if result.path not in verdicts]
        verdicts |= check_rules(at_hand, partial(say, "checking logs"))
    return leaderboard_report(
        board,
        [*map(printable, request.paths), *(f"published {name}" for name in wanted)],
        verdicts=verdicts,
        view=request.view,
        families=families(chosen, as_one=request.scaling == "all") if request.scaling else (),
    )


def _rounds(names: Sequence[str]) -> list[str]:
    known = rounds() if names else []
    if "all" in names:
        return known
    wanted = [name if name.startswith("v") else f"v{name}" for name in names]
    for name in wanted:
        if name not in known:
            raise UsageError(f"no published round {name!r} (known: {', '.join(known)}, all)")
    return wanted


def _published_verdicts(rows: Sequence[PublishedRow]) -> dict[Path, RulesetVerdict]:
    return {
        row.result.path: RulesetVerdict(
            row.ruleset, row.checker or "", row.num_passed, len(row.result.runs)
        )
        for row in rows
        if row.ruleset
    }
