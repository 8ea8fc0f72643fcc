"""One table, every format: values survive, texts are what people read."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.cells import cell_len

from mlbench import registry
from mlbench.errors import UsageError
from mlbench.registry import Group
from mlbench.report import Report
from mlbench.report.leaderboard import View, leaderboard_report
from mlbench.score.leaderboard import Leaderboard, Order, leaderboard
from mlbench.score.scaling import families
from tests.conftest import ROOT
from tests.logs import run_log, write_entry
from tests.results import read_results, result

FORMATS = registry.names(Group.REPORT)


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Two complete entries of a round, and one run of ours, in ``.``."""
    return leaderboard_report(board_of(tmp_path, monkeypatch), ("v2.1", "mine"))


def board_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leaderboard:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    root = Path("v2.0")
    logs = [run_log(60.0 * n, seed=n) for n in range(1, 11)]
    write_entry(root, logs, system="slow")
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
        description={"accelerators_per_node": "0", "framework": ""},
    )
    return leaderboard(read_results(Path("v2.0"), Path("mine")))


def rendered(report: Report, form: str) -> str:
    text = registry.load(Group.REPORT, form)(report)
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_gives_every_entry_and_ends_with_a_newline(report: Report, form: str) -> None:
    text = rendered(report, form)
    assert text.endswith("\n")
    assert text == rendered(report, form)
    for word in ("acme", "slow", "2.75", "5.5"):
        assert word in text


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_without_rows_is_no_fault(form: str) -> None:
    empty = Report((), (), Leaderboard((), Order()))
    assert isinstance(rendered(empty, form), str)


def rows_of(report: Report) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(rendered(report, "json"))["rows"]
    return rows


