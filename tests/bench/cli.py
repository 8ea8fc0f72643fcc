"""How long the command line takes to start."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from tests.bench import Figure, median, spread

ROUNDS = 15


def figures() -> Iterator[Figure]:
    """Start-up of two commands, in turn with that of the bare interpreter."""
    commands = {
        "bare": [sys.executable, "-c", "pass"],
        "help": [sys.executable, "-m", "mlbench", "--help"],
        "compare_help": [sys.executable, "-m", "mlbench", "compare", "--help"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            seconds[name].append(_seconds(command))
    bare = f"bare interpreter: {median(seconds['bare']):.3f} s"
    for name, goal in (("help", 0.15), ("compare_help", 0.25)):
        yield Figure(
            name=f"cli.{name}_seconds",
            value=median(seconds[name]),
            unit="s",
            better="lower",
            goal=goal,
            against=f"{spread(seconds[name])}; {bare}",
        )


def _seconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
