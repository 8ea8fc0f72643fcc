"""Tables in GitHub's Markdown."""

from collections.abc import Iterator

from mlbench.report import Report, Table


def render_markdown(report: Report) -> str:
    """Return the tables, each under a heading."""
    return "\n".join(line for table in report.tables for line in _lines(table)) + "\n"


def _lines(table: Table) -> Iterator[str]:
    shown = table.shown()
    columns = [table.columns[number] for number in shown]
    yield from (f"### {table.title}", "")
    yield _row([column.heading or "" for column in columns])
    yield _row(["---:" if column.is_number else "---" for column in columns])
    for row in table.rows:
        yield _row([row[number].text for number in shown])
    yield ""
    if table.notes:
        yield from (f"- {note}" for note in table.notes)
        yield ""


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
