"""Real runs that tests start, watch and disturb."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from mlbench.launch import WORKER_MODULE
from mlbench.runlog import RunLog
from mlbench.runlog.metrics import EvaluationMetrics, StepMetrics, read_metrics
from mlbench.runlog.read import read_log
from mlbench.submission.records import RunRecord, RunStatusFile
from tests.conftest import ROOT, clean_environment, mlbench_command

PATIENCE_SECONDS = 60


@dataclass
class Launched:
    """An ``mlbench run`` in a process of its own, and what it leaves."""

    process: "subprocess.Popen[str]"
    results: Path

    @property
    def record(self) -> RunRecord:
        """The record of the only, or the last, run."""
        return RunRecord(sorted((self.results / ".mlbench").iterdir())[-1])

    @property
    def log(self) -> RunLog:
        """The log of that run."""
        return read_log(Path(self.status.log_file))

    @property
    def status(self) -> RunStatusFile:
        return RunStatusFile.model_validate_json(self.record.status_file.read_bytes())

    @property
    def losses(self) -> list[float | None]:
        metrics = read_metrics(self.record.metrics_file)
        return [each.loss for each in metrics if isinstance(each, StepMetrics)]

    @property
    def accuracies(self) -> list[float]:
        metrics = read_metrics(self.record.metrics_file)
        return [each.accuracy for each in metrics if isinstance(each, EvaluationMetrics)]

    def rank_pid(self, rank: int) -> int:
        pid: int = json.loads(self.record.rank_file(rank).read_text())["pid"]
        return pid

    def wait_for_steps(self, count: int) -> None:
        """Wait until the run has done some steps."""

        def have_steps() -> bool:
            try:
                return len(self.losses) >= count
            except (OSError, IndexError):
                return False

        self._wait(have_steps, "no steps")

    def finish(self, patience: float = 3 * PATIENCE_SECONDS) -> "Finished":
        """Wait for the end, and see that no rank is left."""
        output, errors = self.process.communicate(timeout=patience)
        self._wait(lambda: not self.ranks_left(), "ranks are left")
        return Finished(self.process.returncode, output, errors)

    def ranks_left(self) -> list[psutil.Process]:
        """The processes of this run's ranks that are alive."""
        left = []
        for process in psutil.process_iter(["cmdline", "status"]):
            words = process.info["cmdline"] or []
            is_ours = words[-3:-1] == ["-m", WORKER_MODULE] and str(self.results) in words[-1]
            if is_ours and process.info["status"] != psutil.STATUS_ZOMBIE:
                left.append(process)
        return left

    def _wait(self, is_done: Callable[[], bool], complaint: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_done():
            assert time.monotonic() < deadline, complaint
            time.sleep(0.1)


@dataclass(frozen=True)
class Finished:
    """How the command ended."""

    code: int
    output: str
    errors: str

    @property
    def last_line(self) -> str:
        """What the user reads last."""
        return self.errors.strip().splitlines()[-1]


def launch(config: object, results: Path, *arguments: str, **environment: str) -> Launched:
    """Start ``mlbench run``."""
    command = mlbench_command("run", config, "--results", results, "--progress", "plain")
    process = subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=clean_environment(**environment),
    )
    return Launched(process, results)


def kill(pid: int, number: signal.Signals) -> None:
    """Send a signal."""
    os.kill(pid, number)
