"""Entries are ranked against their like only."""

from pathlib import Path

from mlbench.score.entry import score_entry
from mlbench.score.leaderboard import leaderboard
from mlbench.submission.store import find_entries
from tests.logs import line, run_log, write_entry


def test_groups_are_never_mixed(tmp_path: Path) -> None:
    logs = [run_log(60.0, seed=n) for n in range(10)]
    open_logs = [text.replace('"closed"', '"open"') for text in logs]
    ours = [text + line("quality_target", 0.2) for text in logs]
    write_entry(tmp_path / "v2.1", logs)
    write_entry(tmp_path / "v2.0", logs)
    write_entry(tmp_path / "v2.1", open_logs, submitter="other", description={"division": "Open"})
    write_entry(tmp_path / "mine", logs, submitter="me")
    write_entry(tmp_path / "mine", ours, submitter="us", system="tiny")
    board = leaderboard(map(score_entry, find_entries([tmp_path])))
    assert [str(ranking.key) for ranking in board.rankings] == [
        "bert, closed, unverified: not reviewed by MLCommons",
        "bert, closed, unverified: not reviewed by MLCommons, target 0.2",
        "bert, closed, v2.0",
        "bert, closed, v2.1",
        "bert, open, v2.1",
    ]


def test_only_complete_entries_are_ranked_but_all_are_shown_by_time(tmp_path: Path) -> None:
    full = [run_log(120.0, seed=n) for n in range(10)]
    write_entry(tmp_path, full, system="b")
    write_entry(tmp_path, [run_log(60.0)], system="a")
    write_entry(tmp_path, [run_log(240.0, seed=n) for n in range(10)], system="c")
    write_entry(tmp_path, [run_log(status="aborted")], system="d")
    (ranking,) = leaderboard(map(score_entry, find_entries([tmp_path]))).rankings
    rows = [(s.result.entry.key.system, s.rank, s.ratio) for s in ranking.standings]
    assert rows == [("a", None, 1.0), ("b", 1, 2.0), ("c", 2, 4.0), ("d", None, None)]
