"""Published rounds come out as published, entry by entry and log by log."""

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from mlbench.score import BenchmarkResult
from mlbench.submission.store import find_entries
from tests.conftest import OFFICIAL
from tests.logs import scored_entry, scored_folder

Row = dict[str, str]
EntryOf = Callable[[Row], BenchmarkResult]
SKIP = "published logs are not here"


def rows(name: str) -> list[Row]:
    file = OFFICIAL / name
    return list(csv.DictReader(file.read_text("utf-8").splitlines())) if file.exists() else []


ENTRIES: list[Any] = rows("expected.csv") or [pytest.param({}, marks=pytest.mark.skip(reason=SKIP))]
OFFICIAL_BERT = {
    (row["round"], row["submitter"], row["system_folder"]): float(row["score_minutes"])
    for row in rows("official_bert_scores_detail.csv")
}


def name_of(row: Row) -> str:
    return "/".join(row.get(key, "") for key in ("round", "submitter", "system", "benchmark"))


@pytest.fixture(scope="module")
def entry_of(official_rounds: Path) -> EntryOf:
    """Score an entry of the published logs, once."""

    @cache
    def scored(path: str) -> BenchmarkResult:
        return scored_folder(official_rounds / path)

    def find(row: Row) -> BenchmarkResult:
        place = (row["round"], row["submitter"], "results", row["system"], row["benchmark"])
        return scored("/".join(place))

    return find


def exactly(printed: str) -> object:
    """A number as it was printed: to one part in a million, or half a unit of its last digit."""
    _, _, decimals = printed.partition(".")
    half = 0.5 * 10.0 ** -len(decimals)
    return pytest.approx(float(printed), rel=1e-6, abs=half if len(decimals) >= 6 else 0)


@pytest.mark.parametrize("row", ENTRIES, ids=name_of)
def test_the_time_of_an_entry_is_the_published_one(row: Row, entry_of: EntryOf) -> None:
    result = entry_of(row)
    assert result.minutes == exactly(row["olympic_minutes"])
    assert result.minutes == exactly(row["mlperf_logging_minutes"])
    assert result.raw_minutes == exactly(row["olympic_minutes_unscaled"])
    assert (result.scaling_factor or 1.0) == pytest.approx(float(row["scaling_factor"]), rel=1e-12)
    key = (row["round"], row["submitter"], row["system"])
    if row["benchmark"] == "bert":
        assert result.minutes == pytest.approx(OFFICIAL_BERT[key], abs=1e-9)


@pytest.mark.parametrize("row", ENTRIES, ids=name_of)
def test_the_throughput_of_an_entry_is_the_published_one(row: Row, entry_of: EntryOf) -> None:
    result = entry_of(row)
    found = result.throughput
    assert found is not None
    assert found.end_to_end == pytest.approx(float(row["throughput_samples_per_s"]), rel=1e-3)
    assert found.steady == pytest.approx(float(row["steady_samples_per_s"]), rel=1e-3)
    assert found.source.partition(" ")[0] == row["throughput_rung"]
    assert result.samples_to_target == pytest.approx(float(row["samples_to_converge"]), abs=0.5)


@pytest.mark.parametrize("row", ENTRIES, ids=name_of)
def test_an_entry_has_the_published_runs_and_nothing_is_held_against_it(
    row: Row, entry_of: EntryOf
) -> None:
    result = entry_of(row)
    assert len(result.runs) == int(row["n_runs"])
    assert result.runs_converged == int(row["n_converged"])
    assert result.is_complete
    failed = [file for file, _, how in [row["note"].partition(":")] if how]
    assert [text.partition(":")[0] for text in result.problems] == failed
    nodes = result.description.count("number_of_nodes") or 0
    each = result.description.count("accelerators_per_node") or 0
    assert (nodes, each) == (int(row["number_of_nodes"]), int(row["accelerators_per_node"]))


@pytest.mark.parametrize("row", ENTRIES, ids=name_of)
def test_each_log_gives_the_published_run(row: Row, entry_of: EntryOf) -> None:
    result = entry_of(row)
    key = [row[each] for each in ("round", "submitter", "system", "benchmark")]
    expected = {
        each["file"]: each
        for each in rows("expected_runs.csv")
        if key == [each[name] for name in ("round", "submitter", "system", "benchmark")]
    }
    assert {run.file for run in result.runs} == set(expected)
    for run in result.runs:
        row = expected[run.file]
        assert run.run_status == row["status"]
        assert run.elapsed == pytest.approx(float(row["seconds"]), abs=5e-4)
        assert run.num_samples == pytest.approx(float(row["samples"]), abs=0.5)
        assert run.samples_source.partition(" ")[0] == row["rung"]
        assert len(run.evaluations) == int(row["n_evals"])
        assert row["broken_lines"] == "0"
        assert not any("unreadable" in problem for problem in run.problems)


def test_no_entry_of_the_published_logs_is_left_out(official_rounds: Path) -> None:
    found = {
        f"{each.key.round}/{each.key.submitter}/{each.key.system}/{each.key.benchmark}": each
        for each in find_entries([official_rounds])
    }
    assert set(found) == {name_of(row) for row in rows("expected.csv")}
    assert sum(len(entry.logs) for entry in found.values()) == len(rows("expected_runs.csv"))


def test_a_published_log_of_all_ranks_gives_the_same_run(
    official_rounds: Path, tmp_path: Path
) -> None:
    """Every line once per rank, as a careless launcher writes it."""
    for name in ("v2.0/Baidu", "v2.1/HPE"):
        copytree(official_rounds / name, tmp_path / name)
    for entry in find_entries([tmp_path]):
        clean = scored_entry(entry)
        for log in entry.logs:
            lines = log.read_bytes().splitlines(keepends=True)
            log.write_bytes(b"".join(each for each in lines for _ in range(2)))
        doubled = scored_entry(entry)
        assert doubled.minutes == clean.minutes
        assert doubled.throughput == clean.throughput
