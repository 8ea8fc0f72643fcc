"""A report as one page that needs nothing else: tables, charts, and what moves them, in one file.

Names and problems come from foreign files. They reach the page through the template, which escapes
them, and through JSON, in which no tag can be closed. Should one slip through all the same, the
page's policy runs no script but its own three and loads nothing.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

import mlbench
from mlbench.report import Cell, Column, Report, Table
from mlbench.report.details import RUN_HEADINGS, Details, details
from mlbench.report.figures import (
    VEGA_LITE,
    Figure,
    Section,
    ranking_sections,
    scaling_sections,
)
from mlbench.report.theme import theme
from mlbench.score.leaderboard import Standing, availability_of

FACETS = ("benchmark", "round", "division", "availability", "accelerator", "submitter")
"""What rows are filtered by, beside the text."""
_MOST_OPEN = 3
"""With more groups, only the first has its charts open."""
_ROOM = ((9, 1), (6, 2), (4, 3), (2, 4), (1, 5))
"""From which ``Column.spare`` a column goes at which of the style sheet's widths."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a leaderboard."""

    number: int
    """Counts through all tables; charts call it ``entry``."""
    name: str
    cells: tuple[Cell, ...]
    """Those that are shown."""
    values: tuple[tuple[str, str], ...]
    """Heading and text of the others."""
    facets: tuple[str, ...]
    details: Details | None


@dataclass(frozen=True, slots=True)
class Block:
    """A table with its charts."""

    anchor: str
    table: Table
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    figures: tuple[tuple[int, Figure], ...]
    """With their numbers on the page."""
    is_open: bool


def render_html(report: Report) -> str:
    """Return the page; the same report gives the same bytes."""
    rankings, scalings = ranking_sections(report), scaling_sections(report)
    groups = tuple(_ranking_blocks(rankings))
    num_figures = sum(len(block.figures) for block in groups)
    families = tuple(_scaling_blocks(scalings, num_figures))
    data = {
        "figures": _packed(
            [figure for block in (*groups, *families) for _, figure in block.figures]
        ),
        "themes": {"light": theme(is_dark=False), "dark": theme(is_dark=True)},
    }
    environment = _environment()
    scripts = [
        # Without a snippet it is the bare libraries; the stub does not know of that.
        vl_convert.javascript_bundle(vl_version=VEGA_LITE),  # type: ignore[call-arg]
        environment.get_template("report.js").render(),
    ]
    text = environment.get_template("report.html").render(
        version=mlbench.__version__,
        report=report,
        groups=groups,
        families=families,
        facets=_facet_values(groups),
        run_headings=RUN_HEADINGS,
        style=Markup(environment.get_template("report.css").render()),
        data=Markup(_json_in_html(data)),
        scripts=[Markup(script) for script in scripts],
        policy=_policy(scripts),
    )
    return text.rstrip("\n") + "\n"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("mlbench.report", "templates"),
        autoescape=lambda name: name is None or name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sortable"] = _sort_value
    environment.filters["breakable"] = _breakable
    environment.filters["room"] = _room
    return environment


def _policy(scripts: Iterable[str]) -> str:
    """Return a policy by which the page runs these scripts only and loads nothing.

    Vega compiles its expressions, which is what ``unsafe-eval`` names.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in digests)
    return (
        f"default-src 'none'; script-src 'unsafe-eval' {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _json_in_html(data: Any) -> str:
    """Return JSON that cannot end the element it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _ranking_blocks(sections: Sequence[Section]) -> Iterator[Block]:
    number = 0
    for position, section in enumerate(sections):
        figures = tuple(enumerate(section.figures, number))
        number += len(figures)
        table = section.table
        yield Block(
            anchor=f"group-{position}",
            table=table,
            columns=tuple(table.columns[n] for n in table.shown()),
            rows=tuple(_rows(section)),
            figures=figures,
            is_open=position == 0 or len(sections) <= _MOST_OPEN,
        )


def _scaling_blocks(sections: Sequence[Section], number: int) -> Iterator[Block]:
    for position, section in enumerate(sections):
        figures = tuple(enumerate(section.figures, number))
        number += len(figures)
        table, shown = section.table, section.table.shown()
        yield Block(
            anchor=f"scaling-{position}",
            table=table,
            columns=tuple(table.columns[n] for n in shown),
            rows=tuple(
                Row(n, "", tuple(row[k] for k in shown), (), (), None)
                for n, row in enumerate(table.rows)
            ),
            figures=figures,
            is_open=len(sections) <= _MOST_OPEN,
        )


def _rows(section: Section) -> Iterator[Row]:
    table, shown, standings = section.table, section.table.shown(), section.standings
    for number, cells in enumerate(table.rows):
        standing = standings[number] if number < len(standings) else None
        values = {column.key: cell.value for column, cell in zip(table.columns, cells, strict=True)}
        hidden = [n for n in range(len(cells)) if n not in shown]
        yield Row(
            number=section.first + number,
            name=f"{values.get('submitter') or ''} {values.get('system') or ''}".strip(),
            cells=tuple(cells[n] for n in shown),
            values=tuple(
                (str(table.columns[n].heading), cells[n].text)
                for n in (*shown, *hidden)
                if table.columns[n].key != "problems"
            ),
            facets=tuple(_facet(name, values, standing) for name in FACETS),
            details=details(standing.result) if standing else None,
        )


def _facet(name: str, values: dict[str, Any], standing: Standing | None) -> str:
    """Return one word for a row; files spell availability in many ways, its category once."""
    if standing and name == "availability":
        return availability_of(standing.result).value
    value = values.get(name)
    return "none" if value is None else str(value)


def _facet_values(groups: Iterable[Block]) -> list[tuple[str, list[str]]]:
    rows = [row for block in groups for row in block.rows]
    return [(name, sorted({row.facets[n] for row in rows})) for n, name in enumerate(FACETS)]


def _sort_value(cell: Cell) -> str:
    """Return what a cell is sorted by; of several values the first; nothing stands last."""
    value = cell.value
    if isinstance(value, list | tuple):
        value = value[0] if value else None
    return "" if value is None else str(value)


def _breakable(text: str) -> Markup:
    """Return a name that may be broken where its words end."""
    return Markup(re.sub("([_/,-])(?=.)", r"\1<wbr>", str(escape(text))))


def _room(column: Column) -> str:
    """Return the class of a column: at which width of the page there is no room for it."""
    return next((f"room-{step}" for least, step in _ROOM if column.spare >= least), "")


def _packed(figures: Sequence[Figure]) -> dict[str, Any]:
    """Return charts and their data apart: data that several charts share is there once."""
    datasets: dict[str, Any] = {}
    specs = []
    for figure in figures:
        spec = {key: value for key, value in figure.spec.items() if key not in _PAGE_SETS}
        for name, rows in figure.spec["datasets"].items():
            datasets.setdefault(name, _columns(rows))
        specs.append({"spec": spec, "datasets": list(figure.spec["datasets"])})
    return {"specs": specs, "datasets": datasets}


_PAGE_SETS = ("datasets", "config", "width")
"""What a chart gets from the page: its data, its colours, its width."""


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return rows by column; texts, which repeat, as numbers of distinct texts."""
    columns: dict[str, Any] = {}
    for key in rows[0] if rows else ():
        values = [row[key] for row in rows]
        if any(isinstance(value, str) for value in values):
            distinct = list(dict.fromkeys(values))
            number = {value: n for n, value in enumerate(distinct)}
            columns[key] = {"distinct": distinct, "numbers": [number[value] for value in values]}
        else:
            columns[key] = values
    return {"length": len(rows), "columns": columns}
