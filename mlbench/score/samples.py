"""How many samples a run had trained at each evaluation, whatever its log calls them.

Logs count in many ways: ``epoch_num`` alone means samples, steps, epochs, blocks or nothing. The
sources are tried in a fixed order, the surest first, and the one that was used is named. The order
and the traps are those found in the published rounds (v0.7 to v5.0).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from mlbench.runlog import LogEvent, RunLog
from mlbench.score.numbers import integer, number

_COUNTERS = ("samples_count", "train_samples", "train_samples_since_beginning")
"""Metadata of ``eval_accuracy`` that count samples where they stand."""

_FEWEST_STEPS = 50
"""An ``epoch_num`` of at least this many batches counts samples, not steps, blocks or epochs."""

_MOST_FIRST_GAP = 3.5
"""Evaluations are evenly spaced if the first comes after no more than this many median gaps."""

_DATA_SETS = {"resnet": 1_281_167}
"""Training samples of an epoch, for benchmarks whose evaluations count epochs."""


@dataclass(frozen=True, slots=True)
class SampleCount:
    """Samples trained, and how it is known."""

    source: str
    """The source, or why there is none."""
    total: float | None = None
    """At the last evaluation."""
    at_evaluations: tuple[float | None, ...] = ()
    """At each evaluation, where the source tells."""


@dataclass(frozen=True, slots=True)
class RunEvents:
    """The part of a log that lies between its start and its stop."""

    log: RunLog
    benchmark: str
    start: LogEvent
    stop: LogEvent
    evaluations: Sequence[LogEvent]
    """By time, each once; some logs write them after all blocks, or once per process."""
    global_batch_size: int | None


_Source = Callable[[RunEvents], Iterator[SampleCount]]


def count_samples(run: RunEvents) -> SampleCount:
    """Return the samples of a run by the first source that tells them."""
    if not run.evaluations:
        return SampleCount("no evaluation between run_start and run_stop")
    for source in (_counters, _epochs_of_samples, _steps, _trained, _blocks, _data_sets):
        for found in source(run):
            if found.total:
                return found
    return SampleCount(_reason(run))


def _reason(run: RunEvents) -> str:
    if number(run.evaluations[-1].metadata.get("epoch_num")) is None:
        return "evaluations have no counter"
    return "evaluations count epochs or something else than samples"


def _counters(run: RunEvents) -> Iterator[SampleCount]:
    """S1: a counter of samples. One that begins above 0 belongs to a run that was resumed."""
    for name in _COUNTERS:
        counts = _metadata(run.evaluations, name)
        if counts:
            begun = [number(block.metadata.get(name)) for block in run.log.all("block_start")]
            before = next((each for each in begun if each is not None), 0.0)
            base = before if before < counts[0] else 0.0
            yield _at(f"S1 eval_accuracy.{name}", [count - base for count in counts])


def _epochs_of_samples(run: RunEvents) -> Iterator[SampleCount]:
    """S1: ``epoch_num`` where it counts samples, as in BERT since v1.0."""
    counts = _metadata(run.evaluations, "epoch_num")
    batch = run.global_batch_size
    is_counter = run.benchmark == "bert" and counts and batch
    if is_counter and counts[-1] >= _FEWEST_STEPS * (batch or 0):
        yield _at("S1 eval_accuracy.epoch_num", counts)


def _steps(run: RunEvents) -> Iterator[SampleCount]:
    """S2: a counter of steps, times the batch. ``epoch_num`` is one if it grows as blocks do."""
    batch = run.global_batch_size
    if not batch:
        return
    steps = _metadata(run.evaluations, "step_num")
    if steps:
        yield _at("S2 eval_accuracy.step_num x batch", [step * batch for step in steps])
    epochs = _metadata(run.evaluations, "epoch_num")
    sizes = {number(block.metadata.get("epoch_count")) for block in run.log.all("block_start")}
    sizes -= {None, 0.0, 1.0}
    gaps = {later - earlier for earlier, later in pairwise([0.0, *epochs])}
    if run.benchmark == "bert" and sizes and gaps & sizes:
        yield _at("S2 eval_accuracy.epoch_num x batch", [step * batch for step in epochs])


def _trained(run: RunEvents) -> Iterator[SampleCount]:
    """S3: the event ``train_samples`` behind the last evaluation: what was trained.

    Before it, the same key is a plan or the size of the data set. Evaluations that are evenly
    spaced share the samples evenly.
    """
    last = run.evaluations[-1]
    for event in run.log.all("train_samples"):
        total = integer(event.value)
        if total and event.offset > last.offset and _time(event) >= _time(last):
            count = len(run.evaluations)
            even = [total * (n + 1) / count for n in range(count)]
            evenly = _are_even(run)
            yield SampleCount(
                "S3 train_samples behind the last evaluation",
                float(total),
                tuple(even) if evenly else (*[None] * (count - 1), float(total)),
            )


def _are_even(run: RunEvents) -> bool:
    times = [_time(run.start), *(_time(event) for event in run.evaluations)]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    return len(gaps) == 1 or gaps[0] <= _MOST_FIRST_GAP * median(gaps[1:])


def _blocks(run: RunEvents) -> Iterator[SampleCount]:
    """S4: blocks of several steps that had ended, times the batch."""
    batch = run.global_batch_size
    stop = _time(run.stop)
    starts = [event for event in run.log.all("block_start") if _time(event) <= stop]
    stops = sum(_time(event) <= stop for event in run.log.all("block_stop"))
    sizes = [number(event.metadata.get("epoch_count")) for event in starts[:stops]]
    steps = sum(size for size in sizes if size is not None)
    if run.benchmark == "bert" and batch and sizes and steps > len(sizes):
        yield SampleCount(
            "S4 finished blocks x batch", steps * batch, (None,) * len(run.evaluations)
        )


def _data_sets(run: RunEvents) -> Iterator[SampleCount]:
    """S5: epochs, times a data set whose size is fixed by the benchmark."""
    size = _DATA_SETS.get(run.benchmark)
    epochs = _metadata(run.evaluations, "epoch_num")
    if size and epochs:
        yield _at("S5 eval_accuracy.epoch_num x data set", [epoch * size for epoch in epochs])


def _metadata(evaluations: Sequence[LogEvent], name: str) -> list[float]:
    """Return a counter at each evaluation; empty unless every one has it and it never falls."""
    counts = [number(event.metadata.get(name)) for event in evaluations]
    known = [count for count in counts if count is not None]
    rises = all(earlier <= later for earlier, later in pairwise(known))
    return known if len(known) == len(evaluations) and rises else []


def _at(source: str, counts: Sequence[float]) -> SampleCount:
    return SampleCount(source, counts[-1], tuple(counts))


def _time(event: LogEvent) -> float:
    return event.time_ms or 0.0
