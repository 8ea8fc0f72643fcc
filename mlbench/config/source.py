"""YAML text to values that remember where they stand.

YAML is read as version 1.2, and what reads differently in other versions, or hides where a value
comes from, is a problem to be reported: leading zeros, anchors and aliases, merge keys, tags,
directives. All problems of a text are collected, none is raised at once.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, DocumentStartEvent, NodeEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Path = tuple[str | int, ...]
"""Keys and list positions that lead to a value, from the top."""

_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was set."""

    name: str
    """A file, an environment variable, ``--set ...`` or ``default``."""
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.name}:{self.line}" if self.line else self.name


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a config."""

    origin: Origin
    text: str
    path: Path = ()
    """The value that is unusable, if it is one value: nothing more need be said of it."""

    def __str__(self) -> str:
        return f"{self.origin}: {self.text}"


@dataclass(slots=True)
class Source:
    """Values as written: nested dicts and lists, with the origin and spelling of each."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[Path, Origin] = field(default_factory=dict)
    quoted: set[Path] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    readable: bool = True
    """False when the text is no mapping at all, so that its keys cannot be judged."""

    def override(self, path: tuple[str, ...], value: Any, other: "Source") -> None:
        """Put ``value``, read into ``other`` at the same path, over what stands at ``path``."""
        section = self.values
        for key in path[:-1]:
            inner = section.get(key)
            if not isinstance(inner, dict):
                inner = section[key] = {}
            section = inner
        section[path[-1]] = value
        for old in [old for old in self.origins if old[: len(path)] == path]:
            del self.origins[old]
            self.quoted.discard(old)
        self.origins |= other.origins
        self.quoted |= other.quoted


def read_mapping(text: str, name: str) -> Source:
    """Read a YAML text whose top is a mapping."""
    source = Source()
    node = _compose(text, name, source)
    if isinstance(node, MappingNode):
        source.values = _Reader(source, name).mapping(node, ())
        return source
    source.readable = False
    if node is not None:
        problem = f"the file holds {_kind(node)}, expected sections such as 'train:'"
        source.problems.append(Problem(Origin(name, 1), problem))
    elif not source.problems:
        source.problems.append(Problem(Origin(name), "the file is empty"))
    return source


def read_value(text: str, name: str, path: tuple[str, ...]) -> tuple[Any, Source]:
    """Read a YAML text that is the value at ``path``; its origin has a name, but no line."""
    origin, dotted = Origin(name), ".".join(path)
    source = Source(origins={path: origin})
    node = _compose(text, name, source)
    source.problems = [Problem(origin, f"{dotted}: {each.text}") for each in source.problems]
    if node is not None:
        return _Reader(source, name, numbered=False).value(node, path), source
    source.readable = False
    if not source.problems:
        source.problems.append(Problem(origin, f"{dotted}: no value; write null for none"))
    return None, source


def _compose(text: str, name: str, source: Source) -> Node | None:
    """Return the root node, or None with the reason among the problems."""
    try:
        source.problems.extend(_unwanted(text, name))
        node: Node | None = YAML(pure=True).compose(text)
        return node
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        source.problems.append(Problem(Origin(name, line), _syntax(error)))
    except YAMLError as error:
        source.problems.append(Problem(Origin(name), " ".join(str(error).split())))
    return None


def _syntax(error: MarkedYAMLError) -> str:
    text = str(error.problem).replace("<stream end>", "the end of the text")
    if "'\\t'" in text:
        return "a tab; indent with spaces"
    if "expected a single document" in str(error):
        return "a second document begins here; keep one per file"
    return f"not valid YAML: {error.context + ', ' if error.context else ''}{text}"


def _unwanted(text: str, name: str) -> Iterator[Problem]:
    """Anchors, aliases, tags and directives: they hide what a value is or where it comes from."""
    for event in YAML(pure=True).parse(text):
        origin = Origin(name, event.start_mark.line + 1)
        if isinstance(event, AliasEvent):
            yield Problem(
                origin, f"alias '*{event.anchor}'; write the value out, or quote the text"
            )
        elif isinstance(event, NodeEvent) and event.anchor:
            yield Problem(origin, f"anchor '&{event.anchor}'; write each value where it applies")
        elif isinstance(event, DocumentStartEvent) and (event.version or event.tags):
            yield Problem(origin, "a YAML directive; files are read as YAML 1.2")
        tag = str(getattr(event, "tag", None) or "!")
        if tag != "!":
            yield Problem(origin, f"tag {tag}; remove it")


def _kind(node: Node) -> str:
    if isinstance(node, SequenceNode):
        return "a list"
    return "a mapping" if isinstance(node, MappingNode) else f"the text {node.value!r}"


@dataclass(slots=True)
class _Reader:
    source: Source
    name: str
    numbered: bool = True

    def value(self, node: Node, path: Path) -> Any:
        if isinstance(node, MappingNode):
            return self.mapping(node, path)
        if isinstance(node, SequenceNode):
            return self._sequence(node, path)
        return self._scalar(
            str(node.value), str(node.tag), path, quoted=getattr(node, "style", None) is not None
        )

    def mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            origin = self._origin(key_node)
            key = key_node.value if isinstance(key_node, ScalarNode) else None
            dotted = ".".join(map(str, (*path, key)))
            if key is None:
                self._problem(origin, f"{_kind(key_node)} as a key; keys are names")
            elif key_node.tag.endswith(":merge"):
                self._problem(origin, "merge key '<<'; write each value where it applies")
            elif key in values:
                first = self.source.origins[*path, key]
                self._problem(origin, f"{dotted}: set twice, first in line {first.line}")
            else:
                self.source.origins[*path, key] = origin
                values[key] = self.value(value_node, (*path, key))
        return values

    def _sequence(self, node: SequenceNode, path: Path) -> list[Any]:
        for index, item in enumerate(node.value):
            self.source.origins[*path, index] = self._origin(item)
        return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]

    def _scalar(self, text: str, tag: str, path: Path, *, quoted: bool) -> Any:
        if quoted:
            self.source.quoted.add(path)
        value = _plain(text, tag.rsplit(":", 1)[-1])
        problem = _number_problem(text, value)
        if problem:
            text = f"{'.'.join(map(str, path))}: {problem}"
            self.source.problems.append(Problem(self.source.origins[path], text, path))
            return None
        return value

    def _origin(self, node: Node) -> Origin:
        return Origin(self.name, node.start_mark.line + 1 if self.numbered else None)

    def _problem(self, origin: Origin, text: str) -> None:
        self.source.problems.append(Problem(origin, text))


def _plain(text: str, kind: str) -> Any:
    """Return the value of a scalar by the type YAML 1.2 gives it; what is no other type is text."""
    digits = text.replace("_", "")
    if kind == "int":
        return int(digits) if _LEADING_ZERO.match(digits) else int(digits, 0)
    if kind == "float":
        return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    if kind == "bool":
        return text.lower() == "true"
    return None if kind == "null" else text


def _number_problem(text: str, value: Any) -> str | None:
    """Return what is wrong with how a number is written, if anything."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{text} is not a finite number"
    if type(value) in (int, float) and _LEADING_ZERO.match(text):
        return f"{text} begins with 0, octal in other YAML versions; write {value}"
    return None
