"""Our own records of a run, in ``results/.mlbench/<run-id>/``.

``status.json`` is written before anything else and replaced whole, so that a run that was killed
is visible as one. The format of each file is documented in ``docs/formats.md``.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from mlbench.atomic import write_atomically
from mlbench.schema import Record


class RunState(StrEnum):
    """How far a run has come."""

    STARTING = "starting"
    RUNNING = "running"
    SUCCESS = "success"
    TARGET_MISSED = "target_missed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class RunStatusFile(Record):
    """``status.json``."""

    schema_version: Literal[1] = 1
    run_id: str
    run_state: RunState
    reason: str = ""
    log_file: str
    pid: int
    """Process that supervises the run."""
    host: str
    updated: str
    """UTC, ISO 8601."""


class RankReport(Record):
    """``ranks/rank-N.json``: written when a rank starts, and again when it ends by itself."""

    schema_version: Literal[1] = 1
    rank: int
    pid: int
    host: str
    ended: bool = False
    end_time: float | None = None
    """Seconds since the epoch."""
    exit_code: int | None = None
    """Exit code of the whole command that this end asks for."""
    message: str = ""
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The files of one run's record."""

    folder: Path

    @property
    def plan_file(self) -> Path:
        """The ``RunPlan``."""
        return self.folder / "plan.json"

    @property
    def config_file(self) -> Path:
        """The resolved config, as YAML."""
        return self.folder / "config.yaml"

    @property
    def status_file(self) -> Path:
        """The ``RunStatusFile``."""
        return self.folder / "status.json"

    @property
    def metrics_file(self) -> Path:
        """Steps and evaluations as they happen."""
        return self.folder / "metrics.jsonl"

    @property
    def launcher_log(self) -> Path:
        """What the launcher's own processes print."""
        return self.folder / "launcher.log"

    @property
    def stop_file(self) -> Path:
        """Why the ranks are being stopped; written before they are told to."""
        return self.folder / "stop.txt"

    @property
    def official_check_file(self) -> Path:
        """What MLPerf's compliance checker said of the log."""
        return self.folder / "compliance_checker.log"

    def rank_log(self, rank: int) -> Path:
        """What a rank prints."""
        return self.folder / "ranks" / f"rank-{rank}.log"

    def rank_file(self, rank: int) -> Path:
        """The ``RankReport`` of a rank."""
        return self.folder / "ranks" / f"rank-{rank}.json"

    def write_status(self, status: RunStatusFile) -> None:
        """Replace ``status.json``."""
        write_atomically(self.status_file, status.model_dump_json(indent=2) + "\n")

    def write_report(self, report: RankReport) -> None:
        """Replace the report of a rank."""
        write_atomically(self.rank_file(report.rank), report.model_dump_json(indent=2) + "\n")

    def reports(self, world_size: int) -> list[RankReport]:
        """Return the reports of the ranks that have started, by rank."""
        files = [self.rank_file(rank) for rank in range(world_size)]
        return [
            RankReport.model_validate_json(file.read_bytes()) for file in files if file.exists()
        ]
