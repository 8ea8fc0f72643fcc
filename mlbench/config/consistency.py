"""What no single value shows: values of a config that contradict each other."""

from collections.abc import Iterator

from mlbench import registry
from mlbench.config import RunConfig
from mlbench.config.source import Path
from mlbench.registry import Group


def inconsistencies(config: RunConfig) -> Iterator[tuple[Path, str]]:
    """Yield (path of the value to change, what is wrong and what would be right)."""
    yield from _names(config)
    yield from _model(config)
    yield from _schedule(config)
    yield from _batch(config)
    if config.data.prepare.corpus == "text" and not config.data.prepare.input:
        yield ("data", "prepare", "input"), "the text corpus needs at least one file"


def _names(config: RunConfig) -> Iterator[tuple[Path, str]]:
    chosen: tuple[tuple[Path, Group, str], ...] = (
        (("benchmark",), Group.BENCHMARK, config.benchmark),
        (("engine",), Group.ENGINE, config.engine),
        (("parallel", "strategy"), Group.STRATEGY, config.parallel.strategy),
        (("launch", "launcher"), Group.LAUNCHER, config.launch.launcher),
    )
    for path, group, name in chosen:
        problem = registry.unknown(group, name)
        if problem:
            yield path, problem


def _model(config: RunConfig) -> Iterator[tuple[Path, str]]:
    model, prepare = config.model, config.data.prepare
    if model.hidden_size % model.num_attention_heads:
        heads = [n for n in range(1, model.hidden_size + 1) if model.hidden_size % n == 0]
        nearest = nearest_of(model.num_attention_heads, heads)
        yield (
            ("model", "num_attention_heads"),
            f"{model.num_attention_heads} heads do not divide model.hidden_size "
            f"{model.hidden_size}; nearest: {_either(nearest)}",
        )
    if prepare.sequence_length > model.max_position_embeddings:
        yield (
            ("data", "prepare", "sequence_length"),
            f"{prepare.sequence_length} tokens, but model.max_position_embeddings is "
            f"{model.max_position_embeddings}; lower the one or raise the other",
        )
    if prepare.max_predictions >= prepare.sequence_length:
        yield (
            ("data", "prepare", "max_predictions"),
            f"{prepare.max_predictions} masked tokens do not fit a sequence of "
            f"{prepare.sequence_length}",
        )


def _schedule(config: RunConfig) -> Iterator[tuple[Path, str]]:
    optimizer = config.optimizer
    if optimizer.warmup_steps > optimizer.training_steps:
        yield (
            ("optimizer", "warmup_steps"),
            f"{optimizer.warmup_steps} is more than optimizer.training_steps "
            f"{optimizer.training_steps}",
        )
    if config.train.max_steps and config.train.max_steps > optimizer.training_steps:
        yield (
            ("train", "max_steps"),
            f"{config.train.max_steps} is beyond optimizer.training_steps "
            f"{optimizer.training_steps}, where the learning rate has become 0",
        )


def _batch(config: RunConfig) -> Iterator[tuple[Path, str]]:
    ranks = config.launch.nproc_per_node
    accumulation = config.train.gradient_accumulation_steps
    unit = ranks * accumulation
    size = config.train.global_batch_size
    if size % unit:
        legal = [n for n in (size // unit * unit, (size // unit + 1) * unit) if n]
        yield (
            ("train", "global_batch_size"),
            f"{size} cannot be shared evenly by {ranks} ranks x {accumulation} accumulation "
            f"steps = {unit}; nearest: {_either(legal)}",
        )


def nearest_of(value: int, legal: list[int]) -> list[int]:
    """Return the nearest legal values below and above ``value``."""
    below = [n for n in legal if n <= value]
    above = [n for n in legal if n >= value]
    return sorted({*below[-1:], *above[:1]})


def _either(values: list[int]) -> str:
    return " or ".join(map(str, values))
