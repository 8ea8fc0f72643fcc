"""File, environment and ``--set`` to a ``RunConfig``, or one message with every problem."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from mlbench.config import RunConfig
from mlbench.config.consistency import inconsistencies
from mlbench.config.source import Origin, Path, Problem, Source, read_mapping, read_value
from mlbench.errors import ConfigError, did_you_mean

ENVIRONMENT_PREFIX = "MLBENCH_SET__"
"""``MLBENCH_SET__TRAIN__SEED=1`` sets ``train.seed``."""

DEFAULT = Origin("default")

_SWITCHES = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}

_PHRASES = {
    "Input should be": "must be",
    "a valid integer": "an integer",
    "a valid number": "a number",
    "an object": "a section, with its keys below it",
    "a valid array": "a list",
}
"""Pydantic's words and ours."""


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A valid config with the origin of each value that is not a default."""

    name: str
    """The file's name without its ending: the name of the system unless one is set."""
    config: RunConfig
    origins: Mapping[Path, Origin]

    def origin(self, path: Path) -> Origin:
        """Return where the value at ``path`` was set."""
        return self.origins.get(path, DEFAULT)

    def overrides(self) -> dict[Path, Any]:
        """Return the values that were set outside the file, as they are in the config."""
        dumped = self.config.model_dump(mode="json")
        return {
            path: _value_at(dumped, path)
            for path, origin in self.origins.items()
            if origin.line is None
        }


def _value_at(values: Any, path: Path) -> Any:
    for part in path:
        values = values[part]
    return values


