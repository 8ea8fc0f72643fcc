"""Recomputes the tables of ``docs/articles.md`` from published logs.

``python -m tests.articles V2.0 V2.1`` writes them, and the pictures, where V2.0 and V2.1 are the
folders of these rounds. A test holds every row of an entry that it has the logs of.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from mlbench.report.gather import gather
from mlbench.report.leaderboard import leaderboard_report
from mlbench.report.plots import render_plots
from mlbench.score import BenchmarkResult
from mlbench.score.leaderboard import Order, leaderboard
from mlbench.score.scaling import families
from mlbench.score.select import Selection, entry_named, select
from mlbench.score.statistics import Metric, Verdict, compare

PAGE = Path(__file__).resolve().parents[1] / "docs" / "articles.md"
ACCELERATOR = "A100-SXM-80GB"
PICTURES = {
    "bert-closed-v2.1-available-time.svg": "articles-time.svg",
    "bert-closed-v2.1-available-throughput.svg": "articles-throughput.svg",
    "scaling-bert-baidu-a100-sxm-80gb-paddlepaddle-closed.svg": "articles-scaling.svg",
}

Lines = list[str]


def of_eight_nodes(results: Iterable[BenchmarkResult]) -> list[BenchmarkResult]:
    """Return the entries of v2.1 with 64 A100, fastest first."""
    return _chosen(results, "v2.1", 64)


def of_one_node(results: Iterable[BenchmarkResult]) -> list[BenchmarkResult]:
    """Return the entries of v2.0 with 8 A100, fastest first."""
    return _chosen(results, "v2.0", 8)


def _chosen(results: Iterable[BenchmarkResult], round_: str, count: int) -> list[BenchmarkResult]:
    wanted = Selection(
        benchmark=("bert",), round=(round_,), division=("closed",), accelerator=(ACCELERATOR,)
    )
    found = [each for each in select(results, wanted) if each.num_accelerators == count]
    return sorted(found, key=lambda each: each.minutes or 0.0)


def tables(results: Sequence[BenchmarkResult]) -> dict[str, Lines]:
    """Return the lines of each table, by its name on the page."""
    eight, one = of_eight_nodes(results), of_one_node(results)
    baidu, earlier = entry_named("Baidu/8_node", eight), entry_named("Baidu/XMan", one)
    others = [each for each in eight if each is not baidu]
    return {
        "values": [_values(each) for each in eight],
        "time": [_time(baidu, each) for each in others],
        "throughput": [_throughput(baidu, each) for each in others],
        "product": [_product(baidu, each) for each in others],
        "scaling": _scaling(earlier, baidu),
        "one-node": [_one_node(earlier, each) for each in one],
    }


def _name(result: BenchmarkResult) -> str:
    return f"{result.key.submitter} `{result.key.system}`"


def _values(result: BenchmarkResult) -> str:
    assert result.minutes is not None
    assert result.throughput is not None
    assert result.throughput.steady is not None
    return (
        f"| {_name(result)} | {result.minutes:.3f} | {result.samples_to_target:,.0f} "
        f"| {result.throughput.end_to_end:,.1f} | {result.throughput.steady:,.1f} |"
    )


def _time(baidu: BenchmarkResult, other: BenchmarkResult) -> str:
    found = compare(baidu, other, Metric.TIME, 1.0)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return (
        f"| {other.key.submitter} | {1 - found.ratio:.2%} | {1 / found.ratio - 1:.2%} "
        f"| {1 - found.high:.1%} to {1 - found.low:.1%} | {_answer(found.verdict)} |"
    )


def _throughput(baidu: BenchmarkResult, other: BenchmarkResult) -> str:
    found = compare(baidu, other, Metric.THROUGHPUT, 1.0)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return (
        f"| {other.key.submitter} | {found.ratio - 1:.2%} "
        f"| {found.low - 1:.1%} to {found.high - 1:.1%} | {_answer(found.verdict)} "
        f"| {_steady(baidu) / _steady(other) - 1:.2%} |"
    )


def _steady(result: BenchmarkResult) -> float:
    assert result.throughput is not None
    assert result.throughput.steady is not None
    return result.throughput.steady


def _answer(verdict: Verdict | None) -> str:
    return "no" if verdict is Verdict.SAME else "yes"


def _product(baidu: BenchmarkResult, other: BenchmarkResult) -> str:
    found = compare(other, baidu, Metric.TIME, 1.0)
    assert found is not None
    assert found.samples_ratio is not None
    assert found.throughput_ratio is not None
    factor = other.scaling_factor or 1.0
    return (
        f"| {other.key.submitter} | {found.ratio:.3f} | {found.samples_ratio:.3f} "
        f"| {1 / found.throughput_ratio:.3f} | {factor:.4f} |"
    )


def _scaling(earlier: BenchmarkResult, baidu: BenchmarkResult) -> Lines:
    (family,) = families([earlier, baidu])
    point = family.points[-1]
    steady = _steady(baidu) / (8 * _steady(earlier))
    return [
        f"| samples/s, end to end | {point.throughput_efficiency:.2%} |",
        f"| samples/s, first to last evaluation | {steady:.2%} |",
        f"| minutes times accelerators | {point.time_efficiency:.2%} |",
    ]


def _one_node(baidu: BenchmarkResult, other: BenchmarkResult) -> str:
    found, rate = (
        compare(other, baidu, Metric.TIME, 1.0),
        compare(baidu, other, Metric.THROUGHPUT, 1.0),
    )
    assert found is not None
    assert rate is not None
    if other is baidu:
        return f"| **{_name(other)}** | {other.minutes:.3f} | | | | |"
    assert found.low is not None
    assert found.high is not None
    return (
        f"| {_name(other)} | {other.minutes:.3f} | {found.ratio - 1:.2%} "
        f"| {found.low - 1:.1%} to {found.high - 1:.1%} | {_answer(found.verdict)} "
        f"| {rate.ratio - 1:.2%} |"
    )


def with_tables(page: str, found: dict[str, Lines]) -> str:
    """Return the page with its tables' rows replaced; headings stay."""
    for name, lines in found.items():
        pattern = rf"(<!-- {name} -->\n\n\|[^\n]*\n\|[^\n]*\n)(?:\|[^\n]*\n)*"
        body = "".join(f"{line}\n" for line in lines)
        page, count = re.subn(pattern, lambda match, body=body: match[1] + body, page)  # type: ignore[misc]
        assert count == 1, name
    return page


def pictures(results: Sequence[BenchmarkResult]) -> dict[str, bytes]:
    """Return the pictures of the page."""
    eight, one = of_eight_nodes(results), of_one_node(results)
    baidu, earlier = entry_named("Baidu/8_node", eight), entry_named("Baidu/XMan", one)
    board = leaderboard(eight, Order(baseline=baidu))
    report = leaderboard_report(board, families=families([earlier, baidu]))
    plots = render_plots(report)
    return {name: plots[plot] for plot, name in PICTURES.items()}


def main() -> None:
    """Write tables and pictures."""
    results = gather(map(Path, sys.argv[1:]), lambda done, total: None)
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), tables(results)), "utf-8")
    for name, content in pictures(results).items():
        (PAGE.parent / "pictures" / name).write_bytes(content)


if __name__ == "__main__":
    main()