def test_json_has_the_schema_and_every_value(report: Report) -> None:
    document = json.loads(rendered(report, "json"))
    schema = json.loads((ROOT / "docs" / "compare.schema.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
    assert document["schema"] == "mlbench.compare/1"
    assert document["inputs"] == ["v2.1", "mine"]
    assert [group["round"] for group in document["groups"]] == ["unverified", "v2.0"]
    mine, fast, slow = document["rows"]
    assert (fast["rank"], slow["rank"], mine["rank"]) == (1, 2, None)
    assert (fast["minutes"], fast["ratio"], slow["ratio"]) == (2.75, 1.0, 2.0)
    assert fast["spread_minutes"] == [1.0, 4.5]
    assert slow["ci_low"] < 2.0 < slow["ci_high"]
    assert (fast["ci_low"], fast["ci_high"]) == (None, None)
    assert [row["num_accelerators"] for row in (fast, slow, mine)] == [16, 8, 0]
    assert mine["samples_per_second_per_accelerator"] is None
    assert fast["samples_per_second_per_accelerator"] == fast["samples_per_second"] / 16
    assert (mine["scorable"], mine["ruleset"], mine["ruleset_pass"]) == (True, None, None)
    assert (fast["ruleset"], fast["ruleset_pass"]) == ("2.0.0", None)
    assert mine["framework"] is None
    assert mine["problems"] == ["1 of 10 runs: plain mean, no rank"]


REQUIRED = (
    *("round", "submitter", "system", "benchmark", "division", "availability", "framework"),
    *("num_nodes", "num_accelerators", "accelerator", "runs_found", "runs_expected"),
    *("runs_converged", "minutes", "raw_minutes", "scaling_factor", "spread_minutes", "ci_low"),
    *("ci_high", "ratio", "samples_per_second", "samples_per_second_steady"),
    *("samples_per_second_per_accelerator", "throughput_source", "samples_to_target"),
    *("global_batch_size", "rank", "scorable", "ruleset", "ruleset_pass", "path", "problems"),
)


def test_the_schema_requires_every_promised_field() -> None:
    schema = json.loads((ROOT / "docs" / "compare.schema.json").read_text("utf-8"))
    row = schema["properties"]["rows"]["items"]
    assert set(REQUIRED) <= set(row["required"])
    assert set(row["required"]) == set(row["properties"])


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
### bert, closed, v2.0, available

| # | submitter | system | minutes | ratio | marks |
| ---: | --- | --- | ---: | ---: | --- |
| 1 | acme | fa\\|st | 2.750 | 1.000 |  |
| 2 | acme | slow | 5.500 | 2.000 |  |
"""


def test_markdown_is_the_golden_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = View(columns=("rank", "submitter", "system", "minutes", "ratio", "marks"))
    board = board_of(tmp_path, monkeypatch)
    assert MARKDOWN in rendered(leaderboard_report(board, view=view), "markdown")


def test_notes_say_what_is_unverified_and_why_there_is_no_rank(report: Report) -> None:
    text = rendered(report, "markdown")
    assert "- rows of no round are unverified: MLCommons has not reviewed them" in text
    assert "- me/box: 1 of 10 runs: plain mean, no rank" in text
    assert "percentile bootstrap over converged runs, 10,000 draws" in text
    assert "| - | me | box | none; CPUs of 1 node | ? | 0.200 |" in text


def test_a_single_submission_has_a_table_and_no_ratio(report: Report) -> None:
    table = report.tables[0]
    assert [len(each.rows) for each in report.tables] == [1, 2]
    shown = {table.columns[number].key for number in table.shown()}
    assert "minutes" in shown
    assert not shown & {"ratio", "interval", "verdict", "x_samples"}


@pytest.mark.parametrize("width", ["60", "80", "100", "120", "200", "300"])
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
    for number in ("2.750", "5.500", "2.000", "3,636"):
        assert number in text
    if int(width) >= 120:
        assert all(word in text for word in ("1.000-4.500", "1.153-3.500", "slower"))


def test_wide_characters_and_long_names_keep_the_columns_in_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = [
        result([1.0] * 10, name="v2.0/\u767e\u5ea6\u98de\u6868\u56e2\u961f\u63d0\u4ea4/a/bert"),
        result([2.0] * 10, name=f"v2.0/plain/{'long-' * 9}/bert"),
    ]
    lines = rendered(leaderboard_report(leaderboard(rows)), "terminal").splitlines()
    table = [line for line in lines if "|" in line]
    assert len({cell_len(line) for line in table}) == 1
    assert all(cell_len(line) <= 80 for line in table)
    assert {line.count("|") for line in table} == {table[0].count("|")}
    cells = [line.split("|")[2].strip() for line in table]
    assert "long-" * 9 in "".join(cells)


def test_a_narrow_terminal_loses_columns_by_name_and_no_letters(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert "no room" not in rendered(report, "terminal")
    monkeypatch.setenv("COLUMNS", "80")
    text = rendered(report, "terminal")
    assert "no room for accelerators, framework" in text
    assert "Chip" not in text
    assert "fa|st" in text


def test_columns_are_those_asked_for_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = board_of(tmp_path, monkeypatch)
    view = View(columns=("minutes", "global_batch_size", "marks", "system"))
    table = leaderboard_report(board, view=view).tables[1]
    shown = [table.columns[number].key for number in table.shown()]
    assert shown == ["minutes", "global_batch_size", "marks", "system"]
    with pytest.raises(UsageError, match="no column 'minute'; did you mean 'minutes'"):
        leaderboard_report(board, view=View(columns=("minute",)))


def test_rows_are_sorted_and_cut_as_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = board_of(tmp_path, monkeypatch)

    def systems(**view: Any) -> list[str]:
        table = leaderboard_report(board, view=View(**view)).tables[1]
        return [row[2].value for row in table.rows]

    assert systems() == ["fa|st", "slow"]
    assert systems(sort="-minutes") == ["slow", "fa|st"]
    assert systems(sort="num_accelerators") == ["slow", "fa|st"]
    assert systems(limit=1) == ["fa|st"]
    assert (
        "1 more rows: raise --limit"
        in leaderboard_report(board, view=View(limit=1)).tables[1].notes
    )
    with pytest.raises(UsageError, match="no column 'minuts'"):
        systems(sort="-minuts")


def test_rows_without_a_value_are_sorted_last() -> None:
    rows = [
        result([1.0] * 10, samples=None, name="v2.0/a/none/bert"),
        result([2.0] * 10, name="v2.0/a/some/bert"),
    ]
    for sort in ("samples_to_target", "-samples_to_target"):
        table = leaderboard_report(leaderboard(rows), view=View(sort=sort)).tables[0]
        assert [row[2].value for row in table.rows] == ["some", "none"]


def test_a_throughput_that_cannot_be_said_is_na_with_its_reason() -> None:
    runs = result([1.0] * 10, samples=None, samples_source="evaluations have no counter")
    (row,) = rows_of(leaderboard_report(leaderboard([runs])))
    assert row["samples_per_second"] is None
    assert row["throughput_source"] == "n/a: evaluations have no counter"


def test_scaling_stands_in_every_format_that_people_read() -> None:
    rows = [
        result([float(64 // count)] * 10, name=f"v2.0/a/x{count}/bert", accelerators=count)
        for count in (8, 16)
    ]
    report = leaderboard_report(leaderboard(rows), families=families(rows))
    for form in ("terminal", "markdown"):
        assert "scaling: bert, a, Chip, PyTorch, closed" in rendered(report, form)
        assert "100.00%" in rendered(report, form)
    (scaling,) = json.loads(rendered(report, "json"))["scaling"]
    assert [row["throughput_efficiency"] for row in scaling["rows"]] == [1.0, 1.0]
    assert len(rows_of(report)) == 2


def test_a_baseline_explains_each_ratio_and_problems_are_kept_short() -> None:
    base = result([2.0] * 10, name="v2.0/a/base/bert")
    other = result([3.0] * 8, samples=1_200_000.0, name="v2.0/a/other/bert", problems=("odd",))
    board = leaderboard([base, other], Order(baseline=base))
    notes = leaderboard_report(board).tables[0].notes
    assert "ratios are to v2.0/a/base" in notes
    assert "v2.0/a/other: 1.500 x the time = 2.000 x the samples / 1.333 x the throughput" in notes
    assert "a/other: 6 more notes in --json" in notes
