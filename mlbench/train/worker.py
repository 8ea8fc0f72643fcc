"""A rank, from its first line to its last: ``python -m mlbench.train.worker PLAN``.

Every way to end leaves a report of the rank and, on rank 0, a log that ends with ``run_stop``.
Heavy imports come late, so that a fault in them is reported like any other.
"""

import faulthandler
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Container, Iterable
from pathlib import Path
from typing import NoReturn

import psutil

from mlbench import registry
from mlbench.benchmarks import Benchmark
from mlbench.errors import ExitCode, MlbenchError, TargetMissedError
from mlbench.plan import RunPlan
from mlbench.registry import Group
from mlbench.submission.records import RankReport, RunRecord
from mlbench.train.journal import Journal, open_journal
from mlbench.train.rank import Rank, rank_of
from mlbench.train.stop import SUPERVISOR_GONE, watch_for_stop
from mlbench.vocabulary import RunStatus


def main() -> None:
    """Run the rank that the environment describes, on the plan of the command line."""
    plan = RunPlan.model_validate_json(Path(sys.argv[1]).read_bytes())
    Worker(plan, rank_of(os.environ, plan.world_size)).run()


class Worker:
    """The process of one rank."""

    def __init__(self, plan: RunPlan, rank: Rank) -> None:
        self._plan = plan
        self._rank = rank
        self._record = RunRecord(plan.record_folder)
        self._journal = Journal()
        self._ending = threading.Lock()

    def run(self) -> NoReturn:
        """Train, and end the process with what came of it."""
        try:
            self._take_over()
            self._train()
        except TargetMissedError as error:  # An orderly end, of every rank at the same step.
            self._end(error.exit_code, str(error), process_code=0)
        except MlbenchError as error:
            self._end(error.exit_code, str(error), process_code=error.exit_code)
        except BaseException as error:  # noqa: BLE001  (every end is reported)
            trace = traceback.format_exc()
            self._end(ExitCode.LAUNCH, _summary(error), trace, process_code=ExitCode.LAUNCH)
        self._end(ExitCode.OK, process_code=0)

    def _take_over(self) -> None:
        """Redirect output and watch for signals; before torch starts threads of its own."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        output = os.open(self._record.rank_log(self._rank.rank), flags, 0o644)
        for descriptor in (1, 2):
            os.dup2(output, descriptor)
        faulthandler.enable()
        self._record.write_report(self._report())
        watch_for_stop(self._record.stop_file, self._stopped_from_outside)

    def _train(self) -> None:
        benchmark: Benchmark = registry.load(Group.BENCHMARK, self._plan.config.benchmark)
        with open_journal(self._plan, benchmark, self._record, self._rank.rank) as self._journal:
            try:
                self._session()
            except MlbenchError as error:
                self._journal.run_stop(RunStatus.ABORTED, str(error))
                raise
            except BaseException as error:
                self._journal.run_stop(RunStatus.ABORTED, self._first_cause(_summary(error)))
                raise

    def _session(self) -> None:
        from mlbench.train.session import train_rank

        train_rank(self._plan, self._rank, self._journal)

    def _first_cause(self, reason: str) -> str:
        """Return why the run ends, ``reason`` unless another rank of this host failed first."""
        # Who is gone is asked before the reports are read: they are then the last word.
        gone = {each.rank for each in self._others() if not _is_alive(each.pid)}
        others = self._others()
        told = self._record.stop_file.read_text("utf-8") if self._record.stop_file.exists() else ""
        return first_cause(reason, others, gone, told)

    def _others(self) -> list[RankReport]:
        """Return what the other ranks of this host say of themselves."""
        reports = self._record.reports(self._plan.world_size)
        others = (each for each in reports if each.rank != self._rank.rank)
        return [each for each in others if each.host == socket.gethostname()]

    def _stopped_from_outside(self, reason: str) -> None:
        """End the process from another thread, unless the run is over anyway."""
        if self._journal.run_stop(RunStatus.ABORTED, self._first_cause(reason)):
            self._end(ExitCode.INTERRUPTED, reason, process_code=ExitCode.INTERRUPTED)

    def _end(
        self, exit_code: ExitCode, message: str = "", trace: str = "", *, process_code: int
    ) -> NoReturn:
        """Report and exit, once, without waiting for other ranks or threads.

        A process code other than 0 makes the launcher stop the other ranks.
        """
        self._ending.acquire()  # Held to the end: a second caller waits for the exit.
        if trace or message:
            sys.stderr.write(trace or f"{message}\n")
        sys.stdout.flush()
        sys.stderr.flush()
        self._record.write_report(self._report(exit_code, message, trace))
        os._exit(process_code)

    def _report(
        self, exit_code: ExitCode | None = None, message: str = "", trace: str = ""
    ) -> RankReport:
        ended = exit_code is not None
        return RankReport(
            rank=self._rank.rank,
            pid=os.getpid(),
            host=socket.gethostname(),
            ended=ended,
            end_time=time.time() if ended else None,
            exit_code=exit_code,
            message=message,
            traceback=trace,
        )


def first_cause(reason: str, others: Iterable[RankReport], gone: Container[int], told: str) -> str:
    """Return why a run ends, ``reason`` unless another rank failed first.

    A lost connection, or the launcher's signal to end, is only the echo of such a fault. A rank
    that ended because all were told to is no fault of its own.

    Args:
        reason: what this rank noticed.
        others: what the other ranks say of themselves.
        gone: ranks whose processes had ended before they were asked.
        told: why the supervisor stops the ranks, empty if it does not.
    """
    for report in others:
        if report.exit_code:
            is_told = report.message in (reason, told, SUPERVISOR_GONE)
            return report.message if is_told else f"rank {report.rank}: {report.message}"
        if not report.ended and report.rank in gone:
            return f"rank {report.rank} (pid {report.pid}) died"
    return reason


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _summary(error: BaseException) -> str:
    """Return an error in one line."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__


if __name__ == "__main__":
    main()
