"""Finds entries, in our own results and in official rounds alike; reserves new logs.

The layout is ``<submitter>/results/<system>/<benchmark>/result_N.txt``. Published rounds stray from
it: logs lie in the folder of the system, in one benchmark's folder inside another's, or have other
names; files of power meters have log lines but are no runs.
"""

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mlbench.errors import InputMissingError, PreflightError
from mlbench.runlog import TOKEN
from mlbench.runlog.read import read_log
from mlbench.submission import Entry, EntryKey
from mlbench.submission.read import read_description
from mlbench.vocabulary import UNVERIFIED, printable

_RUN_LOG = re.compile(r"result_.*\.txt")
_OUR_LOG = re.compile(r"result_(\d+)\.txt")
_BENCHMARK = "submission_benchmark"
_ROUND = re.compile(r"(?:training_results_)?v?(\d+\.\d+)")
_NO_LOGS = {"power", "raw_logs", "processed_logs", "logs"}
"""Folders beside or below logs whose files are no runs, or runs told again."""
_NOT_TEXT = {".json", ".png", ".md", ".sh", ".py", ".csv", ".yaml", ".out", ".pdf"}
_MOST_BYTES_WITHOUT_START = 1 << 20
"""A file of another name is a run's if ``run_start`` stands within its first megabyte."""


def find_entries(paths: Iterable[Path]) -> list[Entry]:
    """Return the entries at or below each path, each folder once, in path order.

    A path may be a round, a submitter, a system, the folder of a benchmark, or any folder above.

    Raises:
        InputMissingError: a path does not exist or holds no result.
    """
    folders: dict[Path, Path] = {}
    notes: dict[Path, str] = {}
    for path in paths:
        for folder in _existing_folders(path):
            known = folders.setdefault(folder.resolve(), folder)
            if known is not folder and str(known) != str(folder):
                notes[folder.resolve()] = f"given twice, also as {folder}: counted once"
    return [read_entry(folder, notes.get(real)) for real, folder in folders.items()]


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


def _existing_folders(path: Path) -> list[Path]:
    if not path.exists():
        raise InputMissingError(f"{path}: no such file or folder")
    if path.is_file():
        return [_folder_of(path)]
    found = list(_result_folders(path))
    if not found:
        raise InputMissingError(
            f"{path}: no results found in it; expected "
            "<submitter>/results/<system>/<benchmark>/result_N.txt in or around it"
        )
    return found


def _folder_of(file: Path) -> Path:
    """Return the folder of a single log: a run is compared with the others of its entry."""
    if _RUN_LOG.fullmatch(file.name) or _is_other_log(file):
        return file.parent
    raise InputMissingError(f"{file}: not the log of a run; no results found in it")


def _result_folders(start: Path) -> Iterator[Path]:
    """Yield folders that hold run logs; hidden folders, such as our records, are passed over."""
    seen: set[Path] = set()
    for name, subfolders, files in os.walk(start, onerror=_unreadable, followlinks=True):
        folder = Path(name)
        if folder.is_symlink() or not seen:
            real = folder.resolve()
            if real in seen:  # A link that leads back up.
                subfolders.clear()
                continue
            seen.add(real)
        inside = _inside_results(folder)
        subfolders[:] = sorted(
            each
            for each in subfolders
            if not each.startswith(".") and not (len(inside) > 1 and each in _NO_LOGS)
        )
        is_place = folder == start or 1 <= len(inside) <= 2
        if any(map(_RUN_LOG.fullmatch, files)) or (
            is_place and any(_is_other_log(folder / name) for name in files)
        ):
            yield folder


def _unreadable(error: OSError) -> None:
    raise InputMissingError(f"{error.filename}: cannot be read: {error.strerror}") from error


def _inside_results(folder: Path) -> tuple[str, ...]:
    """Return the folders from below ``results`` to this one, none outside of it."""
    path = _absolute(folder)
    return next((path.relative_to(each).parts for each in path.parents if _is_results(each)), ())


def _is_results(folder: Path) -> bool:
    return folder.name == "results" and folder.parent != folder


def _absolute(folder: Path) -> Path:
    """Return a path without ``..``; links stay, since their names may be those that count."""
    return Path(os.path.abspath(folder))  # noqa: PTH100 - Path.absolute() keeps "..".


