"""Reads ``systems/<system>.json``, without what it takes to describe a machine."""

import json
from pathlib import Path

from mlbench.submission import SystemDescription


def read_description(file: Path) -> SystemDescription:
    """Return a description; one that is missing or broken has no fields and says why."""
    try:
        fields = json.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return SystemDescription({}, f"{file.name} is missing")
    except (OSError, ValueError, RecursionError) as error:
        return SystemDescription({}, f"{file.name} cannot be read: {error}")
    if not isinstance(fields, dict):
        return SystemDescription({}, f"{file.name} is not a JSON object")
    return SystemDescription(fields)