def load_config(
    name: str, settings: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> LoadedConfig:
    """Load a config file, or the preset of that name in ``configs/``.

    Args:
        name: a path, or the name of a preset.
        settings: ``a.b=value`` each; the last one wins.
        environment: variables that begin with ``MLBENCH_SET__`` set values, too.

    Raises:
        ConfigError: with every problem found, one a line, with file, line and key.
    """
    file = find_config(name)
    source = read_mapping(_read(file), str(file))
    for key, text, origin in _overrides(settings, environment or {}):
        _apply(source, key, text, origin)
    config, problems = _validated(source, str(file))
    if config is None or problems:
        raise ConfigError(_message(problems, str(file)))
    return LoadedConfig(file.stem, config, source.origins)


def _validated(source: Source, file: str) -> tuple[RunConfig | None, list[Problem]]:
    """Return the config, if the values make one, and everything that is wrong with them."""
    problems = list(source.problems)
    if not source.readable:
        return None, problems
    try:
        config = RunConfig.model_validate_json(json.dumps(source.values))
    except ValidationError as error:
        return None, [*problems, *_validation_problems(error, source, file)]
    for path, text in inconsistencies(config):
        dotted = ".".join(map(str, path))
        problems.append(Problem(_nearest_origin(source, path, file), f"{dotted}: {text}"))
    return config, problems


def find_config(name: str) -> FilePath:
    """Return the file of a config given as a path or as the name of a preset."""
    preset = FilePath("configs") / f"{name}.yaml"
    for file in (FilePath(name), preset):
        if file.is_file():
            return file
    known = [file.stem for file in presets()]
    raise ConfigError(
        f"config {name!r}: no such file, and no preset of that name{did_you_mean(name, known)}"
        f" (presets: {', '.join(known) or 'none in configs/ here'})"
    )


def presets() -> list[FilePath]:
    """Return the config files of the folder ``configs/``."""
    return sorted(FilePath("configs").glob("*.yaml"))


def _read(file: FilePath) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 at byte {error.start}") from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error


def _overrides(
    settings: Sequence[str], environment: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield (dotted key, text, name of the origin), in rising order of precedence."""
    for variable in sorted(environment):
        if variable.startswith(ENVIRONMENT_PREFIX):
            key = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")
            yield key, environment[variable], f"environment {variable}"
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set {setting}: expected a.b=value, such as train.seed=1")
        yield key.strip(), text, "--set"


def _apply(source: Source, key: str, text: str, origin: str) -> None:
    path = tuple(key.split("."))
    value, other = read_value(text, origin, path)
    source.problems.extend(other.problems)
    if other.readable:
        source.override(path, value, other)


def _validation_problems(error: ValidationError, source: Source, file: str) -> Iterator[Problem]:
    known = list(dotted_keys(RunConfig))
    reported = {problem.path for problem in source.problems}
    for detail in error.errors(include_url=False):
        path = _location(detail["loc"], source.values)
        if path in reported:  # Unreadable, or each alternative of an optional value complains.
            continue
        reported.add(path)
        dotted = ".".join(map(str, path))
        origin = _nearest_origin(source, path, file)
        if detail["type"] == "extra_forbidden":
            yield Problem(origin, f"{dotted}: unknown key{_nearest_key(path, known)}")
        elif detail["type"] == "missing":
            yield Problem(origin, f"{dotted}: missing; it has no default")
        else:
            yield Problem(origin, f"{dotted}: {_reason(detail, path in source.quoted)}")


def _location(loc: Iterable[str | int], values: Any) -> Path:
    """Return the part of pydantic's location that exists in the config, plus its last key.

    Pydantic also names the alternative of a union it tried, such as ``constrained-int``.
    """
    path: list[str | int] = []
    for part in loc:
        inside = isinstance(values, dict) or (isinstance(values, list) and isinstance(part, int))
        if not inside:
            break
        path.append(part)
        try:
            values = values[part]
        except (KeyError, IndexError):
            break
    return tuple(path)


def _nearest_origin(source: Source, path: Path, file: str) -> Origin:
    while path and path not in source.origins:
        path = path[:-1]
    return source.origins.get(path, Origin(file))


def _nearest_key(path: Path, known: Sequence[str]) -> str:
    """Return the hint for an unknown key: the same key elsewhere, or one spelled nearly so."""
    key, section = str(path[-1]), ".".join(map(str, path[:-1]))
    prefix = f"{section}." if section else ""
    elsewhere = [name for name in known if name.rsplit(".", 1)[-1] == key]
    if elsewhere:
        return f"; it belongs at {' or '.join(elsewhere)}"
    beside = [
        name.removeprefix(prefix)
        for name in known
        if name.startswith(prefix) and "." not in name.removeprefix(prefix)
    ]
    near = did_you_mean(key, beside)
    if near:
        return near
    return did_you_mean(f"{prefix}{key}", known) or f"; known here: {', '.join(beside)}"


def _reason(detail: Any, quoted: bool) -> str:
    """Return pydantic's complaint in the user's words, with the value."""
    value, kind = detail["input"], detail["type"]
    reason = str(detail["msg"])
    for phrase, ours in _PHRASES.items():
        reason = reason.replace(phrase, ours)
    if isinstance(value, str):
        word = value.lower()
        if kind == "bool_type":
            plain = word if word in ("true", "false") else _SWITCHES.get(word)
            return f"must be true or false, is the text {value!r}" + (
                f"; write {plain}, without quotes" if plain else ""
            )
        if kind in ("int_type", "float_type"):
            return f"{reason}, is the text {value!r}" + ("; remove the quotes" * quoted)
    if kind == "string_type" and value is not None:
        return f"must be text, is {json.dumps(value)}; put it in quotes"
    if kind == "string_pattern_mismatch":
        return f"{value!r} must match {detail['ctx']['pattern']}"
    return f"{reason}, is {json.dumps(value)}"


def _message(problems: Iterable[Problem], file: str) -> str:
    unique = sorted({(p.origin.name != file, p.origin.line or 0, str(p)) for p in problems})
    count = f"{len(unique)} problem{'s' * (len(unique) > 1)}"
    return f"{file}: {count}\n" + "\n".join(f"  {text}" for *_, text in unique)


def dotted_keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the dotted name of every key of a config section, sections included."""
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}"
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from dotted_keys(kind, f"{prefix}{name}.")
