"""The loop around an engine: order of the log, when a run ends, and how."""

from collections.abc import Callable

import pytest
import torch

from mlbench import registry
from mlbench.check.official import check_officially
from mlbench.errors import NonFiniteLossError, TargetMissedError
from mlbench.parallel import RankContext
from mlbench.plan import RunPlan
from mlbench.registry import Group
from mlbench.runlog import RunLog
from mlbench.runlog.metrics import EvaluationMetrics, StepMetrics, read_metrics
from mlbench.runlog.read import read_log
from mlbench.submission.records import RunRecord
from mlbench.train import Engine, StepResult
from mlbench.train.journal import open_journal
from mlbench.train.loop import run_to_target
from mlbench.vocabulary import RunStatus, Tokens
from tests.conftest import PlanOf

ONE_RANK = RankContext(0, 0, 1, torch.device("cpu"))


class ScriptedEngine:
    """Returns given accuracies and losses, and notes what it is asked."""

    def __init__(self, accuracies: list[float], loss: Callable[[int], float]) -> None:
        self.accuracies = iter(accuracies)
        self.loss = loss
        self.calls: list[str] = []

    def open_data(self) -> None:
        self.calls.append("open")

    def step(self, step: int, learning_rate: float) -> StepResult:
        self.calls.append(f"step {step}")
        return StepResult(self.loss(step), 1.0, Tokens(80), Tokens(100))

    def evaluate(self) -> float:
        self.calls.append("evaluate")
        return next(self.accuracies)


@pytest.fixture
def plan(plan_of: PlanOf) -> RunPlan:
    """Six steps of eight samples, evaluated every three; closed, target 0.72."""
    plan = plan_of(
        "submission.division=closed",
        "launch.nproc_per_node=1",
        "evaluation.quality_target=0.72",
    )
    plan.log_file.parent.mkdir(parents=True)
    RunRecord(plan.record_folder).rank_log(0).parent.mkdir(parents=True)
    return plan


def run(plan: RunPlan, engine: ScriptedEngine) -> RunLog:
    """Run an engine to its end; the log is ended as the worker ends it."""
    record = RunRecord(plan.record_folder)

    def build(plan: RunPlan, context: RankContext) -> Engine:
        log = read_log(plan.log_file)
        assert log.first("init_start"), "the model is built after init_start"
        assert not log.first("run_start")
        return engine

    benchmark = registry.load(Group.BENCHMARK, "bert")
    with open_journal(plan, benchmark, record, rank=0) as journal:
        try:
            run_to_target(plan, ONE_RANK, build, journal)
        except TargetMissedError as error:
            journal.run_stop(RunStatus.ABORTED, str(error))
            raise
    return read_log(plan.log_file)


def fine(step: int) -> float:
    return 1.0 / step


def test_the_run_ends_at_the_first_evaluation_that_reaches_the_target(plan: RunPlan) -> None:
    engine = ScriptedEngine([0.5, 0.72], fine)
    log = run(plan, engine)
    steps = [f"step {number}" for number in range(1, 7)]
    assert engine.calls == ["open", *steps[:3], "evaluate", *steps[3:], "evaluate"]
    stop = log.events[-1]
    assert (stop.key, stop.metadata["status"]) == ("run_stop", "success")
    assert [event.value for event in log.all("eval_accuracy")] == [0.5, 0.72]
    assert [event.metadata["epoch_num"] for event in log.all("eval_accuracy")] == [24, 48]


@pytest.mark.parametrize(("accuracy", "reached"), [(0.72, True), (0.7199999999, False)])
def test_the_target_is_compared_without_rounding(
    plan: RunPlan, accuracy: float, reached: bool
) -> None:
    engine = ScriptedEngine([accuracy, 0.0], fine)
    if reached:
        run(plan, engine)
        assert engine.calls.count("evaluate") == 1
    else:
        with pytest.raises(TargetMissedError, match=r"accuracy 0\.0000 after all 6 steps"):
            run(plan, engine)


