"""The built-in table says what the logs say."""

import csv
from pathlib import Path

import pytest

from mlbench.score.leaderboard import leaderboard
from mlbench.score.published import decode, encode, published, rounds, table, without_those_at_hand
from mlbench.score.statistics import Metric, compare
from tests.conftest import OFFICIAL
from tests.results import read_results

ALL_ROUNDS = ["v0.7", "v1.0", "v1.1", "v2.0", "v2.1", "v3.0", "v3.1", "v4.0", "v4.1", "v5.0"]


def test_every_round_with_bert_is_there() -> None:
    assert rounds() == ALL_ROUNDS
    assert {row.result.key.benchmark for row in table()} == {"bert"}
    keys = [row.result.key for row in table()]
    assert len(set(keys)) == len(keys) == 345


def test_a_row_survives_its_line() -> None:
    for row in table():
        assert decode(encode(row).strip()) == row


def test_the_hundred_official_scores_are_there_to_a_nanominute() -> None:
    file = OFFICIAL / "official_bert_scores.csv"
    if not file.exists():
        pytest.skip(f"published scores are not here: {file.name}")
    ours = {
        (row.result.key.round, row.result.key.submitter, row.result.key.system): row.result.minutes
        for row in published(["v2.0", "v2.1"])
    }
    with (OFFICIAL / "official_bert_scores_detail.csv").open(encoding="utf-8") as lines:
        theirs = list(csv.DictReader(lines))
    assert len(theirs) == len(ours) == 100
    for line in theirs:
        minutes = ours[line["round"], line["submitter"], line["system_folder"]]
        assert minutes == pytest.approx(float(line["score_minutes"]), abs=1e-9, rel=0)


def test_every_row_is_complete_but_the_one_whose_runs_all_missed_the_target() -> None:
    unranked = [row.result.key.system for row in table() if not row.result.is_complete]
    assert unranked == ["as-2124gq-nart+"]


def test_a_row_is_what_reading_its_logs_gives(official_rounds: Path) -> None:
    known = {row.result.key: row.result for row in table()}
    read = [each for each in read_results(official_rounds) if each.key.benchmark == "bert"]
    assert len(read) >= 15
    for result in read:
        row = known[result.key]
        assert row.minutes == result.minutes
        assert row.throughput == result.throughput
        assert row.problems == result.problems
        assert [run.digest for run in row.runs] == [run.digest for run in result.runs]
        assert row.num_accelerators == result.num_accelerators
        beside = compare(row, result, Metric.TIME, 1.02)
        assert beside is not None
        assert beside.ratio == 1.0


def test_rows_whose_logs_are_at_hand_are_not_told_twice(official_rounds: Path) -> None:
    read = read_results(official_rounds / "v2.1" / "Baidu")
    rows = list(without_those_at_hand(published(["v2.1"]), read))
    assert len(rows) == 46
    board = leaderboard([*read, *(row.result for row in rows)])
    assert sum(len(ranking.standings) for ranking in board.rankings) == 47


def test_what_today_s_rules_say_is_kept_apart_from_the_result() -> None:
    """The checker's 2.1.0 was edited after the round: 40 of 47 entries fail, all are ranked."""
    rows = published(["v2.1"])
    assert {row.ruleset for row in rows} == {"2.1.0"}
    failing = [row for row in rows if row.num_passed < len(row.result.runs)]
    assert len(failing) == 40
    assert all(row.result.is_complete for row in rows)
