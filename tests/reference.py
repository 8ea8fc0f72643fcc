"""Writes the reference pages of the documentation from the program itself.

``python -m tests.reference`` (part of ``make docs``); a test fails when a page is not current.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from mlbench.cli import cli
from mlbench.config import RunConfig

DOCS = Path(__file__).resolve().parents[1] / "docs"
_SIZE = {"max_content_width": 100, "terminal_width": 100}


def pages() -> dict[Path, str]:
    """Return the text of each generated page."""
    return {DOCS / "cli.md": command_page(), DOCS / "config.md": config_page()}


def command_page() -> str:
    """Return the help of every command."""
    lines = ["# Commands", "", "This page is what `--help` prints of each command.", ""]
    for name, command in _commands(cli, "mlbench"):
        context = click.Context(command, info_name=name, **{**cli.context_settings, **_SIZE})
        lines += [f"## {name}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(lines)


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for sub in sorted(command.commands):
            yield from _commands(command.commands[sub], f"{name} {sub}")


def config_page() -> str:
    """Return every key of a config with its default and meaning."""
    schema = RunConfig.model_json_schema()
    lines = [
        "# Config",
        "",
        "Every key of a config file. A key without default must be set.",
        "`mlbench config schema` prints the same for editors, `mlbench config show NAME --origin`",
        "what a config amounts to.",
        "",
    ]
    for section, fields, required in _sections(schema, schema, ""):
        lines += [
            f"## {section or 'top level'}",
            "",
            "| key | default | meaning |",
            "|---|---|---|",
        ]
        for key, field in fields.items():
            default = "none" if key in required else f"`{json.dumps(field.get('default'))}`"
            meaning = " ".join(field["description"].split())
            lines.append(f"| `{key}` | {default} | {meaning}{_choices(field, schema)} |")
        lines.append("")
    return "\n".join(lines)


def _sections(
    schema: dict[str, Any], whole: dict[str, Any], prefix: str
) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """Yield (dotted name, fields that are values, required keys) of a section and those in it."""
    fields: dict[str, Any] = schema["properties"]
    inner = {key: _section_of(field, whole) for key, field in fields.items()}
    plain = {key: field for key, field in fields.items() if inner[key] is None}
    if plain:
        yield prefix, plain, schema.get("required", [])
    for key, section in inner.items():
        if section is not None:
            yield from _sections(section, whole, f"{prefix}.{key}" if prefix else key)


def _section_of(field: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any] | None:
    target = _resolved(field, whole)
    return target if "properties" in target else None


def _resolved(field: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    reference = field.get("$ref", "")
    target: dict[str, Any] = whole["$defs"][reference.rsplit("/", 1)[-1]] if reference else field
    return target


def _choices(field: dict[str, Any], whole: dict[str, Any]) -> str:
    """Return the values a key may have, where they are few."""
    choices = _resolved(field, whole).get("enum", [])
    return f" One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else ""


def main() -> None:
    """Write the pages."""
    os.environ.pop("COLUMNS", None)
    for file, text in pages().items():
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
