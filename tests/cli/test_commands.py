"""The command line: light to start, one clear error, documented exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlbench.cli import cli, main
from tests.conftest import Mlbench, clean_environment
from tests.logs import run_log, write_entry

HEAVY = ("torch", "transformers", "datasets", "pandas", "numpy", "pyarrow", "pydantic")
RANKS_ONLY = ("torch", "transformers", "datasets")


def imported_by(*arguments: object) -> set[str]:
    """The modules that a command imports."""
    code = (
        "import sys\n"
        "from mlbench.cli import main\n"
        "try:\n"
        f"    main({[str(each) for each in arguments]!r})\n"
        "finally:\n"
        "    print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
    )
    return {name.split(".")[0] for name in done.stderr.split("\n")[-2].split()}


@pytest.mark.parametrize(
    "command", [("--help",), ("run", "--help"), ("compare", "--help"), ("--version",)]
)
def test_help_imports_nothing_heavy(command: tuple[str, ...]) -> None:
    assert not imported_by(*command) & set(HEAVY)


def test_only_ranks_import_torch(small_config: Path, small_data: Path, tmp_path: Path) -> None:
    folder = write_entry(tmp_path, [run_log()])
    for command in (
        ("compare", tmp_path, "--csv", "-"),
        ("compare", tmp_path),
        ("check", folder / "result_0.txt"),
        ("config", "show", small_config),
        ("config", "schema"),
        ("data", "info", small_data / "prepared"),
        ("data", "prepare", small_config),
        ("run", small_config, "--dry-run"),
    ):
        modules = imported_by(*command)
        assert "mlbench" in modules
        assert not modules & set(RANKS_ONLY), command


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_explains_itself_with_an_example(name: str) -> None:
    command = cli.commands[name]
    done = CliRunner().invoke(cli, [name, "--help"])
    assert done.exit_code == 0
    subcommands = getattr(command, "commands", {})
    texts = [done.output]
    texts += [CliRunner().invoke(cli, [name, sub, "--help"]).output for sub in subcommands]
    assert all("Usage:" in text for text in texts)
    assert any("Example:" in text for text in texts)


def code_of(*arguments: object) -> int:
    with pytest.raises(SystemExit) as caught:
        main([str(each) for each in arguments])
    assert isinstance(caught.value.code, int)
    return int(caught.value.code)


def test_the_leaderboard_is_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_entry(tmp_path / "in", [run_log(60.0, seed=n) for n in range(10)])
    target = tmp_path / "board.json"
    assert code_of("compare", tmp_path / "in") == 0
    assert "acme" in capsys.readouterr().out
    assert code_of("compare", tmp_path / "in", "--json", target, "--markdown", "-") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("### bert, closed")
    assert json.loads(target.read_text())["rows"][0]["minutes"] == 1.0
    assert printed.err == f"wrote {target}\n"


def test_json_on_standard_output_is_only_json(mlbench: Mlbench, tmp_path: Path) -> None:
    write_entry(tmp_path, [run_log()])
    done = mlbench("compare", tmp_path, "--json", "-", environment={"FORCE_COLOR": "1"})
    assert json.loads(done.stdout)["schema"] == "mlbench.compare/1"


def test_two_calls_print_the_same(mlbench: Mlbench, tmp_path: Path) -> None:
    for system in ("b", "a"):
        write_entry(tmp_path, [run_log()] * 3, system=system)
    first, second = (mlbench("compare", tmp_path, "--json", "-").stdout for _ in range(2))
    assert first == second


ERRORS = {
    ("compare", "nowhere"): (8, "nowhere: no such file or folder"),
    ("compare", "."): (8, "no results found"),
    ("check", "nowhere"): (8, "nowhere: no such file or folder"),
    ("run", "nowhere"): (2, "config 'nowhere': no such file"),
    ("run",): (2, "Missing argument 'CONFIG'"),
    ("run", "x", "--runs", "0"): (2, "not in the range"),
    ("frobnicate",): (2, "No such command 'frobnicate'"),
    ("data", "info", "."): (6, "no prepared data here"),
    ("data", "verify", "nowhere"): (6, "no prepared data here"),
    ("config", "validate", "nowhere"): (2, "no such file"),
}


@pytest.mark.parametrize("words", ERRORS)
def test_an_error_is_one_message_and_a_documented_code(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code, message = ERRORS[words]
    assert code_of(*words) == code
    printed = capsys.readouterr()
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_debug_shows_where_an_error_came_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of("compare", tmp_path, "--debug") == 8
    assert "Traceback" in capsys.readouterr().err


def test_a_bug_is_called_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("mlbench.report.gather.score_entry", lambda entry, runs: 1 / 0)
    write_entry(tmp_path, [run_log()])
    assert code_of("compare", tmp_path) == 1
    printed = capsys.readouterr().err
    assert "this is a bug in mlbench: ZeroDivisionError" in printed
    assert "--debug" in printed
    assert "Traceback" not in printed


def test_a_reader_that_leaves_early_is_no_fault(tmp_path: Path) -> None:
    for number in range(40):
        write_entry(tmp_path, [run_log()], system=f"s{number}")
    command = f"{sys.executable} -m mlbench compare {tmp_path} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "0"


def test_a_check_that_fails_has_exit_code_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_entry(tmp_path, [run_log()])
    assert code_of("check", folder, "--json", "-") == 4
    printed = capsys.readouterr()
    (verdict,) = json.loads(printed.out)["verdicts"]
    assert not verdict["passed"]
    assert verdict["complaints"]
    assert "1 of 1 logs do not pass" in printed.err


def test_configs_are_listed_shown_and_validated(
    small_config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of("config", "list") == 0
    assert "bert-closed-like" in capsys.readouterr().out
    assert code_of("config", "show", small_config, "--origin", "--set", "train.seed=4") == 0
    shown = capsys.readouterr().out
    assert "# --set" in shown
    assert f"# {small_config}:" in shown
    bad = tmp_path / "bad.yaml"
    bad.write_text("trian: 1\n", "utf-8")
    assert code_of("config", "validate", small_config, bad) == 2
    printed = capsys.readouterr()
    assert printed.out == f"{small_config}: valid\n"
    assert "bad.yaml:1: trian: unknown key; did you mean 'train'?" in printed.err
    assert code_of("config", "schema") == 0
    assert json.loads(capsys.readouterr().out)["title"] == "RunConfig"


def test_data_are_prepared_described_and_verified(
    small_config: Path, small_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new"
    setting = f"data.path={folder}"
    assert code_of("data", "prepare", small_config, "--set", setting, "--dry-run") == 0
    assert json.loads(capsys.readouterr().out)["path"] == str(folder)
    assert not folder.exists()
    assert code_of("data", "prepare", small_config, "--set", setting) == 0
    assert capsys.readouterr().out == f"{folder}\n"
    assert code_of("data", "verify", folder) == 0
    assert "samples as the manifest says" in capsys.readouterr().out
    assert code_of("data", "info", folder) == 0
    assert json.loads(capsys.readouterr().out)["corpus"] == "text"


def test_a_vocabulary_is_trained_on_the_corpus(
    small_config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "v.txt"
    assert code_of("data", "vocabulary", small_config, "--size", 120, "--output", output) == 0
    tokens = output.read_text("utf-8").splitlines()
    assert tokens[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert len(tokens) <= 120
    assert f"{len(tokens)} tokens" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_entry(tmp_path, [run_log()])
    assert code_of("compare", tmp_path, "--json", tmp_path / "no" / "x.json") == 2
    assert "cannot be written" in capsys.readouterr().err
