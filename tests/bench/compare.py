"""What ``mlbench compare`` of a whole round costs."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.bench import Figure, median, spread
from tests.bench._round import bert_part, make_round
from tests.conftest import OFFICIAL

ROUNDS = 5
BUILD = Path("build/bench")
RULESET = "4.1.0"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took, with all its processes."""

    cpu: float
    """Seconds, user and system."""
    wall: float


def figures() -> Iterator[Figure]:
    """Cold against grep and the official summarizer; from the cache; peak memory."""
    tree = make_round(BUILD)
    logs = sorted(tree.rglob("result_*.txt"))
    size = sum(log.stat().st_size for log in logs) / 1e6
    shape = f"{len(logs)} logs, {size:.0f} MB"
    cold, grep = _in_turn(compare([tree], "--no-cache"), grep_events(logs))
    yield _ratio("compare.vs_grep", cold, grep, f"`grep -c :::MLLOG`; {shape}", goal=4)
    yield Figure(
        name="compare.cold_seconds",
        value=median([cost.wall for cost in cold]),
        unit="s",
        better="lower",
        against=f"{spread([cost.wall for cost in cold])}; without the cache; {shape}",
    )
    yield _cached(tree, shape)
    yield Figure(
        name="compare.peak_memory_mb",
        value=_peak_memory(compare([tree], "--no-cache")) / 1e6,
        unit="MB",
        better="lower",
        goal=300,
        against=f"resident, all processes together, without the cache; {shape}",
    )
    yield _against_official(tree)
    archive = OFFICIAL / "rounds.tar.xz"
    if archive.exists():
        yield _pack(archive)


def compare(trees: Sequence[Path], *options: str) -> list[str]:
    """Return the command that is measured."""
    return [sys.executable, "-m", "mlbench", "compare", *map(str, trees), *options]


def grep_events(logs: Sequence[Path]) -> list[str]:
    """Return the command that a reader cannot be much cheaper than."""
    return ["grep", "-c", ":::MLLOG", *map(str, logs)]


def cost(command: Sequence[str], **environment: str) -> Cost:
    """Run a command, its output into a file, which grep does not look away from."""
    variables = {**os.environ, **environment}
    # As installed: what was once compiled is not compiled again.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=output, env=variables)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            message = output.read().decode(errors="replace")[-2000:]
            raise RuntimeError(f"{command[:6]} ended with {process.returncode}: {message}")
    return Cost(usage.ru_utime + usage.ru_stime, wall)


def _in_turn(*commands: Sequence[str]) -> list[list[Cost]]:
    """Return the costs of each command, run in turn; a first turn fills the page cache."""
    turns = [[cost(command) for command in commands] for _ in range(ROUNDS + 1)]
    return [list(each) for each in zip(*turns[1:], strict=True)]


def _ratio(
    name: str, ours: Sequence[Cost], theirs: Sequence[Cost], against: str, goal: float | None
) -> Figure:
    ratios = [one.cpu / other.cpu for one, other in zip(ours, theirs, strict=True)]
    seconds = f"{median([c.cpu for c in ours]):.3f} s to {median([c.cpu for c in theirs]):.3f} s"
    return Figure(
        name=name,
        value=median(ratios),
        unit="x CPU",
        better="lower",
        goal=goal,
        against=f"{spread(ratios)}, in turn; {seconds}; {against}",
    )


def _cached(tree: Path, shape: str) -> Figure:
    """Wall time beyond that of an interpreter that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        cost(compare([tree]), XDG_CACHE_HOME=folder)
        beyond = []
        for _ in range(ROUNDS):
            bare = cost([sys.executable, "-c", "pass"])
            beyond.append(cost(compare([tree]), XDG_CACHE_HOME=folder).wall - bare.wall)
    return Figure(
        name="compare.cached_seconds",
        value=median(beyond),
        unit="s",
        better="lower",
        goal=0.5,
        against=f"{spread(beyond)}; second call, beyond a bare interpreter; {shape}",
    )


def _peak_memory(command: Sequence[str]) -> float:
    """Return the most bytes that a command and its children had resident at once."""
    process = psutil.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        time.sleep(0.002)
        now = 0
        try:
            for each in (process, *process.children(recursive=True)):
                now += each.memory_info().rss
        except psutil.NoSuchProcess:
            continue
        peak = max(peak, now)
    return float(peak)


def _against_official(tree: Path) -> Figure:
    """CPU of MLPerf's own summarizer on the entries of BERT; it writes where it reads."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "training_results_v2.1"
        for entry in bert_part(tree):
            submitter, system = entry.parents[2], entry.parent.name
            target = copy / submitter.name
            shutil.copytree(entry, target / "results" / system / "bert")
            (target / "systems").mkdir()
            description = Path("systems") / f"{system}.json"
            shutil.copy(submitter / description, target / description)
        ours = [cost(compare([copy], "--no-cache")) for _ in range(ROUNDS)]
        csv = Path(folder) / "summary.csv"
        program = "from mlperf_logging.result_summarizer.result_summarizer import main; main()"
        theirs = cost(
            [
                *(sys.executable, "-c", program, f"{copy}/{{*}}", "training", RULESET),
                *("--csv", str(csv)),
            ]
        )
        rows = len(csv.read_text("utf-8").splitlines()) - 1
    entries = len(bert_part(tree))
    if rows < entries:
        raise RuntimeError(f"the summarizer has {rows} of {entries} entries: not comparable")
    ratios = [theirs.cpu / each.cpu for each in ours]
    return Figure(
        name="compare.vs_official_cpu",
        value=median(ratios),
        unit="x",
        better="higher",
        goal=50,
        against=f"{spread(ratios)}; mlperf-logging's result_summarizer, one run: {theirs.cpu:.1f} s"
        f" to {median([each.cpu for each in ours]):.3f} s; {entries} entries of BERT, "
        f"{10 * entries} logs",
    )


def _pack(archive: Path) -> Figure:
    folder = BUILD / "pack"
    if not folder.exists():
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    logs = sorted(folder.rglob("result_*.txt"))
    ours, grep = _in_turn(compare([folder], "--no-cache"), grep_events(logs))
    size = sum(log.stat().st_size for log in logs) / 1e6
    against = f"`grep -c :::MLLOG`; {len(logs)} published logs, {size:.0f} MB: mostly start-up"
    return _ratio("compare.pack_vs_grep", ours, grep, against, goal=None)
