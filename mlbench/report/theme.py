"""What charts look like on light and on dark ground, as configs of Vega-Lite."""

from typing import Any

FONT = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif"

CURVES = [
    "#0072b2",
    "#e08a1e",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#8d949c",
    "#a89a1b",
]
"""Okabe and Ito's colours, told apart by colour-blind people; yellow and black, which one of the
two grounds would swallow, are replaced by olive and grey."""


def theme(*, is_dark: bool, background: str | None = None) -> dict[str, Any]:
    """Return a config; without a background what lies below the chart shows."""
    text, soft, grid = ("#e6e9ed", "#9aa4af", "#343b44") if is_dark else _LIGHT
    return {
        "background": background or "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "range": {"category": CURVES},
        "axis": {
            "labelColor": text,
            "titleColor": text,
            "gridColor": grid,
            "domainColor": soft,
            "tickColor": soft,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 10,
        },
        "axisY": {"grid": False},
        "legend": {"labelColor": text, "titleColor": text, "labelFontSize": 11, "columns": 2},
        "title": {"color": text, "subtitleColor": text, "fontSize": 14, "anchor": "start"},
        "text": {"color": text, "fontSize": 11},
        "rule": {"color": text},
        "tick": {"color": text},
        "style": {
            "whisker": {"color": text},
            "value": {"fill": text},
            "baseline": {"color": soft, "stroke": soft},
            "iso": {"color": soft, "stroke": soft},
            "isolabel": {"fill": soft},
        },
    }


_LIGHT = ("#1c2733", "#66717d", "#e3e7eb")
