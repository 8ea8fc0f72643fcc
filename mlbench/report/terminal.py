"""Tables for a terminal."""

import io
import os
import shutil
from collections.abc import Sequence

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.table import Table as RichTable

from mlbench.report import Report, Table

_FALLBACK_WIDTH = 120
_NARROWEST_TEXT = 13
"""Text is wrapped, but not into columns narrower than this while others can be spared."""
_SEPARATOR_WIDTH = 3


def render_terminal(report: Report) -> str:
    """Return the tables drawn for the width of this terminal.

    Text is wrapped where it must be; columns for which there is no room are left out and named.
    """
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
    for table in (*report.tables, *report.scaling):
        columns = _fitting(table, width)
        drawn = _draw(table, columns, width)
        console.print(drawn, width=max(width, _width(table, columns)), crop=False)
        left_out = [table.columns[n].heading for n in table.shown() if n not in columns]
        if left_out:
            names = ", ".join(left_out)
            text.write(f"  * no room for {names}: widen the terminal\n")
        for note in table.notes:
            text.write(f"  * {note}\n")
        text.write("\n")
    for note in report.notes:
        text.write(f"  * {note}\n")
    return text.getvalue()


def _fitting(table: Table, width: int) -> list[int]:
    """Return the positions of the columns that are drawn, the least needed left out first."""
    shown = table.shown()
    narrowest = {n: _narrowest(table, n) for n in shown}
    while sum(narrowest[n] + _SEPARATOR_WIDTH for n in shown) > width:
        spare = max(shown, key=lambda n: table.columns[n].spare)
        if not table.columns[spare].spare:
            break
        shown.remove(spare)
    return shown


def _width(table: Table, columns: Sequence[int]) -> int:
    """Return the least width of a table with these columns."""
    return sum(_narrowest(table, n) + _SEPARATOR_WIDTH for n in columns)


def _narrowest(table: Table, number: int) -> int:
    """Return the width that a column needs at least."""
    longest = _longest(table, number)
    return longest if table.columns[number].is_number else min(longest, _NARROWEST_TEXT)


def _longest(table: Table, number: int) -> int:
    heading = table.columns[number].heading
    return max([cell_len(heading), *(cell_len(row[number].text) for row in table.rows)])


def _widths(table: Table, columns: Sequence[int], width: int) -> dict[int, int]:
    """Return the width of each column; what is left over goes to the narrowest texts first."""
    widths = {n: _narrowest(table, n) for n in columns}
    longest = {n: _longest(table, n) for n in columns}
    left = width - sum(widths.values()) - _SEPARATOR_WIDTH * len(columns)
    growing = [n for n in columns if widths[n] < longest[n]]
    while left > 0 and growing:
        number = min(growing, key=lambda n: widths[n])
        widths[number] += 1
        left -= 1
        growing = [n for n in growing if widths[n] < longest[n]]
    return widths


class _Folded:
    """A cell that is already as wide as its column: rich's own takes three times as long."""

    def __init__(self, text: str, width: int, *, is_number: bool) -> None:
        pad = str.rjust if is_number else str.ljust
        lines = chop_cells(text, width) or [""]
        # Wide characters fill two places, of which str counts one.
        sizes = [width - cell_len(line) + len(line) for line in lines]
        self._lines = [f" {pad(line, size)} " for line, size in zip(lines, sizes, strict=True)]

    def __rich_console__(self, _console: Console, _options: ConsoleOptions) -> RenderResult:
        for line in self._lines:
            yield Segment(line)
            yield Segment.line()


def _draw(table: Table, columns: Sequence[int], width: int) -> RichTable:
    drawn = RichTable(
        title=table.title,
        title_justify="left",
        title_style="bold",
        box=box.ASCII,
        show_edge=False,
        padding=0,
    )
    widths = _widths(table, columns, width)
    numbers = {n for n in columns if table.columns[n].is_number}
    for n in columns:
        heading = _Folded(table.columns[n].heading, widths[n], is_number=n in numbers)
        drawn.add_column(heading, no_wrap=True, width=widths[n] + 2)
    for row in table.rows:
        cells = (_Folded(row[n].text, widths[n], is_number=n in numbers) for n in columns)
        drawn.add_row(*cells)
    return drawn
