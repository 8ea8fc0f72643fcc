"""RunLog to RunResult."""

from collections.abc import Iterator
from typing import Any

from mlbench.runlog import LogEvent, RunLog
from mlbench.score import RunResult
from mlbench.vocabulary import RunStatus, Samples, Seconds

_FEWEST_STEPS = 50
"""An ``epoch_num`` of at least this many batches counts samples, not steps, blocks or epochs."""

_MILLISECONDS = 1000.0


def score_run(log: RunLog) -> RunResult:
    """Return what a log says of its run.

    Time is the first ``run_stop`` minus the last ``run_start`` before it, in file order, as
    MLPerf's scorer takes them.
    """
    start, stop = _clock(log)
    elapsed, problems = _elapsed(start, stop)
    evaluations = _evaluations(log, start, stop)
    batch = _integer(log.value("global_batch_size"))
    samples, source = _samples(log, evaluations, batch)
    accuracy = _number(evaluations[-1].value) if evaluations else None
    return RunResult(
        path=log.path,
        elapsed=elapsed,
        run_status=_status(stop),
        num_samples=samples,
        samples_source=source,
        accuracy=accuracy,
        quality_target=_number(log.value("quality_target")),
        global_batch_size=batch,
        seed=_integer(log.value("seed")),
        problems=(*problems, *_repairs(log)),
    )


def _clock(log: RunLog) -> tuple[LogEvent | None, LogEvent | None]:
    start = None
    for event in log.events:
        if event.key == "run_start":
            start = event
        elif event.key == "run_stop":
            return start, event
    return start, None


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
        return None, (f"run_stop in line {stop.line} is not after run_start in line {start.line}",)
    return elapsed, ()


def _status(stop: LogEvent | None) -> RunStatus | None:
    """Return how the run ended; whatever is not ``success`` is a run that failed."""
    if stop is None:
        return None
    success = stop.metadata.get("status") == RunStatus.SUCCESS
    return RunStatus.SUCCESS if success else RunStatus.ABORTED


def _evaluations(log: RunLog, start: LogEvent | None, stop: LogEvent | None) -> list[LogEvent]:
    """Return the evaluations of the run, by time: some logs write them after all blocks."""
    timed = [event for event in log.all("eval_accuracy") if event.time_ms is not None]
    inside = [event for event in timed if _at_most(start, event) and _at_most(event, stop)]
    return sorted(inside, key=lambda event: event.time_ms or 0.0)


def _at_most(first: LogEvent | None, second: LogEvent | None) -> bool:
    """Whether ``first`` is not later than ``second``; an event that is not there does not tell."""
    if first is None or second is None or first.time_ms is None or second.time_ms is None:
        return True
    return first.time_ms <= second.time_ms


def _samples(
    log: RunLog, evaluations: list[LogEvent], batch: int | None
) -> tuple[Samples | None, str]:
    """Return the samples trained and where that was found, the surest source first."""
    for source, count in _sources(log, evaluations, batch):
        if count:
            return Samples(count), source
    return None, "the log does not say how many samples were trained"


def _sources(
    log: RunLog, evaluations: list[LogEvent], batch: int | None
) -> Iterator[tuple[str, int | None]]:
    """Yield (source, samples at the last evaluation).

    ``train_samples`` is what was trained only when it is logged at the end of the run: before,
    it is a plan or the size of the data set.
    """
    if not evaluations:
        return
    last = evaluations[-1]
    for name in ("samples_count", "train_samples"):
        yield f"eval_accuracy.{name}", _integer(last.metadata.get(name))
    epoch_num = _integer(last.metadata.get("epoch_num"))
    if epoch_num and batch and epoch_num >= _FEWEST_STEPS * batch:
        yield "eval_accuracy.epoch_num", epoch_num
    for event in log.all("train_samples"):
        if _at_most(last, event) and event.line > last.line:
            yield "train_samples at the end", _integer(event.value)


def _integer(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None


def _number(value: Any) -> float | None:
    """Return a number, also one written as text; anything else is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < float("inf") else None
    try:
        return _number(float(value)) if isinstance(value, str) else None
    except ValueError:
        return None


def _repairs(log: RunLog) -> Iterator[str]:
    """Say what the reader mended or lost, in one sentence each."""
    for lost, verb in ((True, "unreadable"), (False, "repaired")):
        found = [repair for repair in log.repairs if repair.lost is lost]
        if found:
            first = found[0]
            yield f"{len(found)} events {verb}, first in line {first.line}: {first.text}"
