"""How a run ended, from what ranks and launcher left behind."""

from pathlib import Path

import pytest

from mlbench.errors import ExitCode, LaunchError, TargetMissedError
from mlbench.launch.run import Ending, judge, verified
from mlbench.launch.supervise import Exits
from mlbench.submission.records import RankReport, RunRecord
from tests.logs import run_log

ELASTIC = """\
E1201 api.py:1002] failed (exitcode: 7) local_rank: 0 (pid: 6475) of binary: python
Failures:
[1]:
  rank      : 1 (local_rank: 1)
  exitcode  : -9 (pid: 101)  (SIGKILL)
Root Cause (first observed failure):
[0]:
  rank      : 0 (local_rank: 0)
  exitcode  : 7 (pid: 100)
"""


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    record = RunRecord(tmp_path)
    record.rank_log(0).parent.mkdir()
    return record


def report(
    record: RunRecord, rank: int, exit_code: int | None, message: str = "", end_time: float = 0.0
) -> None:
    """Write the report of a rank; one without exit code has not ended."""
    record.rank_log(rank).write_text(f"last words of rank {rank}\n")
    record.write_report(
        RankReport(
            rank=rank,
            pid=100 + rank,
            host="node-a",
            ended=exit_code is not None,
            end_time=end_time,
            exit_code=exit_code,
            message=message,
            traceback=f"Traceback of {rank}" if exit_code == 7 else "",
        )
    )


def test_all_ranks_well_is_well(record: RunRecord) -> None:
    for rank in (0, 1):
        report(record, rank, 0)
    assert judge(Exits((0,)), record, 2).exit_code is ExitCode.OK


def test_a_missed_target_is_missed_by_all(record: RunRecord) -> None:
    for rank in (0, 1):
        report(record, rank, 3, "accuracy 0.1")
    ending = judge(Exits((0,)), record, 2)
    assert (ending.exit_code, ending.message) == (ExitCode.TARGET_MISSED, "accuracy 0.1")
    assert isinstance(ending.error(), TargetMissedError)


def test_the_first_failure_by_time_is_the_cause(record: RunRecord) -> None:
    report(record, 0, 7, "Connection reset by peer", end_time=2.0)
    report(record, 1, 7, "ValueError: bad sample", end_time=1.0)
    ending = judge(Exits((1,)), record, 2)
    assert ending.exit_code is ExitCode.LAUNCH
    assert ending.message == "rank 1 on node-a: ValueError: bad sample"
    assert ending.details == "Traceback of 1"
    assert ending.rank_log == record.rank_log(1)
    assert isinstance(ending.error(), LaunchError)


def test_a_known_fault_keeps_its_exit_code(record: RunRecord) -> None:
    report(record, 0, 6, "data gone", end_time=1.0)
    report(record, 1, 7, "reset", end_time=2.0)
    assert judge(Exits((1,)), record, 2).exit_code is ExitCode.DATA


def test_a_rank_killed_under_torchrun_is_named_with_its_signal(record: RunRecord) -> None:
    report(record, 0, 7, "Connection reset by peer")
    report(record, 1, None)
    record.launcher_log.write_text(ELASTIC)
    ending = judge(Exits((1,)), record, 2)
    assert ending.exit_code is ExitCode.LAUNCH
    assert ending.message == "rank 1 on node-a (pid 101) killed by signal 9"
    assert ending.details == "last words of rank 1"


def test_a_rank_killed_as_plain_process_is_named_with_its_signal(record: RunRecord) -> None:
    report(record, 0, 7, "reset")
    report(record, 1, None)
    ending = judge(Exits((7, -11)), record, 2)
    assert ending.message == "rank 1 on node-a (pid 101) killed by signal 11"


def test_a_rank_that_hung_is_not_taken_for_the_cause(record: RunRecord) -> None:
    report(record, 0, 7, "Timed out waiting 8000ms")
    report(record, 1, None)
    ending = judge(Exits((1,), killed_pids=frozenset({101})), record, 2)
    assert ending.message == (
        "rank 0 on node-a: Timed out waiting 8000ms; killed since they did not end: rank 1"
    )


def test_a_run_stopped_by_us_is_interrupted(record: RunRecord) -> None:
    for rank in (0, 1):
        report(record, rank, 130, "interrupted")
    ending = judge(Exits((1,), "interrupted"), record, 2)
    assert ending.exit_code is ExitCode.INTERRUPTED


def test_a_launcher_stopped_by_others_is_a_launch_failure(record: RunRecord) -> None:
    for rank in (0, 1):
        report(record, rank, 130, "SIGTERM")
    ending = judge(Exits((1,)), record, 2)
    assert (ending.exit_code, ending.message) == (ExitCode.LAUNCH, "rank 0 on node-a: SIGTERM")


def test_ranks_that_never_started_leave_the_launchers_words(record: RunRecord) -> None:
    record.launcher_log.write_text("No module named torch\n")
    ending = judge(Exits((1,)), record, 2)
    assert ending.exit_code is ExitCode.LAUNCH
    assert "the ranks did not start; the launcher says: No module named torch" in ending.message


LOGS = {
    run_log(): ExitCode.OK,
    run_log(status="aborted"): ExitCode.LAUNCH,
    run_log(status=None): ExitCode.LAUNCH,
    run_log() + ":::MLLOG {\n": ExitCode.LAUNCH,
    "": ExitCode.LAUNCH,
}


@pytest.mark.parametrize("text", LOGS, ids=["good", "aborted", "endless", "damaged", "empty"])
def test_a_success_must_stand_in_the_log(tmp_path: Path, text: str) -> None:
    log = tmp_path / "result_0.txt"
    log.write_text(text, "utf-8")
    assert verified(Ending(ExitCode.OK), log).exit_code is LOGS[text]
    missed = Ending(ExitCode.TARGET_MISSED, "why")
    assert verified(missed, log) == missed


def test_silence_is_never_success(record: RunRecord) -> None:
    report(record, 0, 0)
    assert judge(Exits((0,)), record, 2).exit_code is ExitCode.LAUNCH
    report(record, 1, None)
    assert judge(Exits((0,)), record, 2).exit_code is ExitCode.LAUNCH
