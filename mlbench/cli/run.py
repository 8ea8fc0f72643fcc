"""``mlbench run``: from a config to a checked result and the leaderboard."""

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlbench.cli.options import config_argument, results_option, settings_option, shown
from mlbench.errors import ExitCode

if TYPE_CHECKING:
    from mlbench.launch.run import Ending
    from mlbench.launch.series import Series
    from mlbench.plan import RunPlan
    from mlbench.submission.records import RunRecord


@click.command()
@config_argument
@settings_option
@results_option
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Runs, one after the other, each with processes and a seed of its own.",
)
@click.option("--deterministic", is_flag=True, help="Same as --set train.deterministic=true.")
@click.option("--dry-run", is_flag=True, help="Print what would be executed and written.")
@click.option(
    "--progress",
    type=click.Choice(["auto", "bar", "plain", "none"]),
    default="auto",
    show_default=True,
    help="On standard error; plain lines when that is no terminal.",
)
def run(  # noqa: PLR0913  (one parameter an option)
    name: str,
    settings: tuple[str, ...],
    results: Path,
    runs: int,
    deterministic: bool,
    dry_run: bool,
    progress: str,
) -> None:
    """Train to the quality target, check the log, show the leaderboard.

    CONFIG is a file, or the name of a preset in configs/. Existing results are never overwritten:
    a new run gets the next number.

    \b
    Example: mlbench run bert-open-tiny-2xcpu-dp --set train.seed=1
    """
    from mlbench.config.load import load_config
    from mlbench.launch.series import prepare_series

    if deterministic:
        settings = (*settings, "train.deterministic=true")
    series = prepare_series(load_config(name, settings, os.environ), results, runs)
    if dry_run:
        for plan in series.plans():
            click.echo(_describe(series, plan))
        return
    _run_all(series, progress)


def _run_all(series: "Series", progress: str) -> None:
    """Do the runs, show the leaderboard; the ending with the highest code is the command's."""
    endings = []
    for number in range(len(series.seeds)):
        endings.append(_run_one(series, number, progress))
        if endings[-1].exit_code not in _ORDERLY:
            break
    if any(ending.exit_code in _ORDERLY for ending in endings):
        _show_leaderboard(series.surroundings.results)
    failed = [ending for ending in endings if ending.exit_code is not ExitCode.OK]
    if failed:
        raise max(failed, key=lambda ending: ending.exit_code).error()


def _show_leaderboard(results: Path) -> None:
    """Show the results, and beside them the largest group of a published round."""
    from mlbench.cli.compare import rendered
    from mlbench.report.compare import Request, compare_paths
    from mlbench.report.leaderboard import View
    from mlbench.vocabulary import UNVERIFIED

    request = Request(paths=(results,), published=(_PUBLISHED,), view=View(limit=_MOST_ROWS))
    report = compare_paths(request, lambda *_: None)
    ours = [table for table in report.tables if table.group["round"] == UNVERIFIED]
    others = [table for table in report.tables if table.group["round"] != UNVERIFIED]
    largest = max(others, key=lambda table: table.group["rows"])
    click.echo(rendered(replace(report, tables=(*ours, largest)), "terminal"), nl=False)
    click.echo(f"all groups: mlbench compare {shown(results)} --published {_PUBLISHED}")


_PUBLISHED = "v2.1"
_MOST_ROWS = 10
"""Rows of a group that are shown at the end of a run."""
_ORDERLY = (ExitCode.OK, ExitCode.TARGET_MISSED, ExitCode.NOT_COMPLIANT)


def _run_one(series: "Series", number: int, progress: str) -> "Ending":
    from mlbench.check.official import check_officially
    from mlbench.cli.check import describe
    from mlbench.cli.progress import show_progress
    from mlbench.launch.run import Ending, run_plan
    from mlbench.launch.series import open_run

    plan, record, differences = open_run(series, number)
    for difference in differences:
        click.echo(f"warning: systems/{plan.system_name}.json is kept: {difference}", err=True)
    with show_progress(plan, record, progress) as watch:
        ending = run_plan(plan, record, series.launcher, watch)
    click.echo(f"log: {shown(plan.log_file)}")
    click.echo(f"record: {shown(record.folder)}")
    click.echo(_throughput(record))
    if ending.exit_code not in _ORDERLY:
        if ending.details:
            click.echo(ending.details.rstrip(), err=True)
        if ending.rank_log:
            click.echo(f"log of the rank: {shown(ending.rank_log)}", err=True)
        return ending
    verdict = check_officially(plan.log_file, plan.ruleset)
    click.echo(describe(verdict))
    if ending.exit_code is ExitCode.OK and not verdict.passed:
        return Ending(ExitCode.NOT_COMPLIANT, f"{plan.log_file} breaks rule set {plan.ruleset}")
    return ending


def _throughput(record: "RunRecord") -> str:
    """Return how fast the steps were, and what is counted and what is left out."""
    from mlbench.runlog.metrics import WARMUP_STEPS, read_metrics, summarise

    summary = summarise(read_metrics(record.metrics_file), WARMUP_STEPS)
    if summary is None or summary.samples_per_second is None:
        return f"throughput: not measured, no step behind the first {WARMUP_STEPS}"
    return (
        f"throughput: {summary.samples_per_second:,.0f} samples/s, "
        f"{summary.tokens_per_second:,.0f} real tokens/s, "
        f"{summary.padded_tokens_per_second:,.0f} with padding "
        f"(without the first {summary.warmup_steps} steps and "
        f"{summary.evaluation_seconds:.1f} s of evaluations)"
    )


def _describe(series: "Series", plan: "RunPlan") -> str:
    """Return what a run would execute and write, as text."""
    from mlbench.submission.records import RunRecord

    record = RunRecord(plan.record_folder)
    lines = [
        f"run {plan.run_id}",
        f"log: {shown(plan.log_file)}",
        f"record: {shown(record.folder)}",
        f"system: {shown(series.system_file)}",
    ]
    for command in series.launcher(plan, record.plan_file):
        lines.append("environment:")
        lines += [f"  {key}={value}" for key, value in sorted(command.environment.items())]
        lines += ["command:", f"  {shlex.join(command.argv)}"]
    lines += ["plan:", plan.model_dump_json(indent=2)]
    return "\n".join(lines)
