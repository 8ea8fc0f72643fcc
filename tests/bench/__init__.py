"""Measures mlbench itself: ``make bench``, or ``make bench ONLY=train`` for a part.

Each module of this package is a part; its ``figures`` returns what it measured. All figures go to
``build/bench.json``; one that was not measured is absent.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured figure."""

    name: str
    """Dotted, the part first."""
    value: float
    unit: str
    better: Literal["higher", "lower"]
    goal: float | None = None
    against: str = ""
    """What it is measured against, and how."""

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without one."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.better == "higher" else self.value <= self.goal


def spread(values: Sequence[float]) -> str:
    """Return median, lowest and highest of several measurements."""
    return (
        f"median of {len(values)}, {min(values):.3g} to {max(values):.3g}"
        if len(values) > 1
        else "one measurement"
    )


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return float(statistics.median(values))
