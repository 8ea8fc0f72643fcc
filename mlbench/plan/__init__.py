"""Everything decided about a run before anything is started."""

from pathlib import Path
from typing import Literal

from mlbench.config import RunConfig
from mlbench.schema import Record
from mlbench.vocabulary import Precision

LEASE_VARIABLE = "MLBENCH_LEASE"
"""``stdin`` in a rank's environment: the run may go on as long as standard input stays open."""

Device = Literal["cpu", "cuda"]


class BatchPlan(Record):
    """How the samples of an optimizer step are shared."""

    global_batch_size: int
    """Samples per optimizer step."""
    gradient_accumulation_steps: int
    """Forward and backward passes of a rank per optimizer step."""
    micro_batch_size: int
    """Samples of a rank in each of these passes."""


class RunPlan(Record):
    """One run, decided: the ranks do what it says and ask nothing else."""

    schema_version: Literal[1] = 1
    run_id: str
    run_index: int
    """N of ``result_N.txt``."""
    created_by: str
    config_name: str
    config: RunConfig
    system_name: str
    ruleset: str
    seed: int
    device: Device
    precision: Precision
    world_size: int
    threads_per_rank: int
    batch: BatchPlan
    num_steps: int
    """Steps after which the run gives up."""
    evaluation_interval_steps: int
    quality_target: float
    vocabulary_size: int
    num_train_samples: int
    num_eval_samples: int
    log_file: Path
    record_folder: Path
