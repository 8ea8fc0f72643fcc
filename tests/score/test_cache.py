"""The cache gives back the very result, or none."""

import dataclasses
import multiprocessing
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlbench.runlog.read import parse_log
from mlbench.score import Evaluation, RunResult, cache
from mlbench.score.cache import ResultCache, decode, default_file, encode
from mlbench.score.run import score_run
from mlbench.vocabulary import RunStatus
from tests.logs import line, run_log

finite = st.floats(allow_nan=False, allow_infinity=False)
number = st.none() | finite
value = st.recursive(
    st.none() | st.booleans() | finite | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
results = st.builds(
    RunResult,
    file=st.text(),
    digest=st.text(),
    elapsed=number,
    run_status=st.none() | st.sampled_from(RunStatus),
    start_ms=number | st.integers(0, 2**50),
    evaluations=st.lists(st.builds(Evaluation, finite, number, number), max_size=4).map(tuple),
    num_samples=number,
    samples_source=st.text(),
    convergence=number,
    logged_throughput=number,
    quality_target=number,
    global_batch_size=st.none() | st.integers(0, 2**60),
    seeds=st.lists(st.integers(0, 2**64 - 1), max_size=3).map(tuple),
    stated=st.dictionaries(st.text(max_size=5), value, max_size=3),
    hyperparameters=st.dictionaries(st.text(max_size=5), value, max_size=3),
    problems=st.lists(st.text(), max_size=3).map(tuple),
)


def result(**changes: Any) -> RunResult:
    run = score_run(parse_log(run_log().encode(), Path("result_3.txt")), "bert", "d1")
    return dataclasses.replace(run, **changes)


@given(results)
def test_results_come_back_as_they_were(run: RunResult) -> None:
    data = encode(run)
    if data is not None:
        # By its text too, so that 1 is not 1.0.
        assert decode(data) == run
        assert repr(decode(data)) == repr(run)


def test_an_ordinary_result_is_kept() -> None:
    assert encode(result()) is not None


@pytest.mark.parametrize(
    "run",
    [
        result(elapsed=float("nan")),
        result(hyperparameters={"opt_epsilon": float("inf")}),
        result(seeds=(2**70,)),
        result(stated={"submission_org": "\ud800"}),
    ],
    ids=["NaN", "infinite", "large", "surrogate"],
)
def test_what_json_does_not_hold_is_not_kept(run: RunResult) -> None:
    assert encode(run) is None


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "runs.sqlite"


def kept(file: Path, digest: str = "d1") -> RunResult | None:
    results = ResultCache(file)
    try:
        return results.get(digest, "bert", "result_3.txt")
    finally:
        results.close()


def keep(file: Path, *runs: RunResult) -> None:
    results = ResultCache(file)
    results.put([("bert", run) for run in runs])
    results.close()


def test_a_result_is_found_by_all_it_was_made_of(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(file, result())
    assert kept(file) == result()
    results = ResultCache(file)
    assert results.get("d2", "bert", "result_3.txt") is None
    assert results.get("d1", "resnet", "result_3.txt") is None
    assert results.get("d1", "bert", "result_4.txt") is None
    monkeypatch.setattr(cache, "_version", lambda: "another")
    assert results.get("d1", "bert", "result_3.txt") is None
    results.close()


def test_the_version_is_that_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache._version()
    (tmp_path / "run.py").write_text("one = 1\n")
    monkeypatch.setattr("mlbench.score.__path__", [str(tmp_path)])
    cache._version.cache_clear()
    first = cache._version()
    (tmp_path / "run.py").write_text("one = 2\n")
    cache._version.cache_clear()
    assert len({before, first, cache._version()}) == 3
    monkeypatch.undo()
    cache._version.cache_clear()
    assert cache._version() == before


@pytest.mark.parametrize("damage", ["text", "empty", "cut", "bytes", "row", "moved"])
def test_a_damaged_cache_is_no_fault(file: Path, damage: str) -> None:
    keep(file, result(), result(digest="d2", elapsed=1.0))
    data = file.read_bytes()
    if damage == "text":
        file.write_text("no database\n" * 1000)
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "cut":
        file.write_bytes(data[: len(data) // 2])
    elif damage == "bytes":
        file.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    else:
        connection = sqlite3.connect(file)
        rows = connection.execute("SELECT key, data FROM runs ORDER BY number").fetchall()
        other = rows[1][1] if damage == "moved" else rows[0][1].replace(b"success", b"aborted")
        connection.execute("UPDATE runs SET data = ? WHERE key = ?", (other, rows[0][0]))
        connection.commit()
        connection.close()
    assert kept(file) is None
    keep(file, result())
    keep(file, result())
    assert kept(file) == result()


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    keep(tmp_path / "file" / "runs.sqlite", result())
    assert kept(tmp_path / "file" / "runs.sqlite") is None
    (tmp_path / "runs.sqlite").mkdir()
    keep(tmp_path / "runs.sqlite", result())
    assert kept(tmp_path / "runs.sqlite") is None


def test_a_locked_cache_is_no_fault(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_SECONDS_TO_WAIT", 0.01)
    keep(file, result())
    connection = sqlite3.connect(file)
    connection.execute("BEGIN EXCLUSIVE")
    keep(file, result(digest="d2"))
    assert kept(file) is None
    connection.close()
    assert kept(file) == result()
    assert kept(file, "d2") is None


def test_the_oldest_results_go(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_ROWS", 3)
    keep(file, *(result(digest=f"d{n}") for n in range(1, 6)))
    assert [kept(file, f"d{n}") is not None for n in range(1, 6)] == [False] * 2 + [True] * 3


def _keep_many(file: Path, first: int) -> None:
    for number in range(first, first + 10):
        keep(file, result(digest=f"d{number}"))


def test_several_processes_share_it(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_keep_many, args=(file, 10 * n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [kept(file, f"d{n}") for n in range(30)] == [result(digest=f"d{n}") for n in range(30)]


def test_the_cache_is_in_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_file() == tmp_path / "mlbench" / "runs.sqlite"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # The convention says to ignore it.
    assert default_file() == Path.home() / ".cache" / "mlbench" / "runs.sqlite"


def test_a_log_without_events_is_kept() -> None:
    run = score_run(parse_log(b"nothing\n" + line("x")[:20].encode(), Path("a")), "bert")
    data = encode(run)
    assert data is not None
    assert decode(data) == run
