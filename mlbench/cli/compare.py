"""``mlbench compare``: the leaderboard."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlbench.cli.options import CommaList, CountRange, output_option, write_output
from mlbench.errors import InputMissingError, RegressionError, UsageError

if TYPE_CHECKING:
    from mlbench.report import Report
    from mlbench.report.compare import Request

_METRICS = ("time", "throughput", "efficiency", "samples-to-target")
_GROUPINGS = ("benchmark", "round", "division", "availability")
_FORMS = ("json", "csv", "markdown", "html")


def _filter(name: str, help_text: str) -> Callable[[Any], Any]:
    return click.option(f"--{name}", metavar="TEXT", multiple=True, help=help_text)


def _count(name: str, parameter: str, help_text: str) -> Callable[[Any], Any]:
    return click.option(
        f"--{name}", parameter, metavar="N|N-M", multiple=True, type=CountRange(), help=help_text
    )


def _filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose rows; each may be repeated, then one of them must fit."""
    options = (
        _filter("benchmark", "Only this benchmark, such as bert. Filters may be repeated."),
        _filter("round", "Only this round, such as v2.1; unverified for our own runs."),
        _filter("division", "Only closed or open."),
        _filter("availability", "Only available, preview or research; also onprem, cloud."),
        _filter("submitter", "Only this submitter."),
        _filter("system", "Only systems with this in their name."),
        _filter("accelerator", "Only this accelerator, in any spelling, or a part of its name."),
        _filter("framework", "Only this framework, such as PyTorch."),
        _count("count", "num_accelerators", "Only this many accelerators."),
        _count("nodes", "num_nodes", "Only this many nodes."),
        click.option(
            "--since", type=click.DateTime(["%Y-%m-%d"]), help="Run on this day or later."
        ),
        click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Run by this day."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _ordering(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how rows are ranked and compared."""
    options = (
        click.option(
            "--metric",
            type=click.Choice(_METRICS),
            default="time",
            show_default=True,
            help="What ranks and ratios are by; efficiency is samples/s of one accelerator.",
        ),
        click.option(
            "--baseline",
            metavar="ROW",
            help="What ratios are to: round/submitter/system, or a part of it.",
        ),
        click.option(
            "--factor",
            type=click.FloatRange(min=1.0),
            default=1.02,
            show_default=True,
            help="Least factor that counts as faster or slower.",
        ),
        click.option(
            "--group-by",
            metavar="LIST",
            type=CommaList(),
            default=",".join(_GROUPINGS),
            show_default=True,
            help="What the rows of one ranking share; what they do not is marked in each row.",
        ),
        click.option(
            "--scaling",
            type=click.Choice(["submitter", "all"]),
            help="Also show how systems scale: those of a submitter, or all rows as one family.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _showing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is shown, and where it is written."""
    options = (
        click.option("--sort", metavar="COLUMN", help="Sort by a column; -COLUMN for descending."),
        click.option("--limit", type=click.IntRange(min=1), help="Rows of a table at most."),
        click.option(
            "--columns", metavar="LIST", type=CommaList(), help="Columns to show, in this order."
        ),
        *(output_option(form) for form in _FORMS),
        click.option(
            "--plots",
            metavar="DIR",
            type=click.Path(path_type=Path, file_okay=False),
            help="Write the charts as SVG and PNG into a folder.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--published",
    metavar="ROUNDS",
    type=CommaList(),
    default=(),
    help="Add the built-in table of published BERT results: rounds such as v2.1,v3.0, or all.",
)
@_filters
@_ordering
@_showing
@click.option("--check", is_flag=True, help="Ask MLPerf's checker whether each log passes.")
@click.option("--strict", is_flag=True, help="Exit with 8 if a row has no rank.")
@click.option(
    "--fail-on-regression", is_flag=True, help="Exit with 9 if a row is slower than --baseline."
)
@click.option("--no-cache", is_flag=True, help="Read every log anew.")
def compare(paths: tuple[Path, ...], **options: Any) -> None:
    """Rank results by time to train: ours, and official rounds, side by side.

    A PATH is a results tree, a round, a submitter, a system or the folder of one benchmark.
    Without any, it is results/, unless --published is given.

    \b
    Example:
      mlbench compare results/ training_results_v2.1/ --csv bert.csv
      mlbench compare results/ --published v2.1 --limit 10
      mlbench compare training_results_v2.1 --benchmark bert --count 64 --baseline Baidu
    """
    from mlbench.cli.counting import show_counting
    from mlbench.report.compare import compare_paths

    request = _request(paths, options)
    with _without_collector():
        with show_counting() as say:
            report = compare_paths(request, say)
        _write(report, options)
    _judge(report, options)


@contextmanager
def _without_collector() -> Iterator[None]:
    """What is read lives to the end; to walk over it again and again takes a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _request(paths: tuple[Path, ...], options: dict[str, Any]) -> "Request":
    from mlbench.report.compare import Request
    from mlbench.report.leaderboard import View
    from mlbench.score.select import Selection
    from mlbench.score.statistics import Metric

    if options["fail_on_regression"] and not options["baseline"]:
        raise UsageError("--fail-on-regression needs --baseline ROW to compare with")
    unknown = [word for word in options["group_by"] if word not in _GROUPINGS]
    if unknown:
        raise UsageError(f"--group-by knows {', '.join(_GROUPINGS)}, not {', '.join(unknown)}")
    filters = (
        *("benchmark", "round", "division", "availability", "submitter", "system"),
        *("accelerator", "framework", "num_accelerators", "num_nodes"),
    )
    since, until = options["since"], options["until"]
    passed = ("published", "baseline", "factor", "group_by", "scaling", "check")
    return Request(
        paths=paths or (() if options["published"] else (Path("results"),)),
        selection=Selection(
            **{name: options[name] for name in filters},
            since=since and since.date(),
            until=until and until.date(),
        ),
        metric=Metric(options["metric"]),
        view=View(
            tuple(options["columns"] or ()), options["sort"], options["limit"], options["check"]
        ),
        use_cache=not options["no_cache"],
        **{name: options[name] for name in passed},
    )


def _write(report: "Report", options: dict[str, Any]) -> None:
    """Write every format that was asked for, the terminal's without any."""
    chosen = {form: options[form] for form in _FORMS if options[form]}
    if [*chosen.values()].count("-") > 1:
        raise UsageError("only one format can go to standard output")
    for form, target in chosen.items():
        write_output(target, rendered(report, form))
    if options["plots"]:
        _write_plots(report, options["plots"])
    if not chosen and not options["plots"]:
        click.echo(rendered(report, "terminal"), nl=False)


def rendered(report: "Report", form: str) -> str:
    """Return a report in a format."""
    from mlbench import registry
    from mlbench.registry import Group

    text: str = registry.load(Group.REPORT, form)(report)
    return text


def _write_plots(report: "Report", folder: Path) -> None:
    from mlbench.atomic import write_atomically
    from mlbench.report.plots import render_plots

    try:
        folder.mkdir(parents=True, exist_ok=True)
        pictures = render_plots(report)
        for name, content in pictures.items():
            write_atomically(folder / name, content)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error
    click.echo(f"wrote {len(pictures)} pictures into {folder}", err=True)


def _judge(report: "Report", options: dict[str, Any]) -> None:
    """End with an error where the options ask for one.

    Raises:
        RegressionError: a row is slower than the baseline.
        InputMissingError: a row has no rank.
    """
    from mlbench.score.leaderboard import describe

    slower = report.board.regressions() if options["fail_on_regression"] else []
    if slower:
        listed = "; ".join(
            f"{describe(each.result)}: ratio {each.comparison.ratio:.3f}"
            for each in slower
            if each.comparison
        )
        raise RegressionError(f"worse than {options['baseline']} in {options['metric']}: {listed}")
    standings = [each for ranking in report.board.rankings for each in ranking.standings]
    unranked = [each.result for each in standings if not each.result.is_complete]
    if options["strict"] and unranked:
        listed = ", ".join(map(describe, unranked[:5])) + (", ..." if len(unranked) > 5 else "")
        raise InputMissingError(f"{len(unranked)} rows have no rank: {listed}")
