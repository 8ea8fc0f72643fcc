"""Tables in GitHub's Markdown."""

from collections.abc import Iterator

from mlbench.report import Report, Table


def render_markdown(report: Report) -> str:
    """Return the tables, each under a heading."""
    tables = (*report.tables, *report.scaling)
    lines = [line for table in tables for line in _lines(table)]
    return "\n".join([*lines, *(f"- {note}" for note in report.notes)]).rstrip("\n") + "\n"


def _lines(table: Table) -> Iterator[str]:
    shown = table.shown()
    columns = [table.columns[number] for number in shown]
    yield from (f"### {table.title}", "")
    yield _row([column.heading for column in columns])
    yield _row(["---:" if column.is_number else "---" for column in columns])
    for row in table.rows:
        yield _row([row[number].text for number in shown])
    yield ""
    if table.notes:
        yield from (f"- {note}" for note in table.notes)
        yield ""


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
