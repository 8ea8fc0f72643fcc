"""The official checker's verdict is passed on as it is, crashes included."""

from pathlib import Path

import pytest

from mlbench.benchmarks.bert import BERT
from mlbench.check.official import (
    check_officially,
    official_command,
    require_ruleset,
    ruleset_of,
)
from mlbench.errors import UsageError
from tests.logs import START_MS, line, run_log

OPEN_LOG = "".join(
    [
        line("submission_benchmark", "bert"),
        line("submission_division", "open"),
        line("submission_org", "me"),
        line("submission_platform", "box"),
        line("submission_status", "onprem"),
        line("cache_clear", True),
        line("init_start"),
        line("init_stop"),
        line("run_start"),
        line("block_start", None, first_epoch_num=0, epoch_count=1, samples_count=0),
        line("block_stop", None, first_epoch_num=0, samples_count=1),
        line("eval_accuracy", 0.2, epoch_num=1),
        line("train_samples", 1),
        line("eval_samples", 1),
        line("run_stop", None, START_MS + 1, status="success"),
    ]
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "result_0.txt"
    file.write_text(OPEN_LOG, "utf-8")
    return file


@pytest.mark.parametrize("ruleset", ["2.0.0", "5.0.0"])
def test_a_log_that_keeps_the_rules_passes(log: Path, ruleset: str) -> None:
    verdict = check_officially(log, ruleset)
    assert verdict.passed
    assert verdict.complaints == ()
    assert verdict.ruleset == ruleset
    assert verdict.checker.startswith("mlperf-logging ")


def test_each_broken_rule_is_a_complaint(log: Path) -> None:
    text = OPEN_LOG.replace("cache_clear", "cache_cleared").replace("eval_samples", "evaluated")
    log.write_text(text, "utf-8")
    verdict = check_officially(log, "5.0.0")
    assert not verdict.passed
    joined = "\n".join(verdict.complaints)
    assert "'cache_clear'" in joined
    assert "'eval_samples'" in joined
    assert len(verdict.complaints) == 2


def test_a_crash_of_the_checker_is_a_failure(log: Path) -> None:
    log.write_text(OPEN_LOG.replace('"open"', '"Open"'), "utf-8")
    verdict = check_officially(log, "5.0.0")
    assert not verdict.passed
    assert "crashed" in verdict.complaints[0] or "submission_division" in verdict.complaints[0]


def test_an_unknown_rule_set_is_an_error(log: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown rule set '9\.9\.9' \(known: .*2\.1\.0"):
        check_officially(log, "9.9.9")


def test_a_rule_set_is_checked_before_a_run() -> None:
    require_ruleset("2.1.0", BERT)
    with pytest.raises(UsageError, match=r"unknown rule set '5\.0\.1'; did you mean"):
        require_ruleset("5.0.1", BERT)
    with pytest.raises(UsageError, match=r"rule set 6\.1\.0 does not know bert; its last is 5"):
        require_ruleset("6.1.0", BERT)


def test_the_checker_leaves_nothing_behind(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(log.parent)
    check_officially(log, "5.0.0")
    assert [file.name for file in log.parent.iterdir()] == ["result_0.txt"]


@pytest.mark.parametrize(
    ("folder", "ruleset"),
    [("training_results_v2.1/x", "2.1.0"), ("v4.0/x", "4.0.0"), ("results/x", "5.0.0")],
)
def test_the_rule_set_is_that_of_the_round(tmp_path: Path, folder: str, ruleset: str) -> None:
    assert ruleset_of(tmp_path / folder / "result_0.txt") == ruleset


def test_the_command_names_the_log_in_full(log: Path) -> None:
    assert official_command(log, "5.0.0")[-3:] == ["--ruleset", "5.0.0", str(log)]


def test_a_published_log_passes_the_rules_of_its_round(official_rounds: Path) -> None:
    log = official_rounds / "v2.0/NVIDIA/results/dgxa100_ngc22.04_pytorch/bert/result_0.txt"
    assert check_officially(log, ruleset_of(log)).passed


def test_a_run_without_stop_fails(log: Path) -> None:
    log.write_text(run_log(status=None), "utf-8")
    verdict = check_officially(log, "2.0.0")
    assert any("run_stop" in complaint for complaint in verdict.complaints)
