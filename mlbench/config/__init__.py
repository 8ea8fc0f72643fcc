"""The config of a run: typed, frozen, strict.

One section per part of the chain. A value comes from, in rising order: the default here, the
config file, the environment (``MLBENCH_SET__TRAIN__SEED=1``), ``--set train.seed=1``.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from mlbench.benchmarks.bert import BertModel
from mlbench.data import PrepareSpec
from mlbench.schema import Record
from mlbench.seeds import SEED_BITS
from mlbench.vocabulary import Availability, Division, Precision

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=100)]
"""A name that is safe as a folder of a submission."""

AUTO = "auto"


class SubmissionConfig(Record):
    """Who runs, on what, under which rules."""

    submitter: Name = "local"
    """Folder under `results/`, and `submission_org` in the log."""

    system: Name = AUTO
    """Folder under the submitter, and `submission_platform`; `auto` is the config's name."""

    division: Division = Division.OPEN
    """`closed` keeps model, data and target of the reference; `open` may change them."""

    availability: Availability = Availability.ONPREM
    """`submission_status` in the log."""

    ruleset: str = Field(default=AUTO, pattern=r"^(auto|\d+\.\d+\.\d+)$")
    """Rule set that the log is checked against; `auto` is the newest that knows the benchmark."""


class DataConfig(Record):
    """The training data."""

    path: Path
    """Folder of the prepared data; `mlbench data prepare` fills it."""

    prepare: PrepareSpec = PrepareSpec()
    """How the folder was, or will be, prepared."""


class OptimizerConfig(Record):
    """LAMB and its learning-rate schedule, in the reference's terms."""

    name: Literal["lamb"] = "lamb"
    """The optimizer of the benchmark."""

    learning_rate: Annotated[float, Field(gt=0)] = 4e-4
    """`opt_base_learning_rate`: the rate at the end of the warmup."""

    beta_1: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """`opt_lamb_beta_1`: memory of the gradient's mean."""

    beta_2: Annotated[float, Field(ge=0, lt=1)] = 0.999
    """`opt_lamb_beta_2`: memory of the gradient's square."""

    epsilon: Annotated[float, Field(gt=0)] = 1e-6
    """`opt_lamb_epsilon`: added to the root of the square."""

    weight_decay_rate: Annotated[float, Field(ge=0)] = 0.01
    """Not applied to biases and LayerNorm."""

    max_gradient_norm: Annotated[float, Field(gt=0)] = 1.0
    """Global norm that gradients are clipped to before the update."""

    training_steps: Annotated[int, Field(ge=1)]
    """`opt_learning_rate_training_steps`: the step at which the rate has decayed to 0."""

    warmup_steps: Annotated[int, Field(ge=0)] = 0
    """`num_warmup_steps`: steps of linear rise."""

    start_warmup_step: int = 0
    """Step at which the rise begins; a negative one starts part of the way up."""

    decay_power: Annotated[float, Field(gt=0)] = 1.0
    """Power of the polynomial decay."""


class TrainConfig(Record):
    """The training loop."""

    global_batch_size: Annotated[int, Field(ge=1)]
    """Samples per optimizer step, over all ranks."""

    gradient_accumulation_steps: Annotated[int, Field(ge=1)] = 1
    """Forward and backward passes per optimizer step."""

    max_steps: Annotated[int, Field(ge=1)] | None = None
    """Steps after which a run gives up; `null` is `optimizer.training_steps`."""

    seed: Annotated[int, Field(ge=0, lt=2**SEED_BITS)] | None = None
    """Base seed; `null` draws a fresh one for every run, as MLPerf demands."""

    precision: Precision = Precision.AUTO
    """`auto` is bf16 where the device computes it natively, else fp32."""

    deterministic: bool = False
    """Bit-equal results for the same seed, at some cost of speed."""


class EvaluationConfig(Record):
    """When and how quality is measured."""

    quality_target: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The run ends when the metric is at least this; `null` is the benchmark's target."""

    every_samples: Annotated[int, Field(ge=1)] | None = None
    """Training samples between evaluations; `null` is the benchmark's rule. Rounded up to whole
    steps."""

    micro_batch_size: Annotated[int, Field(ge=1)] = 64
    """Samples per forward pass of a rank."""


class ParallelConfig(Record):
    """How the work is spread over ranks."""

    strategy: str = "data"
    """Name of a parallel strategy."""


class LaunchConfig(Record):
    """How the ranks are started."""

    launcher: str = "torchrun"
    """Name of a launcher."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """What ranks compute on; `auto` is accelerators where the machine has some."""

    nproc_per_node: Annotated[int, Field(ge=1, le=64)] = 1
    """Ranks on each node."""

    threads_per_rank: Annotated[int, Field(ge=1)] | None = None
    """CPU threads of a rank; `null` shares the cores evenly."""

    oversubscribe: bool = False
    """Allow more ranks than there are cores or accelerators."""

    collective_timeout_seconds: Annotated[int, Field(ge=1)] = 120
    """Longest wait for the other ranks in a collective."""

    shutdown_grace_seconds: Annotated[int, Field(ge=1)] = 10
    """Time that ranks have to end by themselves when the run is stopped."""


class RunConfig(Record):
    """Everything that a user decides about a run."""

    description: str = ""
    """What the config is for, in one line."""

    benchmark: str = "bert"
    """Name of a benchmark."""

    engine: str = "native"
    """Name of the engine that trains."""

    submission: SubmissionConfig = SubmissionConfig()
    model: BertModel = BertModel()
    data: DataConfig
    optimizer: OptimizerConfig
    train: TrainConfig
    evaluation: EvaluationConfig = EvaluationConfig()
    parallel: ParallelConfig = ParallelConfig()
    launch: LaunchConfig = LaunchConfig()
