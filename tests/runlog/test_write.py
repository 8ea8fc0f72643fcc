"""The log of a run: through mlperf-logging, one file, complete, never quietly wrong."""

import json
import threading
from pathlib import Path

import pytest

from mlbench.errors import LaunchError
from mlbench.runlog.read import read_log
from mlbench.runlog.write import RunLogWriter, close_log
from mlbench.vocabulary import RunStatus
from tests.logs import line


def test_events_come_back_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    with RunLogWriter(file) as log:
        log.event("seed", 7)
        log.start("block_start", first_epoch_num=0)
        log.end("block_stop", first_epoch_num=0)
        assert log.stop(RunStatus.SUCCESS, samples_count=3)
    read = read_log(file)
    assert [event.key for event in read.events] == ["seed", "block_start", "block_stop", "run_stop"]
    assert not read.repairs
    assert read.events[-1].metadata["status"] == "success"


def test_the_caller_is_named_without_this_machines_paths(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    with RunLogWriter(file) as log:
        log.event("seed", 7)
        log.stop(RunStatus.ABORTED)
    files = {event.metadata["file"] for event in read_log(file).events}
    assert files == {"tests/runlog/test_write.py"}


def test_each_event_is_on_disk_when_the_call_returns(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    with RunLogWriter(file) as log:
        log.event("seed", 7)
        assert read_log(file).value("seed") == 7


def test_two_logs_of_one_process_do_not_mix(tmp_path: Path) -> None:
    with RunLogWriter(tmp_path / "a") as first, RunLogWriter(tmp_path / "b") as second:
        first.event("seed", 1)
        second.event("seed", 2)
    assert [read_log(tmp_path / name).value("seed") for name in "ab"] == [1, 2]


def test_run_stop_is_written_once_whoever_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    with RunLogWriter(file) as log:
        threads = [threading.Thread(target=log.stop, args=(RunStatus.ABORTED,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not log.stop(RunStatus.SUCCESS)
    assert [event.key for event in read_log(file).events] == ["run_stop"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), [float("nan")]])
def test_what_json_cannot_hold_is_an_error(tmp_path: Path, value: object) -> None:
    with RunLogWriter(tmp_path / "result_0.txt") as log:
        with pytest.raises(TypeError, match="holds what JSON cannot"):
            log.event("x", value)
        with pytest.raises(TypeError, match="holds what JSON cannot"):
            log.start("x", y=value)


def test_a_log_is_never_written_over(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_text(line("seed", 1), "utf-8")
    with pytest.raises(LaunchError, match="never overwritten"):
        RunLogWriter(file)
    assert file.read_text("utf-8") == line("seed", 1)


def test_a_log_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="cannot be written"):
        RunLogWriter(tmp_path / "no" / "such" / "folder")


def test_a_full_disk_is_an_error_not_a_missing_line() -> None:
    with pytest.raises(OSError, match="No space left"), RunLogWriter(Path("/dev/full")) as log:
        log.event("seed", 1)


def test_the_log_of_a_dead_process_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_text(line("run_start") + line("seed", 1)[:50], "utf-8")
    assert close_log(file, "rank 0 was killed")
    log = read_log(file)
    stop = log.last("run_stop")
    assert stop is not None
    assert stop.metadata["status"] == "aborted"
    assert stop.metadata["reason"] == "rank 0 was killed"
    assert log.line_of(stop) == 3
    assert not close_log(file, "again")
    assert file.read_text("utf-8").count("run_stop") == 1


def test_lines_are_what_mlperf_logging_writes(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    with RunLogWriter(file) as log:
        log.event("seed", 7, a=1)
    text = file.read_text("utf-8")
    record = json.loads(text.removeprefix(":::MLLOG "))
    assert list(record) == ["namespace", "time_ms", "event_type", "key", "value", "metadata"]
    assert isinstance(record["time_ms"], int)
    assert record["event_type"] == "POINT_IN_TIME"
