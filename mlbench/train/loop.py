"""Trains to the target: the same loop around every engine."""

import math
import time

from mlbench.errors import NonFiniteLossError, TargetMissedError
from mlbench.parallel import RankContext
from mlbench.plan import RunPlan
from mlbench.runlog.metrics import EvaluationMetrics, StepMetrics
from mlbench.train import Engine, EngineFactory, StepResult
from mlbench.train.journal import Journal
from mlbench.train.schedule import learning_rate
from mlbench.vocabulary import RunStatus, Samples, Seconds


def run_to_target(
    plan: RunPlan, context: RankContext, build_engine: EngineFactory, journal: Journal
) -> None:
    """Initialise, then train and evaluate until the target is reached.

    Raises:
        TargetMissedError: all steps are done and the target was not reached.
        NonFiniteLossError: loss or gradient is NaN or infinite; on every rank at the same step.
    """
    journal.init_start()
    journal.hyperparameters()
    engine = build_engine(plan, context)
    context.barrier()
    journal.run_start()
    engine.open_data()
    accuracy = 0.0
    for first in range(1, plan.num_steps + 1, plan.evaluation_interval_steps):
        last = min(first + plan.evaluation_interval_steps - 1, plan.num_steps)
        _train_block(plan, engine, journal, first, last)
        accuracy = _evaluate(plan, engine, journal, last)
        if accuracy >= plan.quality_target:
            journal.run_stop(RunStatus.SUCCESS)
            return
    raise TargetMissedError(
        f"accuracy {accuracy:.4f} after all {plan.num_steps} steps, "
        f"the target is {plan.quality_target:g}"
    )


def _train_block(plan: RunPlan, engine: Engine, journal: Journal, first: int, last: int) -> None:
    """Do the steps between two evaluations."""
    journal.block_start(last - first + 1)
    for step in range(first, last + 1):
        start = time.perf_counter()
        rate = learning_rate(plan.config.optimizer, step)
        result = engine.step(step, rate)
        seconds = Seconds(time.perf_counter() - start)
        journal.step(_step_metrics(plan, step, rate, result, seconds, journal.elapsed()))
        _require_finite(step, result)
    journal.block_stop()


def _evaluate(plan: RunPlan, engine: Engine, journal: Journal, step: int) -> float:
    start = time.perf_counter()
    accuracy = engine.evaluate()
    journal.evaluation(
        EvaluationMetrics(
            step=step,
            num_samples=Samples(step * plan.batch.global_batch_size),
            accuracy=accuracy,
            target=plan.quality_target,
            evaluation_seconds=Seconds(time.perf_counter() - start),
            elapsed=journal.elapsed(),
        )
    )
    return accuracy


def _step_metrics(
    plan: RunPlan,
    step: int,
    rate: float,
    result: StepResult,
    seconds: Seconds,
    elapsed: Seconds,
) -> StepMetrics:
    size = plan.batch.global_batch_size
    return StepMetrics(
        step=step,
        num_samples=Samples(step * size),
        step_samples=Samples(size),
        loss=_finite(result.loss),
        learning_rate=rate,
        gradient_norm=_finite(result.gradient_norm),
        num_tokens=result.num_tokens,
        num_padded_tokens=result.num_padded_tokens,
        step_seconds=seconds,
        elapsed=elapsed,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _require_finite(step: int, result: StepResult) -> None:
    """Every rank has the same sums, so all stop at the same step."""
    for name, value in (("loss", result.loss), ("gradient norm", result.gradient_norm)):
        if not math.isfinite(value):
            raise NonFiniteLossError(
                f"the {name} is {value} at step {step}; a lower optimizer.learning_rate, "
                "or a longer warmup, may help"
            )
