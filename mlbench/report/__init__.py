"""Results to tables to text: the table is built once, each format renders it.

A cell has a value, for machines, and a text, for people. A format is a function from a report to
a text, registered in the group ``mlbench.reports``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mlbench.score.leaderboard import Leaderboard

NOTHING = "-"
"""What people read where there is no value."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    key: str
    """Name of the value in csv and json."""
    heading: str
    """What people read above it."""
    is_number: bool = False
    is_shown: bool = True
    """False for a value that people see only when they ask for it."""
    is_kept: bool = False
    """Whether it is shown although no row has anything in it."""
    spare: int = 0
    """Where there is no room for all columns, those with the highest number go first; 0 stays."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value and how people read it."""

    value: Any
    text: str = ""

    @property
    def is_told(self) -> bool:
        """Whether people read something in it."""
        return self.text not in ("", NOTHING)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a title."""

    title: str
    group: Mapping[str, Any]
    """What the rows have in common, for machines."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    """What a reader of the rows must know."""

    def shown(self) -> list[int]:
        """Return the positions of the columns that people are shown, empty ones left out."""
        return [
            n
            for n, column in enumerate(self.columns)
            if column.is_shown and (column.is_kept or any(row[n].is_told for row in self.rows))
        ]


@dataclass(frozen=True, slots=True)
class Report:
    """Tables made from some inputs."""

    inputs: tuple[str, ...]
    tables: tuple[Table, ...]
    board: "Leaderboard"
    """What the tables were made from, for formats that show single runs."""
    scaling: tuple[Table, ...] = ()
    """How families of systems scale, where that was asked for."""
    notes: tuple[str, ...] = ()
    """What holds for all tables."""


class Renderer(Protocol):
    """Returns a report in one format."""

    def __call__(self, report: Report) -> str:
        """Return the text, with a newline at its end."""
