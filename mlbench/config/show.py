"""A config as YAML, with the origin of each value when asked."""

import json
from collections.abc import Iterator
from typing import Any

from mlbench.config.load import LoadedConfig
from mlbench.config.source import Path


def to_yaml(loaded: LoadedConfig, *, origins: bool = False) -> str:
    """Return the whole config, defaults filled in, as YAML that loads to the same config."""
    lines = list(_lines(loaded.config.model_dump(mode="json"), ()))
    width = max(len(text) for _, text in lines)
    return "".join(
        f"{text:<{width}}  # {loaded.origin(path)}\n" if origins and path else f"{text}\n"
        for path, text in lines
    )


def _lines(section: dict[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield (path, line); headings of sections have an empty path."""
    indent = "  " * len(path)
    for key, value in section.items():
        if isinstance(value, dict):
            yield (), f"{indent}{key}:"
            yield from _lines(value, (*path, key))
        else:  # JSON scalars and lists are YAML 1.2, too.
            yield (*path, key), f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}"
