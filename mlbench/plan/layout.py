"""Where things lie under ``results/``: MLPerf's tree, and our own records beside it."""

from pathlib import Path

RECORDS = ".mlbench"
"""Folder of our own records, out of sight of MLPerf's checkers."""


def entry_folder(results: Path, submitter: str, system: str, benchmark: str) -> Path:
    """Return the folder of the logs of one entry."""
    return results / submitter / "results" / system / benchmark


def system_file(results: Path, submitter: str, system: str) -> Path:
    """Return the file that describes a system."""
    return results / submitter / "systems" / f"{system}.json"


def log_name(run_index: int) -> str:
    """Return the name of a run's log."""
    return f"result_{run_index}.txt"


def record_folder(results: Path, run_id: str) -> Path:
    """Return the folder of our own records of a run."""
    return results / RECORDS / run_id
