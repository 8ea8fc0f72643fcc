"""Charts as pictures: SVG for pages, PNG for everything else."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import vl_convert

from mlbench.report import Report
from mlbench.report.figures import VEGA_LITE, Figure, ranking_sections, scaling_sections
from mlbench.report.theme import theme

_PNG_SCALE = 2.0
"""Pixels to a point: sharp on screens and in print."""
_CAPTION_WIDTH = 110


def render_plots(report: Report) -> dict[str, bytes]:
    """Return each chart of a report as ``.svg`` and ``.png``, by file name."""
    sections = (*ranking_sections(report), *scaling_sections(report))
    figures = [figure for section in sections for figure in section.figures]
    files: dict[str, bytes] = {}
    for name, figure in _named(figures):
        svg = render_svg(figure)
        files[f"{name}.svg"] = svg.encode()
        files[f"{name}.png"] = vl_convert.svg_to_png(svg, scale=_PNG_SCALE)
    return files


def render_svg(figure: Figure) -> str:
    """Return one chart, dark on white, under its title."""
    spec = dict(figure.spec)
    lines = textwrap.wrap(figure.caption, _CAPTION_WIDTH)
    spec["title"] = {"text": f"{figure.title}: {figure.subject}", "subtitle": lines}
    config: dict[str, Any] = theme(is_dark=False, background="white")
    text: str = vl_convert.vegalite_to_svg(
        spec, vl_version=VEGA_LITE, config=config, allowed_base_urls=[]
    )
    return text


def _named(figures: Iterable[Figure]) -> Iterator[tuple[str, Figure]]:
    """Yield figures under names that differ, in small letters too."""
    used: set[str] = set()
    for figure in figures:
        name, number = figure.name, 2
        while name in used:
            name, number = f"{figure.name}-{number}", number + 1
        used.add(name)
        yield name, figure
