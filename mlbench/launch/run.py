"""Runs a plan from its first file to its last: record, log, processes, verdict on how it ended."""

import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mlbench.atomic import write_atomically
from mlbench.errors import ExitCode, MlbenchError, PreflightError, error_for
from mlbench.launch import Launcher
from mlbench.launch.supervise import Exits, Watch, supervise
from mlbench.plan import RunPlan
from mlbench.runlog.read import read_log
from mlbench.runlog.write import close_log
from mlbench.submission.records import RankReport, RunRecord, RunState, RunStatusFile
from mlbench.vocabulary import RunStatus, Seconds

_STATES = {
    ExitCode.OK: RunState.SUCCESS,
    ExitCode.TARGET_MISSED: RunState.TARGET_MISSED,
    ExitCode.INTERRUPTED: RunState.INTERRUPTED,
}

_AGREED = (None, ExitCode.OK, ExitCode.TARGET_MISSED)
"""Ends that all ranks come to by themselves, and the state before."""

_RANK_EXIT = re.compile(
    r"^ *rank *: (\d+) \(local_rank.*?^ *exitcode *: (-?\d+)", re.DOTALL | re.MULTILINE
)
"""What torch elastic prints of each rank that failed."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, as the user is told."""

    exit_code: ExitCode
    message: str = ""
    details: str = ""
    """Traceback of the rank that failed first."""
    rank_log: Path | None = None
    """Where that rank's output is."""

    def error(self) -> MlbenchError:
        """Return the ending as the error that the command ends with."""
        return error_for(self.exit_code, self.message)


@dataclass(frozen=True, slots=True)
class _ReportedRanks:
    """Ranks by the files in their record."""

    record: RunRecord
    world_size: int

    def pids(self) -> list[int]:
        return [report.pid for report in self.record.reports(self.world_size)]

    def have_failed(self) -> bool:
        reports = self.record.reports(self.world_size)
        return any(report.exit_code not in _AGREED for report in reports)

    def tell_reason(self, reason: str) -> None:
        write_atomically(self.record.stop_file, reason)


def create_record(plan: RunPlan, config_yaml: str) -> RunRecord:
    """Create the record of a run, its status first.

    Raises:
        PreflightError: the folder cannot be written.
    """
    record = RunRecord(plan.record_folder)
    try:
        record.rank_log(0).parent.mkdir(parents=True)
        _set_state(record, plan, RunState.STARTING)
        write_atomically(record.plan_file, plan.model_dump_json(indent=2) + "\n")
        write_atomically(record.config_file, config_yaml)
    except OSError as error:
        raise PreflightError(
            f"{record.folder}: cannot be written: {error.strerror}; choose another folder "
            "with --results"
        ) from error
    return record


def run_plan(plan: RunPlan, record: RunRecord, launcher: Launcher, watch: Watch) -> Ending:
    """Start the ranks of a plan, wait for their end, and leave log and record complete."""
    _set_state(record, plan, RunState.RUNNING)
    try:
        exits = supervise(
            launcher(plan, record.plan_file),
            output=record.launcher_log,
            grace=Seconds(plan.config.launch.shutdown_grace_seconds),
            watch=watch,
            ranks=_ReportedRanks(record, plan.world_size),
        )
        ending = verified(judge(exits, record, plan.world_size), plan.log_file)
    except BaseException as error:
        _finish(plan, record, Ending(ExitCode.LAUNCH, str(error) or type(error).__name__))
        raise
    _finish(plan, record, ending)
    return ending


def _finish(plan: RunPlan, record: RunRecord, ending: Ending) -> None:
    """Close the log where rank 0 could not, and set the final status."""
    close_log(plan.log_file, ending.message or "the run ended without run_stop")
    _set_state(record, plan, _STATES.get(ending.exit_code, RunState.FAILED), ending.message)


def judge(exits: Exits, record: RunRecord, world_size: int) -> Ending:
    """Return how a run ended, from the ranks' reports and the exits of the commands."""
    reports = record.reports(world_size)
    if exits.stop_reason:
        return Ending(ExitCode.INTERRUPTED, f"stopped from outside: {exits.stop_reason}")
    silent = [each for each in reports if not each.ended and each.pid not in exits.killed_pids]
    if silent:
        return _died(exits, record, silent)
    if any(report.exit_code for report in reports):
        return _failed(exits, record, reports)
    if any(exits.return_codes) or len(reports) < world_size:
        return Ending(
            ExitCode.LAUNCH,
            f"the ranks did not start; the launcher says: {_last_lines(record.launcher_log)}",
            rank_log=record.launcher_log,
        )
    return Ending(ExitCode.OK)


def verified(ending: Ending, log_file: Path) -> Ending:
    """Return the ending, unless it is a success that the log on disk does not show."""
    if ending.exit_code is not ExitCode.OK:
        return ending
    log = read_log(log_file)
    stop = log.last("run_stop")
    if log.repairs:
        problem = f"line {log.repairs[0].line}: {log.repairs[0].text}"
    elif stop is None or stop.metadata.get("status") != RunStatus.SUCCESS:
        problem = "it does not end with a run_stop of status success"
    else:
        return ending
    return Ending(ExitCode.LAUNCH, f"{log_file}: the log is damaged: {problem}")


def _failed(exits: Exits, record: RunRecord, reports: Sequence[RankReport]) -> Ending:
    """Return the ending of a run that a rank ended; a target missed is missed by all of them."""
    failed = [report for report in reports if report.exit_code]
    first = min(failed, key=lambda report: report.end_time or 0.0)
    code = ExitCode(first.exit_code or ExitCode.LAUNCH)
    if code is ExitCode.TARGET_MISSED:
        return Ending(code, first.message)
    message = f"rank {first.rank} on {first.host}: {first.message}"
    hung = [f"rank {each.rank}" for each in reports if each.pid in exits.killed_pids]
    if hung:
        message += f"; killed since they did not end: {', '.join(hung)}"
    if code is ExitCode.INTERRUPTED:  # Not by us: someone stopped launcher or rank directly.
        code = ExitCode.LAUNCH
    return Ending(code, message, first.traceback, record.rank_log(first.rank))


def _died(exits: Exits, record: RunRecord, silent: Sequence[RankReport]) -> Ending:
    """Return the ending of a run in which a rank died without a word: killed, or crashed."""
    codes = {int(rank): int(code) for rank, code in _RANK_EXIT.findall(_text(record.launcher_log))}
    if len(exits.return_codes) > 1:
        codes = dict(enumerate(exits.return_codes))
    first = min(silent, key=lambda report: (codes.get(report.rank, 0), report.rank))
    code = codes.get(first.rank, 0)
    how = f"killed by signal {-code}" if code < 0 else "died without a word"
    return Ending(
        ExitCode.LAUNCH,
        f"rank {first.rank} on {first.host} (pid {first.pid}) {how}",
        _last_lines(record.rank_log(first.rank)),
        record.rank_log(first.rank),
    )


def _set_state(record: RunRecord, plan: RunPlan, state: RunState, reason: str = "") -> None:
    record.write_status(
        RunStatusFile(
            run_id=plan.run_id,
            run_state=state,
            reason=reason,
            log_file=str(plan.log_file),
            pid=os.getpid(),
            host=socket.gethostname(),
            updated=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    )


def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace") if file.exists() else ""


def _last_lines(file: Path, count: int = 5) -> str:
    lines = [line for line in _text(file).splitlines() if line.strip()]
    return "\n".join(lines[-count:])
