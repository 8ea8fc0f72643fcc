"""Finds and reads entries, in our own results and in official rounds alike; reserves new logs."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from mlbench.errors import InputMissingError, PreflightError
from mlbench.runlog.read import read_log
from mlbench.submission import Entry, EntryKey
from mlbench.submission.description import read_description
from mlbench.vocabulary import UNVERIFIED

_RUN_LOG = re.compile(r"result_.*\.txt")
_OUR_LOG = re.compile(r"result_(\d+)\.txt")
_ROUND = re.compile(r"(?:training_results_)?v?(\d+\.\d+)")


def find_entries(paths: Iterable[Path]) -> list[Entry]:
    """Return the entries at or below each path, each folder once, in path order.

    A path may be a round, a submitter, a system, the folder of a benchmark, or any folder above.

    Raises:
        InputMissingError: a path does not exist or holds no result.
    """
    folders: dict[Path, Path] = {}
    for path in paths:
        for folder in _existing_folders(path):
            folders.setdefault(folder.resolve(), folder)
    return [read_entry(folder) for folder in folders.values()]


def _existing_folders(path: Path) -> list[Path]:
    if not path.exists():
        raise InputMissingError(f"{path}: no such file or folder")
    found = list(_result_folders(path))
    if not found:
        raise InputMissingError(
            f"{path}: no results found; expected "
            "<submitter>/results/<system>/<benchmark>/result_N.txt in or around it"
        )
    return found


def find_logs(paths: Iterable[Path]) -> list[Path]:
    """Return the run logs that are, or lie below, each path, each once.

    Raises:
        InputMissingError: a path does not exist or holds no log.
    """
    logs: dict[Path, Path] = {}
    for path in paths:
        if path.is_file():
            found = [path]
        else:
            found = [log for folder in _existing_folders(path) for log in entry_logs(folder)]
        for log in found:
            logs.setdefault(log.resolve(), log)
    return list(logs.values())


def _result_folders(path: Path) -> Iterator[Path]:
    """Yield folders that hold run logs; hidden folders, such as our records, are passed over."""
    start = path.parent if path.is_file() else path
    for name, subfolders, files in os.walk(start, followlinks=True):
        subfolders[:] = sorted(each for each in subfolders if not each.startswith("."))
        if any(map(_RUN_LOG.fullmatch, files)):
            yield Path(name)


def read_entry(folder: Path) -> Entry:
    """Return the entry whose logs are in ``folder``."""
    system, submitter = folder.resolve().parents[0], folder.resolve().parents[2]
    factor, notes = _scaling_factor(folder / "scaling.json")
    return Entry(
        key=EntryKey(
            round=_round(submitter),
            submitter=submitter.name,
            system=system.name,
            benchmark=folder.resolve().name,
        ),
        folder=folder,
        description=read_description(submitter / "systems" / f"{system.name}.json"),
        logs=tuple(map(read_log, entry_logs(folder))),
        scaling_factor=factor,
        notes=tuple(notes),
    )


def entry_logs(folder: Path) -> list[Path]:
    """Return the run logs in the folder of an entry, ``result_10`` behind ``result_9``."""
    files = (file for file in folder.iterdir() if _RUN_LOG.fullmatch(file.name))
    return sorted((file for file in files if file.is_file()), key=_natural_order)


def _natural_order(file: Path) -> list[tuple[int, str]]:
    return [(int(part or 0), rest) for part, rest in re.findall(r"(\d*)(\D*)", file.name)]


def _round(submitter: Path) -> str:
    """Return the round a submitter's folder belongs to, by the folders it lies in."""
    for folder in submitter.parents:
        match = _ROUND.fullmatch(folder.name)
        if match:
            return f"v{match[1]}"
    return UNVERIFIED


def _scaling_factor(file: Path) -> tuple[float | None, list[str]]:
    if not file.exists():
        return None, []
    try:
        return float(json.loads(file.read_bytes())["scaling_factor"]), []
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, [f"scaling.json cannot be used ({error!r}): time is not normalised"]


def next_run_index(folder: Path) -> int:
    """Return the first free N of ``result_N.txt``, behind all that are there."""
    if not folder.is_dir():
        return 0
    matches = (_OUR_LOG.fullmatch(file.name) for file in folder.iterdir())
    return max((int(match[1]) + 1 for match in matches if match), default=0)


def reserve_log(file: Path) -> bool:
    """Create an empty log, so that no other run takes its place; False if it is taken.

    Raises:
        PreflightError: the folder cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.open("x").close()
    except FileExistsError:
        if file.exists():
            return False
        raise PreflightError(_unwritable(file.parent, "a file is in the way")) from None
    except OSError as error:
        raise PreflightError(_unwritable(file.parent, str(error.strerror))) from error
    return True


def _unwritable(folder: Path, reason: str) -> str:
    return f"{folder}: results cannot be written here: {reason}; choose another with --results"
