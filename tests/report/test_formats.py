"""One table, every format: values survive, texts are what people read."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from mlbench import registry
from mlbench.registry import Group
from mlbench.report import Report
from mlbench.report.leaderboard import leaderboard_report
from mlbench.score.entry import score_entry
from mlbench.score.leaderboard import leaderboard
from mlbench.submission.store import find_entries
from tests.logs import run_log, write_entry

FORMATS = registry.names(Group.REPORT)


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Two complete entries of a round, and one run of ours, in ``.``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    root = Path("v2.1")
    write_entry(root, [run_log(60.0 * n, seed=n) for n in range(1, 11)], system="slow")
    write_entry(
        root,
        [run_log(30.0 * n, seed=n) for n in range(1, 11)],
        system="fa|st",
        description={"number_of_nodes": 2.0, "framework": "Pa*ddle"},
    )
    write_entry(
        Path("mine"),
        [run_log(12.0)],
        submitter="me",
        description={
            "accelerators_per_node": "0",
            "framework": "",
        },
    )
    entries = find_entries([Path("v2.1"), Path("mine")])
    return leaderboard_report(leaderboard(map(score_entry, entries)), ("v2.1", "mine"))


def rendered(report: Report, form: str) -> str:
    text = registry.load(Group.REPORT, form)(report)
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_gives_every_entry_and_ends_with_a_newline(report: Report, form: str) -> None:
    text = rendered(report, form)
    assert text.endswith("\n")
    assert text == rendered(report, form)
    for word in ("acme", "slow", "2.750", "5.500") if form != "json" else ("acme", "5.5"):
        assert word.rstrip("0") in text


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_without_rows_is_no_fault(form: str) -> None:
    assert isinstance(rendered(Report((), ()), form), str)


def rows_of(report: Report) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(rendered(report, "json"))["rows"]
    return rows


def test_json_has_the_schema_and_every_value(report: Report) -> None:
    document = json.loads(rendered(report, "json"))
    assert document["schema"] == "mlbench.compare/1"
    assert document["inputs"] == ["v2.1", "mine"]
    assert [group["round"] for group in document["groups"]] == ["unverified", "v2.1"]
    mine, fast, slow = document["rows"]
    assert (fast["rank"], slow["rank"], mine["rank"]) == (1, 2, None)
    assert (fast["minutes"], fast["ratio"], slow["ratio"]) == (2.75, 1.0, 2.0)
    assert fast["spread_minutes"] == [1.0, 4.5]
    assert (fast["num_accelerators"], slow["num_accelerators"], mine["num_accelerators"]) == (
        16,
        8,
        0,
    )
    assert mine["framework"] is None
    assert mine["problems"] == ["1 of 10 runs: plain mean, no rank"]


def test_csv_holds_what_json_holds(report: Report) -> None:
    lines = list(csv.DictReader(io.StringIO(rendered(report, "csv"))))
    rows = rows_of(report)
    assert len(lines) == len(rows) == 3
    for cells, row in zip(lines, rows, strict=True):
        assert list(cells) == list(row)
        for key, value in row.items():
            if isinstance(value, list):
                assert cells[key] == "; ".join(map(str, value))
            elif isinstance(value, float):
                assert float(cells[key]) == value
            else:
                assert cells[key] == ("" if value is None else str(value))


MARKDOWN = """\
### bert, closed, v2.1

| # | submitter | system | accelerators | framework | minutes | min-max | ratio | \
samples/s | runs |
| ---: | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |
| 1 | acme | fa\\|st | 16 x Chip | Pa*ddle | 2.750 | 1.000-4.500 | 1.000 | 3,636 | 10/10 |
| 2 | acme | slow | 8 x Chip | PyTorch | 5.500 | 2.000-9.000 | 2.000 | 1,818 | 10/10 |
"""


def test_markdown_is_the_golden_table(report: Report) -> None:
    assert MARKDOWN in rendered(report, "markdown")


def test_notes_say_what_is_unverified_and_why_there_is_no_rank(report: Report) -> None:
    text = rendered(report, "markdown")
    assert "- these runs are unverified: MLCommons has not reviewed them" in text
    assert "- me/box: 1 of 10 runs: plain mean, no rank" in text
    assert "| - | me | box | none; CPUs of 1 node | ? | 0.200 |" in text


@pytest.mark.parametrize("width", ["60", "80", "100", "120", "200"])
def test_the_terminal_table_fits_and_is_ascii(
    report: Report, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    text = rendered(report, "terminal")
    assert text.isascii()
    table = [line for line in text.splitlines() if "|" in line or "+-" in line]
    assert len(table) >= 5
    if int(width) >= 80:
        assert max(map(len, table)) <= int(width)
    for number in ("2.750", "5.500", "1.000-4.500", "3,636", "10/10"):
        assert number in text


def test_a_narrow_terminal_loses_columns_by_name_and_no_letters(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert "no room" not in rendered(report, "terminal")
    monkeypatch.setenv("COLUMNS", "74")
    text = rendered(report, "terminal")
    assert "no room for accelerators, framework" in text
    assert "Chip" not in text
    assert "fa|st" in text
