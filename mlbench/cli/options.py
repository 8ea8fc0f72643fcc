"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

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
