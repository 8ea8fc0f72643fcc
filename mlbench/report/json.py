"""Tables as JSON, schema ``mlbench.compare/1``; documented in ``docs/formats.md``."""

import json
from typing import Any

import mlbench
from mlbench.report import Report, Table

SCHEMA = "mlbench.compare/1"


def render_json(report: Report) -> str:
    """Return every column of every table, values as numbers, null where unknown."""
    document = {
        "schema": SCHEMA,
        "mlbench_version": mlbench.__version__,
        "inputs": list(report.inputs),
        "groups": [{**table.group, "title": table.title} for table in report.tables],
        "rows": [row for table in report.tables for row in _rows(table)],
        "scaling": [
            {**table.group, "title": table.title, "rows": _rows(table)} for table in report.scaling
        ],
        "notes": [*report.notes, *(note for table in report.tables for note in table.notes)],
    }
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _rows(table: Table) -> list[dict[str, Any]]:
    keys = [column.key for column in table.columns]
    return [dict(zip(keys, (cell.value for cell in row), strict=True)) for row in table.rows]
