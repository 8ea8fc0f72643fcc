"""Numbers as logs and descriptions write them."""

import math
import sys
from typing import Any

_LARGEST = sys.float_info.max


def number(value: Any) -> float | None:
    """Return a finite number, also one written as text or alone in a list; else None."""
    if type(value) is float or type(value) is int:  # Not bool, which is an int too.
        return float(value) if abs(value) <= _LARGEST else None
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def integer(value: Any) -> int | None:
    """Return a number without fraction as an int, else None."""
    found = number(value)
    return int(found) if found is not None and found == int(found) else None
