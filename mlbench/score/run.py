"""RunLog to RunResult."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from mlbench.runlog import LogEvent, RunLog
from mlbench.score import Evaluation, RunResult
from mlbench.score.numbers import integer, number
from mlbench.score.samples import RunEvents, SampleCount, count_samples
from mlbench.vocabulary import RunStatus, Seconds

_MILLISECONDS = 1000.0
_LONGEST_RUN_SECONDS = 60 * 86_400
"""No published run took two months; a longer one is a fault of its clock."""

_COUNTS_SAMPLES = frozenset(
    (
        *("llama2_70b_lora", "flux1", "llama31_405b", "llama31_8b", "gpt_oss_20b"),
        *("deepseekv3_671b", "qwen35_397b_grpo", "dlrmv4"),
    )
)
"""Benchmarks whose reference convergence points count samples rather than ``epoch_num``."""
_CONVERGENCE_DIGITS = 3

_STATED = (
    *("submission_benchmark", "submission_division", "submission_org", "submission_platform"),
    *("submission_status", "mlbench_run"),
)
_HYPERPARAMETERS = (
    *("gradient_accumulation_steps", "max_sequence_length", "max_steps", "opt_name"),
    *("opt_base_learning_rate", "opt_end_learning_rate", "opt_epsilon", "opt_lamb_epsilon"),
    *("opt_lamb_beta_1", "opt_lamb_beta_2", "opt_lamb_weight_decay_rate", "opt_weight_decay"),
    *("opt_lamb_learning_rate_decay_poly_power", "opt_learning_rate_training_steps"),
    *("opt_learning_rate_warmup_steps", "num_warmup_steps", "start_warmup_step"),
    *("opt_learning_rate_warmup_epochs", "opt_learning_rate_decay_steps"),
    *("opt_gradient_clip_norm", "opt_adamw_beta_1", "opt_adamw_beta_2"),
    *("opt_adamw_weight_decay", "opt_adamw_epsilon", "init_checkpoint_step"),
)

SCORED_KEYS = frozenset(
    (
        *("run_start", "run_stop", "eval_accuracy", "block_start", "block_stop"),
        *("train_samples", "eval_samples", "global_batch_size", "seed", "quality_target"),
        *("tracked_stats", "throughput", *_STATED, *_HYPERPARAMETERS),
    )
)
"""All keys that a run is scored by."""


def score_run(log: RunLog, benchmark: str, digest: str = "") -> RunResult:
    """Return what a log says of its run.

    Time is the first ``run_stop`` minus the last ``run_start`` before it, in file order, as
    MLPerf's scorer takes them.
    """
    start, stop, notes = _clock(log)
    batch = integer(log.value("global_batch_size"))
    evaluations = _evaluations(log, start, stop)
    count = SampleCount("the run has no start and stop")
    if start and stop:
        events = RunEvents(log, benchmark, start, stop, evaluations, batch)
        count = count_samples(events)
    last = evaluations[-1] if evaluations else None
    elapsed, problem = _elapsed(start, stop)
    return RunResult(
        file=log.path.name,
        digest=digest,
        elapsed=elapsed,
        run_status=_status(stop),
        start_ms=start.time_ms if start else None,
        evaluations=tuple(_evaluated(evaluations, count, start)),
        num_samples=count.total,
        samples_source=count.source,
        convergence=_convergence(last, benchmark),
        logged_throughput=_logged_throughput(log),
        quality_target=number(log.value("quality_target")),
        global_batch_size=batch,
        seeds=tuple(_seeds(log)),
        stated=_values(log, _STATED),
        hyperparameters=_values(log, _HYPERPARAMETERS),
        problems=(*problem, *notes, *_repairs(log)),
    )


def _convergence(last: LogEvent | None, benchmark: str) -> float | None:
    """Return when a run converged, in the unit of its reference convergence points."""
    if last is None:
        return None
    key = "samples_count" if benchmark in _COUNTS_SAMPLES else "epoch_num"
    found = number(last.metadata.get(key))
    return found if found is None else round(found, _CONVERGENCE_DIGITS)


def _clock(log: RunLog) -> tuple[LogEvent | None, LogEvent | None, list[str]]:
    """Return the events that begin and end the run, and what is odd about them."""
    start = stop = None
    starts = stops = 0
    for event in log.events:
        if event.key == "run_start":
            starts += 1
            start = event if stop is None else start
        elif event.key == "run_stop":
            stops += 1
            stop = stop or event
    notes = []
    if starts > 1:
        notes.append(f"{starts} run_start events: the last before run_stop counts")
    if stops > 1:
        notes.append(f"{stops} run_stop events: the first counts")
    return start, stop, notes


def _elapsed(
    start: LogEvent | None, stop: LogEvent | None
) -> tuple[Seconds | None, tuple[str, ...]]:
    missing = [name for name, event in (("run_start", start), ("run_stop", stop)) if not event]
    if start is None or stop is None:
        return None, (f"no {' and no '.join(missing)}",)
    if start.time_ms is None or stop.time_ms is None:
        return None, ("run_start or run_stop has no time",)
    elapsed = Seconds((stop.time_ms - start.time_ms) / _MILLISECONDS)
    if elapsed <= 0:
        return None, (f"run_stop is {-elapsed:g} s before run_start: no time",)
    if elapsed > _LONGEST_RUN_SECONDS:
        return None, (f"run_stop is {elapsed / 86_400:.0f} days after run_start: not believed",)
    return elapsed, ()


def _status(stop: LogEvent | None) -> RunStatus | None:
    """Return how the run ended; whatever is not ``success`` is a run that failed."""
    if stop is None:
        return None
    success = stop.metadata.get("status") == RunStatus.SUCCESS
    return RunStatus.SUCCESS if success else RunStatus.ABORTED


def _evaluations(log: RunLog, start: LogEvent | None, stop: LogEvent | None) -> Sequence[LogEvent]:
    """Return the evaluations of the run by time, each once however many processes logged it."""
    found: dict[str, LogEvent] = {}
    for event in log.all("eval_accuracy"):
        if event.time_ms is not None and _is_ordered(start, event) and _is_ordered(event, stop):
            found.setdefault(_identity(event), event)
    return sorted(found.values(), key=lambda event: event.time_ms or 0.0)


def _identity(event: LogEvent) -> str:
    """Return what is equal for one evaluation logged by several processes."""
    ours = {key: value for key, value in event.metadata.items() if key not in ("file", "lineno")}
    if not ours or (set(ours) == {"epoch_num"} and ours["epoch_num"] == 1):
        return f"{event.time_ms} {event.value}"  # A placeholder: evaluations look alike.
    return json.dumps([event.value, ours], sort_keys=True, default=str)


def _is_ordered(first: LogEvent | None, second: LogEvent | None) -> bool:
    """Whether ``first`` is not later than ``second``; an event that is not there does not tell."""
    if first is None or second is None or first.time_ms is None or second.time_ms is None:
        return True
    return first.time_ms <= second.time_ms


def _evaluated(
    events: Sequence[LogEvent], count: SampleCount, start: LogEvent | None
) -> Iterator[Evaluation]:
    begin = (start.time_ms if start else None) or (events[0].time_ms if events else 0.0) or 0.0
    counts = count.at_evaluations or (None,) * len(events)
    for event, samples in zip(events, counts, strict=True):
        elapsed = Seconds(((event.time_ms or 0.0) - begin) / _MILLISECONDS)
        yield Evaluation(elapsed, number(event.value), samples)


def _logged_throughput(log: RunLog) -> float | None:
    """Return the last throughput that was logged."""
    for event in reversed(log.events):
        if event.key == "throughput":
            return number(event.value)
        if event.key == "tracked_stats" and isinstance(event.value, dict):
            found = number(event.value.get("throughput"))
            if found is not None:
                return found
    return None


def _seeds(log: RunLog) -> Iterator[int]:
    """Yield each seed once, in the order in which they were logged."""
    seeds = (integer(event.value) for event in log.all("seed"))
    yield from dict.fromkeys(seed for seed in seeds if seed is not None)


def _values(log: RunLog, keys: Sequence[str]) -> dict[str, Any]:
    found = {key: log.value(key) for key in keys}
    return {key: value for key, value in found.items() if value is not None}


def _repairs(log: RunLog) -> Iterator[str]:
    """Say what the reader mended or lost, in one sentence each."""
    if not log.num_events:
        yield "no event of MLPerf's log in this file"
    for lost, verb in ((True, "unreadable"), (False, "repaired")):
        found = [repair for repair in log.repairs if repair.lost is lost]
        if found:
            lines = ", ".join(str(repair.line) for repair in found[:_MOST_LINES])
            more = ", ..." if len(found) > _MOST_LINES else ""
            yield f"{len(found)} events {verb} (line {lines}{more}): {found[0].text}"


_MOST_LINES = 5
