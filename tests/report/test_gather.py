"""Every way to the results of a tree gives the same ones."""

import dataclasses
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from mlbench.errors import InputMissingError
from mlbench.report import gather as module
from mlbench.report.gather import gather
from mlbench.runlog import RunLog, parts
from mlbench.runlog.read import parse_parts
from mlbench.score import BenchmarkResult, RunResult
from mlbench.score.run import score_run
from tests.logs import line, run_log, write_entry


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    broken = run_log(50.0) + line("seed", 9)[:40] + "\n"
    for system in ("box", "rack"):
        logs = [run_log(60.0 + n, seed=n) for n in range(9)]
        write_entry(tmp_path / "tree", [*logs, broken], system=system)
    return tmp_path / "tree"


def scored(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Logs that are scored from now on, not taken from the cache."""
    found: list[Path] = []

    def noting(log: RunLog, *rest: Any) -> RunResult:
        found.append(log.path)
        return score_run(log, *rest)

    monkeypatch.setattr(module, "score_run", noting)
    return found


def test_the_second_time_results_come_from_the_cache(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = scored(monkeypatch)
    cold = gather([tree], use_cache=False)
    assert len(found) == 20
    first = gather([tree])
    assert len(found) == 40
    second = gather([tree])
    assert len(found) == 40
    assert cold == first == second
    log = tree / "acme" / "results" / "box" / "bert" / "result_3.txt"
    log.write_text(run_log(1.0), "utf-8")
    third = gather([tree])
    assert found[40:] == [log]
    assert third[0].runs[3].elapsed == 1.0
    assert third[1] == first[1]


def test_without_the_scanner_it_is_the_same(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = gather([tree], use_cache=False)
    monkeypatch.setattr(module, "SCANNER", None)
    assert gather([tree], use_cache=False) == fast
    assert any("unreadable" in problem for problem in fast[0].problems)


@pytest.mark.parametrize("use_cache", [True, False])
def test_in_several_processes_it_is_the_same(
    tree: Path, monkeypatch: pytest.MonkeyPatch, use_cache: bool
) -> None:
    expected = gather([tree], use_cache=False)
    monkeypatch.setattr(module, "_fewest_for_processes", lambda: 1)
    told: list[tuple[int, int]] = []
    for _ in range(2):
        results = gather([tree], lambda *each: told.append(each), use_cache=use_cache)
        assert results == expected
    assert told == [(n, 20) for n in range(1, 21)] * 2


def test_large_logs_are_read_in_parts(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = gather([tree], use_cache=False)
    monkeypatch.setattr(parts, "PART_SIZE", 500)
    sizes: list[int] = []

    def noting(found: Iterable[bytes], *rest: Any) -> RunLog:
        noted = list(found)
        sizes.extend(map(len, noted))
        return parse_parts(noted, *rest)

    monkeypatch.setattr(module, "parse_parts", noting)
    assert gather([tree], use_cache=False) == expected
    assert len(sizes) > 40
    assert max(sizes) < 1000


def test_an_empty_log_is_a_run_without_events(tree: Path) -> None:
    (tree / "acme" / "results" / "box" / "bert" / "result_3.txt").write_bytes(b"")
    results: list[BenchmarkResult] = gather([tree])
    assert results == gather([tree])
    assert "no event of MLPerf's log in this file" in results[0].runs[3].problems


def test_a_log_that_cannot_be_read_is_named(tree: Path) -> None:
    log = tree / "acme" / "results" / "box" / "bert" / "result_3.txt"
    jobs = [module._Job(log.with_name("gone.txt"), "bert")]
    with pytest.raises(InputMissingError, match=r"gone\.txt: cannot be read"):
        list(module._read_all(jobs, None))


def test_results_differ_by_what_differs(tree: Path) -> None:
    first, second = gather([tree])
    assert first.runs == second.runs
    assert dataclasses.replace(first, key=second.key, path=second.path) == second


def test_nothing_heavy_is_imported() -> None:
    heavy = {"pandas", "pydantic", "rich", "click", "psutil", "torch", "numpy"}
    code = "import sys, mlbench.report.gather; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())
