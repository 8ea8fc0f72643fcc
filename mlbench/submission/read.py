"""Reads ``systems/<system>.json``, without what it takes to describe a machine."""

import json
from pathlib import Path
from typing import Any

from mlbench.submission import SystemDescription
from mlbench.vocabulary import printable


def read_description(file: Path) -> SystemDescription:
    """Return a description; one that is missing or broken has no fields and says why."""
    name = printable(file.name)
    try:
        fields = json.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return SystemDescription({}, f"{name} is missing")
    except (OSError, ValueError, RecursionError) as error:
        return SystemDescription({}, f"{name} cannot be read: {error}")
    if not isinstance(fields, dict):
        return SystemDescription({}, f"{name} is not a JSON object")
    return SystemDescription({printable(key): _printed(value) for key, value in fields.items()})


def _printed(value: Any) -> Any:
    return printable(value) if isinstance(value, str) else value
