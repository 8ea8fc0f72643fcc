"""Whether a log keeps the rules."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a checker says of one log."""

    path: Path
    ruleset: str
    checker: str
    """Name and version of who judged."""
    passed: bool
    complaints: tuple[str, ...]
    """Each broken rule, in the checker's words."""
