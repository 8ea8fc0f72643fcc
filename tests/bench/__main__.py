"""Runs the parts and writes ``build/bench.json``."""

import json
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import tests.bench
from mlbench.atomic import write_atomically
from tests.bench import Figure

OUTPUT = Path("build/bench.json")


def main() -> None:
    """Measure the parts named on the command line, all without any."""
    parts = sorted(
        module.name
        for module in pkgutil.iter_modules(tests.bench.__path__)
        if not module.name.startswith("_")
    )
    chosen = sys.argv[1:] or parts
    unknown = set(chosen) - set(parts)
    if unknown:
        sys.exit(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(parts)}")
    document = json.loads(OUTPUT.read_text("utf-8")) if OUTPUT.exists() else {}
    for part in chosen:
        document = {name: old for name, old in document.items() if not name.startswith(f"{part}.")}
        for figure in import_module(f"tests.bench.{part}").figures():
            sys.stdout.write(describe(figure) + "\n")
            document[figure.name] = record(figure, part)
    OUTPUT.parent.mkdir(exist_ok=True)
    write_atomically(OUTPUT, json.dumps(document, indent=2, sort_keys=True) + "\n")
    sys.stdout.write(f"wrote {OUTPUT}\n")


def record(figure: Figure, part: str) -> dict[str, object]:
    """Return a figure as it is written down."""
    return {
        "value": figure.value,
        "unit": figure.unit,
        "better": figure.better,
        "goal": figure.goal,
        "met": figure.met,
        "against": figure.against,
        "command": f"make bench ONLY={part}",
    }


def describe(figure: Figure) -> str:
    """Return a figure as one line."""
    goal = ""
    if figure.goal is not None:
        sign = ">=" if figure.better == "higher" else "<="
        goal = f" (goal {sign} {figure.goal:g}: {'met' if figure.met else 'NOT met'})"
    return f"{figure.name:<34} {figure.value:>10.4g} {figure.unit:<10}{goal} {figure.against}"


if __name__ == "__main__":
    main()
