"""``mlbench check``: does a log keep the rules?"""

import json as json_module
from pathlib import Path

import click

from mlbench.check import Verdict
from mlbench.cli.options import output_option, shown, write_output


@click.command()
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--ruleset", default="auto", show_default=True, help="Such as 5.0.0.")
@output_option("json")
def check(paths: tuple[Path, ...], ruleset: str, json: str | None) -> None:
    """Check logs with MLPerf's own compliance checker, run in a child process.

    A PATH is a log, or any folder with logs below it. Exit code 4 when a log does not pass.

    \b
    Example: mlbench check results/
    """
    from mlbench.check.official import check_officially, ruleset_of
    from mlbench.errors import ComplianceError
    from mlbench.submission.store import find_logs

    verdicts = [
        check_officially(log, ruleset_of(log) if ruleset == "auto" else ruleset)
        for log in find_logs(paths)
    ]
    if json:
        write_output(json, _json(verdicts))
    else:
        for verdict in verdicts:
            click.echo(describe(verdict))
    failed = sum(not verdict.passed for verdict in verdicts)
    if failed:
        raise ComplianceError(f"{failed} of {len(verdicts)} logs do not pass")


def describe(verdict: Verdict) -> str:
    """Return a verdict in words, each complaint on a line of its own."""
    word = "passes" if verdict.passed else "FAILS"
    first = f"{shown(verdict.path)}: {word} rule set {verdict.ruleset} ({verdict.checker})"
    complaints = ("  - " + text.replace("\n", "\n    ") for text in verdict.complaints)
    return "\n".join([first, *complaints])


def _json(verdicts: list[Verdict]) -> str:
    rows = [
        {
            "path": str(verdict.path),
            "ruleset": verdict.ruleset,
            "checker": verdict.checker,
            "passed": verdict.passed,
            "complaints": list(verdict.complaints),
        }
        for verdict in verdicts
    ]
    document = {"schema": "mlbench.check/1", "verdicts": rows}
    return json_module.dumps(document, indent=2) + "\n"
