"""Pictures of charts: two files each, of the kind they say they are."""

from pathlib import Path

from mlbench.report.plots import render_plots
from tests.report.pages import report_of, two_entries


def test_every_chart_is_svg_and_png_under_a_plain_name(tmp_path: Path) -> None:
    files = render_plots(report_of(two_entries(tmp_path)))
    stems = {name.rsplit(".", 1)[0] for name in files}
    assert "bert-closed-v2.1-available-time" in stems
    assert "bert-closed-v2.1-available-throughput" in stems
    assert {f"{stem}.{kind}" for stem in stems for kind in ("svg", "png")} == set(files)
    for name, content in files.items():
        assert "/" not in name
        assert len(content) > 4000
        start = b"<svg" if name.endswith(".svg") else b"\x89PNG\r\n\x1a\n"
        assert content.startswith(start)


def test_a_picture_has_names_values_and_title(tmp_path: Path) -> None:
    report = report_of(two_entries(tmp_path))
    svg = render_plots(report)["bert-closed-v2.1-available-time.svg"].decode()
    for text in ("Time to train: bert, closed, v2.1", "Zeta", "box-1", "2.750", "\u00d72.000"):
        assert text in svg


def test_pictures_are_the_same_each_time_and_groups_of_one_name_do_not_meet(
    tmp_path: Path,
) -> None:
    report = report_of(two_entries(tmp_path))
    assert render_plots(report) == render_plots(report)