def _is_other_log(file: Path) -> bool:
    """Whether a file that has another name than a run's log is one."""
    if file.suffix in _NOT_TEXT or file.name.startswith(".") or not file.is_file():
        return False
    try:
        with file.open("rb") as stream:
            head = stream.read(_MOST_BYTES_WITHOUT_START)
    except OSError:
        return False
    return TOKEN.encode() in head and b'"run_start"' in head


def read_entry(folder: Path, note: str | None = None) -> Entry:
    """Return the entry whose logs are in ``folder``."""
    submitter, system, benchmark = _place(folder)
    factor, notes = _scaling_factor(folder / "scaling.json")
    logs = entry_logs(folder)
    if not benchmark:
        benchmark, reason = _stated_benchmark(logs)
        notes.append(f"logs lie in the folder of the system: {reason}")
    return Entry(
        key=EntryKey(_round(submitter), *map(printable, (submitter.name, system, benchmark))),
        folder=folder,
        description=read_description(submitter / "systems" / f"{system}.json"),
        logs=tuple(logs),
        scaling_factor=factor,
        notes=tuple(map(printable, filter(None, (note, *notes, *_odd_files(folder, logs))))),
    )


def _place(folder: Path) -> tuple[Path, str, str]:
    """Return (submitter's folder, system, benchmark) of a folder of logs.

    They are read off the folder called ``results``, that of the path as given before that of the
    folder a link leads to. The innermost folder is the benchmark, and one directly below
    ``results`` has none of its own.
    """
    for path in (_absolute(folder), folder.resolve()):
        inside = _inside_results(path)
        if inside:
            submitter = path.parents[len(inside)]
            return submitter, inside[0], inside[-1] if len(inside) > 1 else ""
    path = folder.resolve()
    return path.parent.parent, path.parent.name, path.name


def _stated_benchmark(logs: Iterable[Path]) -> tuple[str, str]:
    """Return the benchmark that the logs themselves state, and that they do."""
    stated = [read_log(log, (_BENCHMARK,)).value(_BENCHMARK) for log in logs]
    names = sorted({name for name in stated if isinstance(name, str) and name})
    if len(names) == 1:
        return names[0], f"{names[0]} is their {_BENCHMARK}"
    return "unknown", f"their {_BENCHMARK} is {' and '.join(names) or 'not stated'}"


def _odd_files(folder: Path, logs: Sequence[Path]) -> Iterator[str]:
    """Yield what else in a folder could be taken for a run."""
    if logs and not _RUN_LOG.fullmatch(logs[0].name):
        yield f"logs are not named result_N.txt, but such as {logs[0].name}"
    known = {log.name for log in logs}
    with os.scandir(folder) as there:
        others = sorted(each.name for each in there if each.name not in known)
    for file in map(folder.joinpath, others):
        if _RUN_LOG.fullmatch(file.name):
            yield f"{file.name} is not a file that can be read: not counted"
        elif file.name.startswith("result_") or _is_other_log(file):
            yield f"{file.name} is not named result_N.txt: not counted"


def entry_logs(folder: Path) -> list[Path]:
    """Return the run logs in the folder of an entry, ``result_10`` behind ``result_9``."""
    with os.scandir(folder) as there:  # Tells files from folders without a call for each.
        names = [each.name for each in there if each.is_file()]
    named = [folder / name for name in names if _RUN_LOG.fullmatch(name)]
    found = named or [file for file in map(folder.joinpath, names) if _is_other_log(file)]
    return sorted(found, key=_natural_order)


def _natural_order(file: Path) -> list[tuple[int, str]]:
    return [(int(part or 0), rest) for part, rest in re.findall(r"(\d*)(\D*)", file.name)]


def _round(submitter: Path) -> str:
    """Return the round a submitter's folder belongs to, by the folders it lies in."""
    for folder in (*submitter.parents, *submitter.resolve().parents):
        match = _ROUND.fullmatch(folder.name)
        if match:
            return f"v{match[1]}"
    return UNVERIFIED


def _scaling_factor(file: Path) -> tuple[float | None, list[str]]:
    if not file.exists():
        return None, []
    try:
        factor = float(json.loads(file.read_bytes())["scaling_factor"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return None, [f"scaling.json cannot be used ({error!r}): time is not normalised"]
    if not 0 < factor < math.inf:
        return None, [f"scaling.json cannot be used (factor {factor}): time is not normalised"]
    return factor, []


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
