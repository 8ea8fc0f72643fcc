"""Tables for a terminal."""

import io
import os
import shutil

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from mlbench.report import Report, Table

_FALLBACK_WIDTH = 120


def render_terminal(report: Report) -> str:
    """Return the tables drawn for the width of this terminal, wrapped where they must be."""
    width = shutil.get_terminal_size((_FALLBACK_WIDTH, 24)).columns
    text = io.StringIO()
    is_coloured = os.isatty(1) and "NO_COLOR" not in os.environ
    console = Console(
        file=text,
        width=width,
        color_system="auto" if is_coloured else None,
        force_terminal=is_coloured,
        highlight=False,
        markup=False,
    )
    for table in report.tables:
        console.print(_draw(table))
        for note in table.notes:
            console.print(f"  * {note}", soft_wrap=True)
        console.print()
    return text.getvalue()


def _draw(table: Table) -> RichTable:
    drawn = RichTable(title=table.title, title_justify="left", box=box.ASCII, show_edge=False)
    shown = table.shown()
    for number in shown:
        column = table.columns[number]
        drawn.add_column(
            column.heading or "",
            justify="right" if column.is_number else "left",
            no_wrap=column.is_number,
            overflow="fold",
        )
    for row in table.rows:
        drawn.add_row(*(row[number].text for number in shown))
    return drawn
