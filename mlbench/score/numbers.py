"""Numbers as logs and descriptions write them."""

import math
from typing import Any


def number(value: Any) -> float | None:
    """Return a finite number, also one written as text or alone in a list; else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, list) and len(value) == 1:
        return number(value[0])
    try:
        return number(float(value)) if isinstance(value, str) else None
    except ValueError:
        return None


def integer(value: Any) -> int | None:
    """Return a number without fraction as an int, else None."""
    found = number(value)
    return int(found) if found is not None and found == int(found) else None
