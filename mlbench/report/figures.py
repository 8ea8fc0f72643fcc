"""Which charts a report has, in their order."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import altair as alt

from mlbench.report import Report, Table
from mlbench.report.charts import (
    Drawing,
    efficiency_bars,
    throughput_bars,
    time_against_samples,
    time_bars,
)
from mlbench.report.curves import MOST_CURVES, convergence, scaling_chart
from mlbench.report.points import Drawn, drawn
from mlbench.report.scaling import scaling_table
from mlbench.score.leaderboard import Ranking, Standing
from mlbench.score.scaling import families
from mlbench.vocabulary import printable


@dataclass(frozen=True, slots=True)
class Kind:
    """A chart that a ranking may have."""

    name: str
    title: str
    caption: str
    draw: Callable[[Drawn], Drawing | None]


_BARS = (
    "A bar is the entry's mean, the line the range of the runs averaged, each dot a run: circles "
    "are averaged, diamonds left out of the mean, crosses missed the target."
)

_CURVES = (
    f"A line is a run. At most {MOST_CURVES} entries are drawn, the first in the table that pass "
    "the filters; a click on a name picks it."
)
_CHARTS = (
    Kind("time", "Time to train", _BARS, time_bars),
    Kind("throughput", "Throughput", _BARS, throughput_bars),
    Kind("throughput-per-accelerator", "Throughput of one accelerator", _BARS, efficiency_bars),
    Kind(
        "time-samples",
        "Time against samples to target",
        "A point is an entry. Along a dotted line throughput is the same: what differs is how many "
        "samples the target took. Orange is the reference.",
        time_against_samples,
    ),
    Kind(
        "convergence-minutes",
        "Convergence in time",
        _CURVES,
        lambda drawn: convergence(drawn, "minutes"),
    ),
    Kind(
        "convergence-samples",
        "Convergence in samples",
        _CURVES,
        lambda drawn: convergence(drawn, "samples"),
    ),
)
_SCALING = (
    "Percentages are samples per second of one accelerator over those of the family's smallest "
    "system; the dashed line is 100 %."
)

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""Version of the grammar that Altair writes."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart and what it is called."""

    name: str
    """Of its file, without ending."""
    title: str
    subject: str
    """The group or family that it shows."""
    caption: str
    """How it is read."""
    spec: dict[str, Any]
    """Vega-Lite."""


@dataclass(frozen=True, slots=True)
class Section:
    """The charts of one table."""

    table: Table
    standings: tuple[Standing, ...]
    """Those of the table's rows, in their order; none where the rows are of something else."""
    figures: tuple[Figure, ...]
    first: int
    """Number of its first entry."""


def ranking_sections(report: Report) -> list[Section]:
    """Return each table of a report with its charts; entries are numbered through."""
    sections, first = [], 0
    rankings = report.board.rankings
    for position, table in enumerate(report.tables):
        standings: tuple[Standing, ...] = ()
        figures: tuple[Figure, ...] = ()
        if position < len(rankings):
            ranking = rankings[position]
            standings = _standings(table, ranking)
            data = drawn(ranking, standings, first)
            figures = tuple(_ranking_figures(table.title, data))
        sections.append(Section(table, standings, figures, first))
        first += len(table.rows)
    return sections


def scaling_sections(report: Report) -> list[Section]:
    """Return the families of a report with their charts: those asked for, else all there are."""
    tables = report.scaling
    if not tables:
        results = [each.result for group in report.board.rankings for each in group.standings]
        tables = tuple(map(scaling_table, families(results)))
    return [Section(table, (), tuple(_scaling_figures(table)), 0) for table in tables]


def _standings(table: Table, ranking: Ranking) -> tuple[Standing, ...]:
    """Return the standings of a table's rows, which may be fewer and in another order.

    A folder holds the logs of one entry.
    """
    column = [each.key for each in table.columns].index("path")
    found: dict[str, list[Standing]] = {}
    for standing in ranking.standings:
        found.setdefault(printable(standing.result.path), []).append(standing)
    return tuple(found[row[column].value].pop(0) for row in table.rows)


def _ranking_figures(subject: str, data: Drawn) -> Iterator[Figure]:
    for kind in _CHARTS:
        drawing = kind.draw(data)
        if drawing is not None:
            name = f"{_slug(subject)}-{kind.name}"
            yield Figure(name, kind.title, subject, kind.caption, drawing.spec())


def _scaling_figures(table: Table) -> Iterator[Figure]:
    drawing = scaling_chart(table)
    if drawing is not None:
        yield Figure(_slug(table.title), "Scaling", table.title, _SCALING, drawing.spec())


def _slug(text: str) -> str:
    """Return a file name: small letters and digits of any script, hyphens between."""
    return re.sub(r"[^\w.]+", "-", text.lower()).strip("-.")[:100] or "group"
