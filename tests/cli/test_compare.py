"""``mlbench compare`` as it is typed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mlbench.cli import main
from tests.conftest import Mlbench
from tests.logs import run_log, write_entry


def code_of(*arguments: object) -> int:
    with pytest.raises(SystemExit) as caught:
        main([str(each) for each in arguments])
    assert isinstance(caught.value.code, int)
    return int(caught.value.code)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A round with a fast system, one a tenth slower, and one of another benchmark and maker."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    root = tmp_path / "v2.0"
    for system, factor in (("fast", 1.0), ("slow", 1.1)):
        logs = [run_log(60.0 * factor + 0.01 * n, seed=n) for n in range(10)]
        write_entry(root, logs, system=system)
    write_entry(
        root,
        [run_log(9.0, seed=n) for n in range(4)],
        submitter="other",
        benchmark="resnet",
        description={"division": "open", "accelerator_model_name": "NVIDIA A100-SXM4-80GB (400W)"},
    )
    return root


Rows = list[dict[str, Any]]


def rows(capsys: pytest.CaptureFixture[str], *arguments: object) -> Rows:
    assert code_of("compare", *arguments, "--json", "-") == 0
    found: Rows = json.loads(capsys.readouterr().out)["rows"]
    return found


FILTERS = {
    ("--benchmark", "bert"): {"fast", "slow"},
    ("--system", "slow"): {"slow"},
    ("--accelerator", "A100-SXM-80GB"): {"box"},
    ("--division", "open"): {"box"},
    ("--submitter", "other", "--submitter", "acme"): {"fast", "slow", "box"},
    ("--count", "8-16", "--benchmark", "bert"): {"fast", "slow"},
    ("--since", "2023-11-14", "--until", "2023-11-14"): {"fast", "slow", "box"},
}


@pytest.mark.parametrize("words", FILTERS)
def test_filters_choose_rows(
    tree: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert {row["system"] for row in rows(capsys, tree, *words)} == FILTERS[words]


def test_a_baseline_a_limit_and_a_metric(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, tree, "--benchmark", "bert", "--baseline", "slow", "--limit", "1")
    (fast,) = found
    assert fast["ratio"] == pytest.approx(1 / 1.1, rel=1e-3)
    assert fast["verdict"] == "faster"
    found = rows(capsys, tree, "--benchmark", "bert", "--metric", "throughput")
    assert [row["rank"] for row in found] == [1, 2]


def test_a_regression_ends_with_9_and_says_which(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("compare", tree, "--benchmark", "bert", "--fail-on-regression", "--baseline")
    assert code_of(*command, "fast") == 9
    printed = capsys.readouterr()
    assert "worse than fast in time: v2.0/acme/slow: ratio 1.100" in printed.err
    assert "fast" in printed.out
    assert code_of(*command, "slow") == 0
    assert code_of(*command, "fast", "--factor", "1.2") == 0


def test_strict_ends_with_8_where_a_row_has_no_rank(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of("compare", tree, "--benchmark", "bert", "--strict") == 0
    capsys.readouterr()
    assert code_of("compare", tree, "--strict") == 8
    printed = capsys.readouterr()
    assert "1 rows have no rank: v2.0/other/box" in printed.err
    assert "other" in printed.out


def test_published_rounds_stand_beside_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_entry(tmp_path / "mine", [run_log(12.0)], submitter="me")
    found = rows(capsys, tmp_path / "mine", "--published", "v2.1", "--limit", "10")
    assert [row["round"] for row in found[:2]] == ["unverified", "v2.1"]
    assert len([row for row in found if row["round"] == "v2.1"]) == 10 + 4 + 4 + 1
    assert [row["ruleset_pass"] for row in found[:2]] == [None, False]
    assert len(rows(capsys, "--published", "all")) == 345
    assert len(rows(capsys, "--published", "2.0, v2.1")) == 100


def test_groups_can_be_joined_and_rows_are_marked(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(
        capsys, tree, "--published", "v2.1", "--group-by", "benchmark", "--benchmark", "bert"
    )
    assert [row["rank"] for row in found] == list(range(1, 50))
    assert found[0]["marks"][:3] == ["v2.1", "closed", "available"]


def test_rules_are_asked_only_when_wanted(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (tree, "--system", "box")
    assert [row["ruleset_pass"] for row in rows(capsys, *words)] == [None]
    (row,) = rows(capsys, *words, "--check")
    assert (row["ruleset"], row["ruleset_pass"]) == ("2.0.0", False)
    assert row["checker"].startswith("mlperf-logging ")
    assert code_of("compare", *words, "--check") == 0
    printed = capsys.readouterr().out
    assert "0/4" in printed
    assert "passes: logs that pass the rule set as mlperf-logging" in printed


ERRORS = {
    ("--published", "v9.9"): (2, "no published round 'v9.9' (known: v0.7, v1.0"),
    ("--baseline", "nobody"): (2, "no row 'nobody' for --baseline"),
    ("--baseline", "acme"): (2, "means 2 rows: v2.0/acme/fast (bert), v2.0/acme/slow (bert)"),
    ("--columns", "minute"): (2, "no column 'minute'; did you mean 'minutes'?"),
    ("--sort", "-ranks"): (2, "no column 'ranks'; did you mean 'rank'?"),
    ("--group-by", "colour"): (2, "--group-by knows benchmark, round, division, availability"),
    ("--count", "many"): (2, "'many' is neither a count nor a range such as 8-64"),
    ("--count", "9-8"): (2, "'9-8' begins above its end"),
    ("--metric", "speed"): (2, "'speed' is not one of"),
    ("--factor", "0.9"): (2, "0.9 is not in the range"),
    ("--fail-on-regression",): (2, "--fail-on-regression needs --baseline ROW"),
    ("--json", "-", "--csv", "-"): (2, "only one format can go to standard output"),
    ("--benchmark", "ssd"): (8, "none of 3 rows passes the filters: benchmark ssd"),
    ("--plots", "/proc/no"): (2, "/proc/no: cannot be written"),
    ("--since", "soon"): (2, "'soon' does not match the format"),
}


@pytest.mark.parametrize("words", ERRORS)
def test_bad_input_is_one_clear_error(
    tree: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    code, message = ERRORS[words]
    assert code_of("compare", tree, *words) == code
    printed = capsys.readouterr()
    assert message in " ".join(printed.err.split())
    assert "Traceback" not in printed.err
    assert printed.out == ""


DESCRIPTIONS = {
    "missing": (None, "is missing"),
    "broken": (b'{"a": 1,}', "cannot be read"),
    "not UTF-8": (b"\xff\xfe\x00", "cannot be read"),
    "a list": (b"[]", "is not a JSON object"),
    "text for counts": (
        b'{"number_of_nodes": "8 (x2)", "accelerators_per_node": "many"}',
        "is '8 (x2)', not",
    ),
    "floats": (b'{"number_of_nodes": 1.5, "accelerators_per_node": null}', "is '1.5', not a count"),
    "empty": (b"", "cannot be read"),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_broken_description_costs_its_fields_and_not_the_row(
    tree: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    content, problem = DESCRIPTIONS[name]
    file = tree / "acme" / "systems" / "fast.json"
    file.unlink() if content is None else file.write_bytes(content)
    words = ("compare", tree, "--benchmark", "bert", "--group-by", "benchmark")
    assert code_of(*words) == 0
    printed = capsys.readouterr()
    (line,) = [line for line in printed.out.splitlines() if "fast " in line and "|" in line]
    assert "? x" in line
    assert problem in printed.out
    found = {row["system"]: row for row in rows(capsys, *words[1:])}
    assert found["fast"]["minutes"] == pytest.approx(1.0, rel=1e-3)
    assert found["fast"]["num_accelerators"] is None


FORMS = ("--json", "--csv", "--markdown", "--html")


def test_names_that_are_no_utf8_are_shown_in_every_format(tmp_path: Path) -> None:
    system = os.fsdecode(b"sys\xfe")
    folder = write_entry(
        tmp_path / os.fsdecode(b"sub\xff"),
        [run_log(60.0 + n, seed=n) for n in range(10)],
        system=system,
        description={"framework": "\ud800", "accelerator_model_name": "<b>"},
    )
    (folder / "result_9.txt").rename(folder / os.fsdecode(b"result_\xff.txt"))
    targets = [(form, tmp_path / f"board{form}") for form in FORMS]
    words = [str(word) for pair in targets for word in pair]
    assert code_of("compare", tmp_path, *words, "--plots", tmp_path / "plots", "--check") == 0
    for _, target in targets:
        assert "sys?" in target.read_text("utf-8")
    assert len(list((tmp_path / "plots").glob("*.svg"))) >= 2


def test_an_unknown_benchmark_is_listed_as_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_entry(tmp_path, [run_log()], benchmark="frobnicate")
    (row,) = rows(capsys, tmp_path)
    assert (row["benchmark"], row["rank"], row["runs_expected"]) == ("frobnicate", None, None)
    assert row["problems"][0].startswith("benchmark not known here")


def test_reading_leaves_the_input_as_it_was_and_two_calls_agree(
    tree: Path, mlbench: Mlbench, tmp_path: Path
) -> None:
    def state() -> list[tuple[str, int, int]]:
        files = sorted(tree.rglob("*"))
        return [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files]

    before = state()
    environment = {"XDG_CACHE_HOME": str(tmp_path / "other")}
    calls = [(), (), ("--no-cache",)]
    texts = [
        mlbench("compare", tree, "--json", "-", *words, environment=environment).stdout
        for words in calls
    ]
    assert texts[0] == texts[1] == texts[2] != ""
    assert state() == before


def test_colour_is_off_where_it_is_not_wanted(tree: Path, mlbench: Mlbench) -> None:
    done = mlbench("compare", tree, environment={"NO_COLOR": "1"})
    assert "\x1b" not in done.stdout
    assert done.returncode == 0
