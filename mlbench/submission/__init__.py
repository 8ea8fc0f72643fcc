"""The MLPerf tree on disk: logs of entries, descriptions of systems.

The same types hold our own runs and official rounds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class SystemDescription:
    """A ``systems/<system>.json``: MLPerf's field names, values as they stand in the file."""

    fields: Mapping[str, Any]
    problem: str | None = None
    """Why the file, or a part of it, could not be read."""

    def text(self, key: str) -> str | None:
        """Return a field as text, None when it is absent or empty."""
        value = self.fields.get(key)
        return str(value).strip() or None if value is not None else None

    def count(self, key: str) -> int | None:
        """Return a field that counts something; published files have "8", 8, 8.0 and ""."""
        text = self.text(key)
        try:
            number = float(text) if text else None
        except ValueError:
            return None
        return int(number) if number is not None and number.is_integer() else None


@dataclass(frozen=True, slots=True)
class EntryKey:
    """What tells entries apart; names in the files are not unique, folders are."""

    round: str
    submitter: str
    system: str
    benchmark: str


@dataclass(frozen=True, slots=True)
class Entry:
    """The runs of one benchmark on one system."""

    key: EntryKey
    folder: Path
    description: SystemDescription
    logs: tuple[Path, ...]
    """Files of the runs, in the order of their numbers."""
    scaling_factor: float | None = None
    """From ``scaling.json``, where a round's normalisation was written down."""
    notes: tuple[str, ...] = ()
    """What is odd about the folder."""
