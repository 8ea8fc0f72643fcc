"""Runs the parts and writes ``build/bench.json``."""

import json
import pkgutil
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import tests.bench
from mlbench.atomic import write_atomically
from mlbench.plan.machine import probe_machine
from tests.bench import Figure

OUTPUT = Path("build/bench.json")
PAGE = Path("docs/measurements.md")


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
    write_atomically(PAGE, page(document))
    sys.stdout.write(f"wrote {OUTPUT} and {PAGE}\n")


def page(document: dict[str, dict[str, object]]) -> str:
    """Return the figures as a page of the documentation."""
    lines = [
        "# Measurements of mlbench itself",
        "",
        f"Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}: {_machine()}. Figures are",
        "medians; rivals are measured in turn with mlbench in the same run.",
        "",
        "| figure | value | goal | against | command |",
        "|---|---:|---|---|---|",
    ]
    for name, entry in sorted(document.items()):
        goal = "none yet"
        if entry["goal"] is not None:
            sign = ">=" if entry["better"] == "higher" else "<="
            goal = f"{sign} {entry['goal']:g}: {'met' if entry['met'] else 'not met'}"
        lines.append(
            f"| `{name}` | {entry['value']:.4g} {entry['unit']} | {goal} | {entry['against']} "
            f"| `{entry['command']}` |"
        )
    return "\n".join(lines) + "\n"


def _machine() -> str:
    fields = [line.partition(":") for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines()]
    model = next((value.strip() for key, _, value in fields if key.strip() == "model name"), "?")
    return f"{probe_machine().num_cores} cores of {model}"


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
