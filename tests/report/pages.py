"""Reports for tests of pages and charts, from generated and from published logs."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from mlbench.report import Report
from mlbench.report.gather import gather
from mlbench.report.leaderboard import leaderboard_report
from mlbench.score import BenchmarkResult
from mlbench.score.leaderboard import Order, leaderboard
from tests.conftest import OFFICIAL
from tests.logs import run_log, write_entry

HOSTILE = "<script>alert(1)</script>'\"&amp; é 速"


def report_of(results: Iterable[BenchmarkResult], order: Order | None = None) -> Report:
    return leaderboard_report(leaderboard(results, order), ("here",))


def results_of(root: Path) -> list[BenchmarkResult]:
    return gather([root], lambda done, total: None)


def two_entries(root: Path) -> list[BenchmarkResult]:
    """Complete ones of a round; the slower one is the first by its submitter's name."""
    for number, (submitter, factor, nodes) in enumerate((("acme", 60, 1), ("Zeta", 30, 2))):
        write_entry(
            root / "v2.1",
            [run_log(factor * n, seed=n, samples=600_000 + 1000 * n) for n in range(1, 11)],
            submitter=submitter,
            system=f"box-{number}",
            description={"number_of_nodes": nodes},
        )
    return results_of(root / "v2.1")


def odd_entries(root: Path) -> list[BenchmarkResult]:
    """Entries that lack one thing each, and one with names that would like to be code."""
    lines = run_log(30.0).splitlines(keepends=True)
    without = {
        "no-evaluations": [each for each in lines if "eval_accuracy" not in each],
        "no-stop": [each for each in lines if "run_stop" not in each],
        "one-run": lines,
        "no-evaluation-samples": [each.replace('"epoch_num"', '"x"') for each in lines],
    }
    for name, kept in without.items():
        write_entry(root / "v2.1", ["".join(kept)], system=name)
    write_entry(root / "v2.1", [run_log(30.0, status="aborted")] * 10, system="aborted")
    write_entry(root / "v2.1", [], system="no-logs")
    write_entry(
        root / "v2.1",
        [run_log(20.0 * n, seed=n) for n in range(1, 11)],
        submitter="o'<b>\"&",
        system="quo'te<\"&",
        description={
            "accelerators_per_node": "0",
            "framework": HOSTILE,
            "hw_notes": HOSTILE + "</script><img src=x onerror=alert(2)>",
            HOSTILE: {"a": [HOSTILE]},
        },
    )
    return results_of(root / "v2.1")


def many_entries(root: Path) -> list[BenchmarkResult]:
    """Sixty entries of several submitters, with times over three orders of magnitude."""
    for n in range(60):
        write_entry(
            root / "v2.1",
            [run_log(1.15**n * (1 + k / 50), seed=k, samples=500_000 + k * n) for k in range(10)],
            submitter=f"maker{n % 7}",
            system=f"a-rather-long-name-of-a-system-{n}",
            description={"number_of_nodes": 60 - n},
        )
    return results_of(root / "v2.1")


@cache
def published(root: Path) -> tuple[BenchmarkResult, ...]:
    return tuple(results_of(root))


def has_pack() -> bool:
    return (OFFICIAL / "rounds.tar.xz").exists()