ORDER = (
    *("submission_benchmark", "submission_division", "submission_org", "submission_platform"),
    *("submission_status", "cache_clear", "init_start", "seed", "global_batch_size"),
    *("gradient_accumulation_steps", "opt_name", "opt_base_learning_rate", "opt_epsilon"),
    *("opt_lamb_epsilon", "opt_learning_rate_training_steps"),
    *("opt_learning_rate_warmup_steps", "num_warmup_steps", "start_warmup_step"),
    *("opt_lamb_beta_1", "opt_lamb_beta_2", "opt_lamb_weight_decay_rate"),
    *("opt_lamb_learning_rate_decay_poly_power", "opt_gradient_clip_norm"),
    *("max_sequence_length", "quality_target", "mlbench_run", "weights_initialization"),
    *("init_stop", "run_start"),
    *("block_start", "block_stop", "eval_start", "eval_accuracy", "eval_stop", "tracked_stats"),
    *("block_start", "block_stop", "eval_start", "eval_accuracy", "eval_stop", "tracked_stats"),
    *("train_samples", "eval_samples", "run_stop"),
)


def test_the_log_has_every_key_in_order(plan: RunPlan) -> None:
    log = run(plan, ScriptedEngine([0.5, 0.8], fine))
    keys = [event.key for event in log.events]
    once = [key for n, key in enumerate(keys) if n == 0 or keys[n - 1] != key]
    assert tuple(once) == ORDER
    assert keys.count("weights_initialization") == 398
    times = [event.time_ms or 0 for event in log.events]
    assert times == sorted(times)


@pytest.mark.parametrize("ruleset", ["2.0.0", "2.1.0", "3.0.0", "3.1.0", "4.0.0", "4.1.0", "5.0.0"])
def test_the_log_passes_the_closed_rules_of_every_round(plan: RunPlan, ruleset: str) -> None:
    run(plan, ScriptedEngine([0.5, 0.8], fine))
    verdict = check_officially(plan.log_file, ruleset)
    assert verdict.complaints == ()
    assert verdict.passed


def test_a_loss_that_is_not_finite_ends_the_run_at_its_step(plan: RunPlan) -> None:
    engine = ScriptedEngine([0.1], lambda step: float("nan") if step == 2 else 1.0)
    with pytest.raises(NonFiniteLossError, match="the loss is nan at step 2"):
        run(plan, engine)
    assert engine.calls[-1] == "step 2"
    stop = read_log(plan.log_file).last("run_stop")
    assert stop is not None
    assert stop.metadata["status"] == "aborted"
    assert "the loss is nan at step 2" in stop.metadata["reason"]
    last = read_metrics(RunRecord(plan.record_folder).metrics_file)[-1]
    assert isinstance(last, StepMetrics)
    assert (last.step, last.loss) == (2, None)


def test_metrics_tell_every_step_and_evaluation(plan: RunPlan) -> None:
    run(plan, ScriptedEngine([0.5, 0.8], fine))
    metrics = read_metrics(RunRecord(plan.record_folder).metrics_file)
    steps = [each for each in metrics if isinstance(each, StepMetrics)]
    assert [each.loss for each in steps] == [fine(number) for number in range(1, 7)]
    assert [each.num_samples for each in steps] == [8, 16, 24, 32, 40, 48]
    evaluations = [each for each in metrics if isinstance(each, EvaluationMetrics)]
    assert [(each.step, each.accuracy) for each in evaluations] == [(3, 0.5), (6, 0.8)]


def test_other_ranks_write_nothing(plan: RunPlan) -> None:
    record = RunRecord(plan.record_folder)
    with open_journal(plan, registry.load(Group.BENCHMARK, "bert"), record, rank=1) as journal:
        run_to_target(plan, ONE_RANK, lambda *_: ScriptedEngine([0.9], fine), journal)
    assert not plan.log_file.exists()
    assert not record.metrics_file.exists()
