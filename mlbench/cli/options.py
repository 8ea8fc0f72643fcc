"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


class CommaList(click.ParamType[tuple[str, ...]]):
    """A list such as ``a,b``; spaces around its words do not count."""

    name = "list"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:  # noqa: ARG002
        """Split the words."""
        if isinstance(value, tuple):
            return value
        return tuple(word.strip() for word in value.split(",") if word.strip())


class CountRange(click.ParamType[tuple[int, int]]):
    """A count such as ``8``, or a range such as ``8-64``, both ends included."""

    name = "range"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Return lowest and highest count."""
        low, _, high = value.partition("-")
        if not (low.isdigit() and (high or low).isdigit()):
            self.fail(f"{value!r} is neither a count nor a range such as 8-64", param, ctx)
        if int(low) > int(high or low):
            self.fail(f"{value!r} begins above its end", param, ctx)
        return int(low), int(high or low)


config_argument = click.argument("name", metavar="CONFIG")

settings_option = click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set one value, such as train.seed=1; wins over file and environment. Repeatable.",
)

results_option = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Folder of the results tree.",
)


def output_option(form: str) -> Callable[[Command], Command]:
    """Return the option that writes a format to a file."""
    return click.option(
        f"--{form}",
        metavar="FILE",
        help=f"Write {form} to a file, - for standard output.",
    )


def shown(path: Path) -> str:
    """Return a path as short as it can be typed from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def write_output(target: str, text: str) -> None:
    """Write a text to a file, whole or not at all, or to standard output for ``-``."""
    from mlbench.atomic import write_atomically
    from mlbench.errors import UsageError

    if target == "-":
        click.echo(text, nl=False)
        return
    try:
        write_atomically(Path(target), text)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from error
    click.echo(f"wrote {target}", err=True)
