"""Charts show what the results say, and nothing else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from vl_convert import vegalite_to_svg

from mlbench.report.charts import (
    efficiency_bars,
    throughput_bars,
    time_against_samples,
    time_bars,
)
from mlbench.report.curves import MOST_CURVES, convergence, scaling_chart
from mlbench.report.figures import VEGA_LITE, ranking_sections, scaling_sections
from mlbench.report.points import AVERAGED, LEFT_OUT, MISSED, Drawn, drawn, thinned
from mlbench.report.scaling import scaling_table
from mlbench.score.leaderboard import Order, leaderboard
from mlbench.score.scaling import families
from mlbench.score.select import entry_named
from tests.report.pages import many_entries, odd_entries, report_of, results_of, two_entries


def data_of(results: Any, order: Order | None = None) -> Drawn:
    (ranking,) = leaderboard(results, order).rankings
    return drawn(ranking, ranking.standings)


def rows_with(spec: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return [row for rows in spec["datasets"].values() for row in rows if key in row]


@pytest.fixture
def two(tmp_path: Path) -> list[Any]:
    return two_entries(tmp_path)


def test_bars_are_the_results_values_and_every_run_is_a_dot(two: list[Any]) -> None:
    drawing = time_bars(data_of(two))
    assert drawing is not None
    spec = drawing.spec()
    by_system = {result.key.system: result for result in two}
    entries = rows_with(spec, "minutes_low")
    assert [row["name"] for row in entries] == ["Zeta: box-1", "acme: box-0"]
    for row in entries:
        result = by_system[row["name"].split(": ")[1]]
        assert row["minutes"] == result.minutes
        assert (row["minutes_low"], row["minutes_high"]) == result.spread_minutes
        assert row["rate"] == result.throughput.end_to_end
        assert row["each"] == result.throughput_per_accelerator
        assert row["samples"] == result.samples_to_target
    runs = rows_with(spec, "run")
    assert len(runs) == 20
    assert sorted(row["minutes"] for row in runs if row["entry"] == 0) == sorted(
        run.minutes for run in by_system["box-1"].runs
    )
    assert [row["state"] for row in runs].count(LEFT_OUT) == 4
    assert entries[0]["minutes_label"] == "2.750 (reference)"
    assert entries[1]["minutes_label"] == "5.500 \u00d72.000"


def test_bars_are_sorted_by_what_they_show(two: list[Any]) -> None:
    for draw, best in ((time_bars, "Zeta"), (throughput_bars, "Zeta"), (efficiency_bars, "Zeta")):
        drawing = draw(data_of(two))
        assert drawing is not None
        order = drawing.spec()["layer"][0]["encoding"]["y"]["sort"]
        assert order[0].startswith(best)


def test_a_wide_range_has_a_logarithmic_axis(tmp_path: Path, two: list[Any]) -> None:
    many = many_entries(tmp_path / "many")
    for results, kind in ((two, "linear"), (many, "log")):
        drawing = time_bars(data_of(results))
        assert drawing is not None
        scale = drawing.spec()["layer"][0]["encoding"]["x"]["scale"]
        assert scale["type"] == kind
        assert scale["domain"][1] >= max(run.minutes for each in results for run in each.runs)


def test_dots_are_normalised_as_their_bar_is(tmp_path: Path) -> None:
    two_entries(tmp_path)
    folder = tmp_path / "v2.1" / "acme" / "results" / "box-0" / "bert"
    (folder / "scaling.json").write_text('{"scaling_factor": 1.5}', "utf-8")
    data = data_of(results_of(tmp_path / "v2.1"))
    slow = next(row for row in data.entries if row["name"].startswith("acme"))
    kept = [row for row in data.runs if row["entry"] == slow["entry"] and row["state"] == AVERAGED]
    mean = sum(row["minutes"] for row in kept) / len(kept)
    assert slow["minutes"] == pytest.approx(5.5 * 1.5)
    assert mean == pytest.approx(slow["minutes"])


def test_curves_are_the_evaluations_and_only_the_best_are_drawn(two: list[Any]) -> None:
    drawing = convergence(data_of(two), "samples")
    assert drawing is not None
    spec = drawing.spec()
    rows = rows_with(spec, "accuracy")
    assert len(rows) == 40
    first = two[0].runs[0]
    of_first = [r for r in rows if r["name"].startswith("acme") and r["run"] == first.file]
    assert [r["accuracy"] for r in of_first] == [each.accuracy for each in first.evaluations]
    assert [r["samples"] for r in of_first] == [each.num_samples for each in first.evaluations]
    assert f"datum.place <= {MOST_CURVES}" in str(spec)


def test_thinned_keeps_both_ends() -> None:
    items = list(range(1000))
    found = thinned(items, 40)
    assert (len(found), found[0], found[-1]) == (40, 0, 999)
    assert thinned(items[:3], 40) == [0, 1, 2]


def test_scaling_is_the_familys_and_the_ideal_line_starts_at_its_smallest(tmp_path: Path) -> None:
    for family in families(two_entries(tmp_path), as_one=True):
        drawing = scaling_chart(scaling_table(family))
        assert drawing is not None
        points = rows_with(drawing.spec(), "efficiency")
        assert {row["accelerators"] for row in points} == {8, 16}
        assert {row["efficiency"] for row in points} == {
            point.throughput_efficiency for point in family.points
        }
        ideal = [row for row in rows_with(drawing.spec(), "rate") if len(row) == 2]
        assert ideal[1]["rate"] == pytest.approx(ideal[0]["rate"] * 2)


def test_lines_of_equal_throughput_are_what_they_say(two: list[Any]) -> None:
    drawing = time_against_samples(data_of(two))
    assert drawing is not None
    lines = rows_with(drawing.spec(), "end")
    assert len(lines) >= 4
    for row in lines:
        assert row["samples"] / row["minutes"] / 60 == pytest.approx(row["rate"])


def test_entries_that_lack_something_break_no_chart(tmp_path: Path) -> None:
    results = odd_entries(tmp_path)
    report = report_of(results)
    figures = [figure for section in ranking_sections(report) for figure in section.figures]
    assert figures
    for figure in figures:
        svg = vegalite_to_svg(figure.spec, vl_version=VEGA_LITE)
        assert "NaN" not in svg
        assert "<script" not in svg
    states = {
        row["state"]
        for group in report.board.rankings
        for row in drawn(group, group.standings).runs
    }
    assert MISSED in states


def test_one_entry_alone_has_charts_without_a_reference(tmp_path: Path) -> None:
    results = two_entries(tmp_path)[:1]
    (section,) = ranking_sections(report_of(results))
    assert len(section.figures) == 6
    assert scaling_sections(report_of(results)) == []


def test_names_that_are_equal_stay_apart(tmp_path: Path) -> None:
    results = [two_entries(tmp_path / part)[0] for part in ("a", "b")]
    names = [row["name"] for row in data_of(results).entries]
    assert names == ["Zeta: box-1 [1]", "Zeta: box-1 [2]"]


def test_the_baseline_is_the_reference(two: list[Any]) -> None:
    order = Order(baseline=entry_named("acme", two))
    roles = {row["name"]: row["role"] for row in data_of(two, order).entries}
    assert roles == {"Zeta: box-1": "ranked", "acme: box-0": "reference"}


def test_a_table_in_another_order_keeps_its_rows_together(two: list[Any]) -> None:
    report = report_of(two)
    (table,) = report.tables
    turned = replace(report, tables=(replace(table, rows=table.rows[::-1]),))
    (section,) = ranking_sections(turned)
    assert [each.result.key.submitter for each in section.standings] == ["acme", "Zeta"]
    (shorter,) = ranking_sections(replace(turned, tables=(replace(table, rows=table.rows[1:]),)))
    assert [each.result.key.submitter for each in shorter.standings] == ["acme"]
    assert rows_with(shorter.figures[0].spec, "minutes_low")[0]["name"] == "acme: box-0"


def test_an_entry_of_which_only_the_result_is_known_is_a_bar(two: list[Any]) -> None:
    results = [replace(two[0], runs=(), kept=()), two[1]]
    entries = data_of(results).entries
    assert {row["minutes"]: row["minutes_low"] for row in entries} == {2.75: None, 5.5: 2.0}
    assert len(ranking_sections(report_of(results))[0].figures) == 6
