"""How far a job of many equal parts has come, on standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

_PATIENCE_SECONDS = 0.5
"""A job that is done by then shows nothing."""
_TERMINAL_SECONDS = 0.1
_PLAIN_SECONDS = 10.0


@contextmanager
def show_counting() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that is told what is done, and how many of how many.

    A terminal has one line that is rewritten, and removed at the end; elsewhere a line stands every
    ten seconds.
    """
    is_terminal = sys.stderr.isatty()
    interval = _TERMINAL_SECONDS if is_terminal else _PLAIN_SECONDS
    due = time.monotonic() + (_PATIENCE_SECONDS if is_terminal else _PLAIN_SECONDS)
    width = 0

    def say(what: str, done: int, total: int) -> None:
        nonlocal due, width
        now = time.monotonic()
        if now < due:
            return
        due = now + interval
        text = f"{what}: {done:,} of {total:,}"
        click.echo(f"\r{text:<{width}}" if is_terminal else text, err=True, nl=not is_terminal)
        width = max(width, len(text))

    try:
        yield say
    finally:
        if width and is_terminal:
            click.echo(f"\r{'':<{width}}\r", err=True, nl=False)
