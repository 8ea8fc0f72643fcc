"""What a run writes about itself: the MLPerf log and the metrics; rank 0 writes, the rest do not.

The order and the keys are those of a closed BERT log of any rule set from 2.0.0 to 5.0.0: the
epsilon has had two names, and the initial weights were once logged one by one.
"""

import threading
import time
from types import TracebackType
from typing import Self

from mlperf_logging.mllog import constants as keys
from typing_extensions import override

import mlbench
from mlbench.benchmarks import Benchmark
from mlbench.plan import RunPlan
from mlbench.runlog.metrics import EvaluationMetrics, Metrics, StepMetrics, encode_metrics
from mlbench.runlog.write import RunLogWriter
from mlbench.submission.records import RunRecord
from mlbench.vocabulary import RunStatus, Samples, Seconds

OPT_EPSILON = "opt_epsilon"
"""Name of LAMB's epsilon in rule sets up to 2.1.0 as first published."""


class Journal:
    """The journal of a rank that writes nothing; the base of the one that does."""

    def init_start(self) -> None:
        """Who runs under which rules, then the start of initialisation."""

    def hyperparameters(self) -> None:
        """Every value that the rules ask for."""

    def run_start(self) -> None:
        """The end of initialisation and the start of the clock."""

    def block_start(self, num_steps: int) -> None:
        """The start of the steps up to the next evaluation."""

    def step(self, metrics: StepMetrics) -> None:
        """One optimizer step."""

    def block_stop(self) -> None:
        """The end of these steps, and the start of an evaluation."""

    def evaluation(self, metrics: EvaluationMetrics) -> None:
        """The end of an evaluation and its result."""

    def run_stop(self, status: RunStatus, reason: str = "") -> bool:  # noqa: ARG002
        """The stop of the clock. Only the first call, from whichever thread, returns True."""
        return True

    def elapsed(self) -> Seconds:
        """Return the time since ``run_start``, by a clock that is never set."""
        return Seconds(0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the files."""


class RankZeroJournal(Journal):
    """Writes ``result_N.txt`` and ``metrics.jsonl``."""

    def __init__(self, plan: RunPlan, benchmark: Benchmark, record: RunRecord) -> None:
        self._plan = plan
        self._benchmark = benchmark
        self._log = RunLogWriter(plan.log_file)
        self._metrics = record.metrics_file.open("a", encoding="utf-8", buffering=1)
        self._lock = threading.Lock()
        self._stopped = False
        self._num_samples = Samples(0)
        self._block_start = Samples(0)
        self._clock_start: float | None = None

    @override
    def init_start(self) -> None:
        submission = self._plan.config.submission
        self._events(
            (keys.SUBMISSION_BENCHMARK, self._benchmark.name),
            (keys.SUBMISSION_DIVISION, submission.division.value),
            (keys.SUBMISSION_ORG, submission.submitter),
            (keys.SUBMISSION_PLATFORM, self._plan.system_name),
            (keys.SUBMISSION_STATUS, submission.availability.value),
        )
        self._log.event(
            keys.CACHE_CLEAR, False, reason="file caches are left as they are: not an official run"
        )
        self._log.start(keys.INIT_START)

    @override
    def hyperparameters(self) -> None:
        plan, optimizer = self._plan, self._plan.config.optimizer
        self._events(
            (keys.SEED, plan.seed),
            (keys.GLOBAL_BATCH_SIZE, plan.batch.global_batch_size),
            (keys.GRADIENT_ACCUMULATION_STEPS, plan.batch.gradient_accumulation_steps),
            (keys.OPT_NAME, optimizer.name),
            (keys.OPT_BASE_LR, optimizer.learning_rate),
            (OPT_EPSILON, optimizer.epsilon),
            (keys.OPT_LAMB_EPSILON, optimizer.epsilon),
            (keys.OPT_LR_TRAINING_STEPS, optimizer.training_steps),
            (keys.OPT_LR_WARMUP_STEPS, optimizer.warmup_steps),
            (keys.NUM_WARMUP_STEPS, optimizer.warmup_steps),
            (keys.START_WARMUP_STEP, optimizer.start_warmup_step),
            (keys.OPT_LAMB_BETA_1, optimizer.beta_1),
            (keys.OPT_LAMB_BETA_2, optimizer.beta_2),
            (keys.OPT_LAMB_WEIGHT_DECAY, optimizer.weight_decay_rate),
            (keys.OPT_LAMB_LR_DECAY_POLY_POWER, optimizer.decay_power),
            (keys.OPT_GRADIENT_CLIP_NORM, optimizer.max_gradient_norm),
            (keys.MAX_SEQUENCE_LENGTH, plan.config.data.prepare.sequence_length),
            ("quality_target", plan.quality_target),
        )
        self._log.event(
            "mlbench_run",
            plan.run_id,
            version=mlbench.__version__,
            config=plan.config_name,
            num_ranks=plan.world_size,
            device=plan.device,
            precision=plan.precision.value,
            unverified=True,
        )
        for name, present in self._benchmark.initialised_tensors(plan.config.model).items():
            self._log.event(keys.WEIGHTS_INITIALIZATION, tensor=name, in_model=present)

    @override
    def run_start(self) -> None:
        self._log.end(keys.INIT_STOP)
        self._clock_start = time.monotonic()
        self._log.start(keys.RUN_START)

    @override
    def block_start(self, num_steps: int) -> None:
        self._block_start = self._num_samples
        self._log.start(
            keys.BLOCK_START,
            first_epoch_num=self._num_samples,
            epoch_count=num_steps * self._plan.batch.global_batch_size,
            samples_count=self._num_samples,
        )

    @override
    def step(self, metrics: StepMetrics) -> None:
        self._num_samples = metrics.num_samples
        self._write(metrics)

    @override
    def block_stop(self) -> None:
        self._log.end(
            keys.BLOCK_STOP, first_epoch_num=self._block_start, samples_count=self._num_samples
        )
        self._log.start(keys.EVAL_START, **self._so_far())

    @override
    def evaluation(self, metrics: EvaluationMetrics) -> None:
        self._log.event(keys.EVAL_ACCURACY, metrics.accuracy, **self._so_far())
        self._log.end(keys.EVAL_STOP, **self._so_far())
        throughput = {"throughput": metrics.num_samples / max(metrics.elapsed, 1e-9)}
        self._log.event("tracked_stats", throughput, step=metrics.num_samples)
        self._write(metrics)

    @override
    def run_stop(self, status: RunStatus, reason: str = "") -> bool:
        with self._lock:
            if self._stopped:
                return False
            self._stopped = True
            self._events(
                (keys.TRAIN_SAMPLES, self._num_samples),
                (keys.EVAL_SAMPLES, self._plan.num_eval_samples),
            )
            why = {"reason": reason} if reason else {}
            return self._log.stop(status, **self._so_far(), **why)

    @override
    def elapsed(self) -> Seconds:
        start = self._clock_start
        return Seconds(time.monotonic() - start if start is not None else 0.0)

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._log.close()
        self._metrics.close()

    def _events(self, *events: tuple[str, object]) -> None:
        for key, value in events:
            self._log.event(key, value)

    def _so_far(self) -> dict[str, int]:
        """Samples trained, under the names that the rule sets have given them."""
        return {"epoch_num": self._num_samples, "samples_count": self._num_samples}

    def _write(self, metrics: Metrics) -> None:
        self._metrics.write(encode_metrics(metrics) + "\n")


def open_journal(plan: RunPlan, benchmark: Benchmark, record: RunRecord, rank: int) -> Journal:
    """Return the journal of a rank."""
    return RankZeroJournal(plan, benchmark, record) if rank == 0 else Journal()
