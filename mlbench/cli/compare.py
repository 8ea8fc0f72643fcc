"""``mlbench compare``: the leaderboard."""

from pathlib import Path

import click

from mlbench.cli.options import output_option, write_output


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(path_type=Path))
@output_option("json")
@output_option("csv")
@output_option("markdown")
def compare(
    paths: tuple[Path, ...], json: str | None, csv: str | None, markdown: str | None
) -> None:
    """Rank results by time to train: ours, and official rounds, side by side.

    A PATH is a results tree, a round, a submitter, a system or the folder of one benchmark.
    Without any, it is results/.

    \b
    Example: mlbench compare results/ training_results_v2.1/ --csv bert.csv
    """
    targets = {"json": json, "csv": csv, "markdown": markdown}
    chosen = {form: target for form, target in targets.items() if target}
    texts = render(paths or (Path("results"),), tuple(chosen) or ("terminal",))
    for form, text in texts.items():
        write_output(chosen.get(form, "-"), text)


def render(paths: tuple[Path, ...], forms: tuple[str, ...]) -> dict[str, str]:
    """Return the leaderboard of paths in each format."""
    from mlbench import registry
    from mlbench.registry import Group
    from mlbench.report import Renderer
    from mlbench.report.leaderboard import leaderboard_report
    from mlbench.score.entry import score_entry
    from mlbench.score.leaderboard import leaderboard
    from mlbench.submission.store import find_entries

    board = leaderboard(map(score_entry, find_entries(paths)))
    report = leaderboard_report(board, tuple(map(str, paths)))
    renderers: dict[str, Renderer] = {form: registry.load(Group.REPORT, form) for form in forms}
    return {form: renderer(report) for form, renderer in renderers.items()}
