"""Tables as one CSV: every column, values as numbers, empty where unknown."""

import pandas as pd

from mlbench.report import Report


def render_csv(report: Report) -> str:
    """Return the rows of all tables; lists are joined by ``; ``."""
    columns = [column.key for column in report.tables[0].columns] if report.tables else []
    rows = [[_plain(cell.value) for cell in row] for table in report.tables for row in table.rows]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text


def _plain(value: object) -> object:
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else value
