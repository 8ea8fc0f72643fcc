"""RunLog to RunResult."""

import math
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from mlbench.runlog import LogEvent, RunLog
from mlbench.score import Evaluation, RunResult
from mlbench.score.notes import contradictions, on_lines, repairs, shown
from mlbench.score.numbers import integer, number
from mlbench.score.rules import EVALUATED_OFFLINE
from mlbench.score.samples import RunEvents, SampleCount, count_samples
from mlbench.vocabulary import RunStatus, Seconds, printable

_MILLISECONDS = 1000.0
_LONGEST_RUN_SECONDS = 60 * 86_400
"""No published run took two months; a longer one is a fault of its clock."""

_LONGEST_VALUE = 200
"""Characters of a list or an object that are kept of what a log states."""
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
_SAID_ONCE = ("global_batch_size", "quality_target", *_STATED)
"""What a run has one of, however often it is logged."""
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
    batch = integer(_first(log, "global_batch_size"))
    evaluations, left_out = _evaluations(log, start, stop)
    if benchmark in EVALUATED_OFFLINE:
        left_out = []
    count = SampleCount("the run has no start and stop")
    if start and stop:
        events = RunEvents(log, benchmark, start, stop, evaluations, batch)
        count = count_samples(events)
    last = evaluations[-1] if evaluations else None
    elapsed, problem = _elapsed(start, stop)
    return RunResult(
        file=printable(log.path.name),
        digest=digest,
        elapsed=elapsed,
        run_status=_status(stop),
        start_ms=start.time_ms if start else None,
        evaluations=tuple(_evaluated(evaluations, count, start)),
        num_samples=count.total,
        samples_source=count.source,
        convergence=_convergence(last, benchmark),
        logged_throughput=_logged_throughput(log),
        quality_target=number(_first(log, "quality_target")),
        global_batch_size=batch,
        seeds=tuple(_seeds(log)),
        stated=_values(log, _STATED),
        hyperparameters=_values(log, _HYPERPARAMETERS),
        problems=(
            *(*problem, *notes, *left_out),
            *(*contradictions(log, _SAID_ONCE), *repairs(log)),
        ),
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
    starts, stops = list(log.all("run_start")), list(log.all("run_stop"))
    stop = stops[0] if stops else None
    before = [each for each in starts if stop is None or each.offset < stop.offset]
    start = next(reversed(before or starts), None)
    notes = []
    if len(starts) > 1:
        where = on_lines(log, starts)
        notes.append(f"{len(starts)} run_start events ({where}): the last before run_stop counts")
    if len(stops) > 1:
        notes.append(f"{len(stops)} run_stop events ({on_lines(log, stops)}): the first counts")
    if start and stop and not before:
        where = on_lines(log, [start, stop])
        notes.append(f"run_start stands behind run_stop in the file ({where})")
    if stop and stop.metadata.get("status") not in list(RunStatus):
        said = str(stop.metadata.get("status", "none"))[:40]
        notes.append(f"status of run_stop is {said} ({on_lines(log, [stop])}): not a success")
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
        return None, (f"run_stop is {abs(elapsed):g} s before run_start: no time",)
    if elapsed > _LONGEST_RUN_SECONDS:
        return None, (f"run_stop is {elapsed / 86_400:.0f} days after run_start: not believed",)
    return elapsed, ()


def _status(stop: LogEvent | None) -> RunStatus | None:
    """Return how the run ended; whatever is not ``success`` is a run that failed."""
    if stop is None:
        return None
    success = stop.metadata.get("status") == RunStatus.SUCCESS
    return RunStatus.SUCCESS if success else RunStatus.ABORTED


def _evaluations(
    log: RunLog, start: LogEvent | None, stop: LogEvent | None
) -> tuple[Sequence[LogEvent], list[str]]:
    """Return the evaluations of the run by time, each once however many processes logged it.

    With them, what is said of those that are left out.
    """
    begin, end = _time(start, -math.inf), _time(stop, math.inf)
    every = list(log.all("eval_accuracy"))
    inside = [
        event for event in every if event.time_ms is not None and begin <= event.time_ms <= end
    ]
    events = inside if _are_distinct([event.value for event in inside]) else _once(inside)
    notes = [
        f"{len(left_out)} of {len(every)} evaluations {why} ({on_lines(log, left_out)}): left out"
        for left_out, why in (
            (_without(every, inside), "not within the time of the run"),
            (_without(inside, events), "logged again"),
        )
        if left_out
    ]
    return sorted(events, key=attrgetter("time_ms")), notes


def _without(events: Sequence[LogEvent], others: Sequence[LogEvent]) -> Sequence[LogEvent]:
    if len(events) == len(others):
        return ()
    offsets = {event.offset for event in others}
    return [event for event in events if event.offset not in offsets]


def _are_distinct(values: Sequence[Any]) -> bool:
    """Whether all values are floats and no two are equal: then no evaluation is there twice."""
    if not all(type(value) is float for value in values):
        return False
    return len(set(values)) == len(values) and not math.isnan(sum(values))


def _once(events: Sequence[LogEvent]) -> list[LogEvent]:
    """Return each evaluation once, however many processes logged it."""
    is_counted = len({_counters(event) for event in events}) > 1
    found: dict[str, LogEvent] = {}
    for event in events:
        place = _counters(event) if is_counted else event.time_ms
        found.setdefault(f"{shown(event.value)} {place}", event)
    return list(found.values())


def _counters(event: LogEvent) -> str:
    """Return what tells one evaluation from the next, whichever process logged it.

    It is the same in all evaluations of a log whose counter is a placeholder.
    """
    ours = {key: value for key, value in event.metadata.items() if key not in ("file", "lineno")}
    return shown(ours)


def _time(event: LogEvent | None, unknown: float) -> float:
    """Return the time of an event; one that is not there, or has no time, excludes nothing."""
    return unknown if event is None or event.time_ms is None else event.time_ms


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
    for event in log.backwards("throughput", "tracked_stats"):
        found = None
        if event.key == "throughput":
            found = number(event.value)
        elif isinstance(event.value, dict):
            found = number(event.value.get("throughput"))
        if found is not None:
            return found
    return None


def _seeds(log: RunLog) -> Iterator[int]:
    """Yield each seed once, in the order in which they were logged."""
    seeds = (integer(event.value) for event in log.all("seed"))
    yield from dict.fromkeys(seed for seed in seeds if seed is not None)


def _first(log: RunLog, key: str) -> Any:
    """Return the first value of a key that is one."""
    return next((event.value for event in log.all(key) if event.value is not None), None)


def _values(log: RunLog, keys: Sequence[str]) -> dict[str, Any]:
    found = {key: _first(log, key) for key in keys if key in log.by_key}
    return {
        key: value if isinstance(value, str | int | float) else shown(value)[:_LONGEST_VALUE]
        for key, value in found.items()
        if value is not None
    }
