"""Charts of one ranking as Vega-Lite, through Altair: bars, and time against samples.

Colours say nothing that a shape, a label or the order does not say too, and all of them stand out
from light and from dark ground. What must be dark on light and light on dark (texts, rules) has no
colour here: ``mlbench.report.theme`` gives it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from mlbench.report.points import (
    AVERAGED,
    LEFT_OUT,
    MISSED,
    RANKED,
    REFERENCE,
    UNRANKED,
    Drawn,
    Points,
    digest,
)

BLUE, ORANGE, GREY = "#4c8fc9", "#e08a1e", "#8d949c"
_ROLES = alt.Scale(domain=[REFERENCE, RANKED, UNRANKED], range=[ORANGE, BLUE, GREY])
_STATES = alt.Scale(domain=[AVERAGED, LEFT_OUT, MISSED], range=["circle", "diamond", "cross"])
_FEW = 10
"""Up to so many entries have two lines for their name, and a label in the scatter."""
_WIDE_RANGE = 20
"""A factor between smallest and largest value from which bars need a logarithmic axis."""
_RATES = [m * 10**e for e in range(-3, 9) for m in (1, 2, 5)]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart and its data, which other charts may share."""

    chart: alt.LayerChart
    datasets: dict[str, Points]

    def spec(self) -> dict[str, Any]:
        """Return Vega-Lite that needs nothing else."""
        return {**self.chart.to_dict(), "datasets": self.datasets}


class Data:
    """The data of a chart, each under the digest of its content."""

    def __init__(self) -> None:
        self.datasets: dict[str, Points] = {}

    def chart(self, rows: Points) -> alt.Chart:
        """Return an empty chart of some rows."""
        name = digest(rows)
        self.datasets[name] = rows
        return alt.Chart(alt.NamedData(name=name))

    def drawing(self, layers: Sequence[alt.Chart], **properties: Any) -> Drawing:
        """Return the layers as one chart."""
        chart = alt.LayerChart(layer=list(layers), width=640, **properties)
        return Drawing(chart, self.datasets)


def time_bars(drawn: Drawn) -> Drawing | None:
    """Return minutes to train, fastest first; None where no entry has a time."""
    return _bars(drawn, "minutes", "minutes to train", is_lower_better=True)


def throughput_bars(drawn: Drawn) -> Drawing | None:
    """Return samples a second, fastest first."""
    return _bars(drawn, "rate", "samples per second", is_lower_better=False)


def efficiency_bars(drawn: Drawn) -> Drawing | None:
    """Return samples a second of one accelerator, fastest first."""
    return _bars(drawn, "each", "samples per second of one accelerator", is_lower_better=False)


def _bars(drawn: Drawn, field: str, title: str, *, is_lower_better: bool) -> Drawing | None:
    entries = [row for row in drawn.entries if row[field]]
    if not entries:
        return None
    entries.sort(key=lambda row: (row[field] if is_lower_better else -row[field], row["entry"]))
    names = [row["name"] for row in entries]
    runs = [row[field] for row in drawn.runs if row[field] and row["name"] in set(names)]
    low, high = (
        min([entries[0][field], entries[-1][field], *runs]),
        max(row[f"{field}_end"] for row in entries),
    )
    is_log = high / low > _WIDE_RANGE
    floor = 10.0 ** math.floor(math.log10(low)) if is_log else 0
    scale = alt.Scale(type="log" if is_log else "linear", domain=[floor, high * 1.02], nice=False)
    axis = alt.Axis(title=f"{title} (log scale from {floor:g})" if is_log else title)
    y = alt.Y("name:N", sort=names, title=None, axis=names_axis(len(names)))
    thickness = 18 if len(names) <= _FEW else 12

    data = Data()
    base = data.chart(drawn.entries).transform_filter(f"datum.{field} > 0").encode(y=y)
    bars = base.mark_bar(size=thickness, cornerRadiusEnd=2).encode(
        x=alt.X(f"{field}:Q", scale=scale, axis=axis),
        x2=alt.datum(floor),
        color=alt.Color("role:N", scale=_ROLES, legend=None),
        tooltip=_entry_tips(),
    )
    whiskers = base.mark_rule(strokeWidth=1.5).encode(x=f"{field}_low:Q", x2=f"{field}_high:Q")
    ends = [
        base.mark_tick(style="whisker", thickness=1.5, size=thickness * 0.6).encode(
            x=f"{field}_{end}:Q"
        )
        for end in ("low", "high")
    ]
    rule = (
        data.chart(drawn.entries)
        .transform_filter(f"datum.role == '{REFERENCE}' && datum.{field} > 0")
        .mark_rule(style="baseline", strokeDash=[5, 4])
        .encode(x=f"{field}:Q")
    )
    # Labels stand in a column of their own, where no rule or dot runs through them.
    labels = base.mark_text(align="left", baseline="middle", dx=8, style="value").encode(
        x=alt.value("width"), text=f"{field}_label:N"
    )
    dots = _dots(data.chart(drawn.runs).transform_filter(f"datum.{field} > 0"), field).encode(y=y)
    step = 38 if len(names) <= _FEW else 20
    return data.drawing([bars, rule, whiskers, *ends, dots, labels], height=alt.Step(step))


def _dots(chart: alt.Chart, field: str) -> alt.Chart:
    dots: alt.Chart = chart.mark_point(
        filled=True, fill="white", stroke="#1c2733", strokeWidth=1, opacity=1, size=22
    ).encode(
        x=f"{field}:Q",
        shape=alt.Shape("state:N", scale=_STATES, legend=None),
        tooltip=[
            alt.Tooltip("name:N", title="entry"),
            alt.Tooltip("run:N", title="run"),
            alt.Tooltip("state:N", title="is"),
            *_number_tips(),
        ],
    )
    return dots


def names_axis(num_names: int) -> alt.Axis:
    """Return an axis of names: submitter above system where there is room, cut in the middle.

    Systems of one submitter differ at the end of their names.
    """
    room = "(width < 520 ? 20 : 40)"
    system = "slice(datum.label, indexof(datum.label, ': ') + 2)"
    submitter = "slice(datum.label, 0, indexof(datum.label, ': '))"
    if num_names <= _FEW:
        expr = f"[{_cut(submitter, room)}, {_cut(system, room)}]"
    else:
        expr = _cut("datum.label", "(width < 520 ? 20 : 44)")
    return alt.Axis(labelExpr=expr, labelLimit=400, ticks=False, domain=False, labelPadding=8)


def _cut(text: str, room: str) -> str:
    head, tail = f"floor({room} / 2) - 1", f"-floor({room} / 2)"
    return (
        f"(length({text}) > {room} ? slice({text}, 0, {head}) + '…' + slice({text}, {tail})"
        f" : {text})"
    )


def _entry_tips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("name:N", title="entry"),
        alt.Tooltip("accelerators:N", title="accelerators"),
        alt.Tooltip("minutes:Q", title="minutes", format=".3f"),
        alt.Tooltip("rate:Q", title="samples/s", format=",.0f"),
        alt.Tooltip("each:Q", title="per accelerator", format=",.1f"),
        alt.Tooltip("samples:Q", title="samples to target", format=",.0f"),
        alt.Tooltip("runs:N", title="runs converged"),
        alt.Tooltip("role:N", title="is"),
    ]


def _number_tips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("minutes:Q", title="minutes", format=".3f"),
        alt.Tooltip("rate:Q", title="samples/s", format=",.0f"),
        alt.Tooltip("samples:Q", title="samples", format=",.0f"),
        alt.Tooltip("accuracy:Q", title="last accuracy", format=".4f"),
    ]


def time_against_samples(drawn: Drawn) -> Drawing | None:
    """Return an entry a point between lines of equal throughput: on one of them, only samples tell.

    Both axes are logarithmic, which makes each such line straight.
    """
    entries = [row for row in drawn.entries if row["minutes"] and row["samples"]]
    if not entries:
        return None
    x_range = _spread([row["samples"] for row in entries])
    y_range = _spread([row["minutes"] for row in entries])
    x = _log_x("samples:Q", "samples to target (log scale)", x_range, "~s")
    y = _log_y("minutes:Q", "minutes to train (log scale)", y_range, "~g")
    data = Data()
    lines = data.chart(_equal_rates(x_range, y_range)).encode(x=x, y=y)
    points = data.chart(drawn.entries).transform_filter("datum.minutes > 0 && datum.samples > 0")
    layers = [
        lines.mark_line(style="iso", strokeDash=[2, 3], strokeWidth=1).encode(detail="rate:Q"),
        lines.transform_filter("datum.end")
        .transform_calculate(label="format(datum.rate, ',') + '/s'")
        .mark_text(style="isolabel", align="right", dx=-3, dy=-6, fontSize=10)
        .encode(text="label:N"),
        points.mark_circle(size=80, opacity=0.9).encode(
            x=x,
            y=y,
            color=alt.Color("role:N", scale=_ROLES, legend=None),
            tooltip=_entry_tips(),
        ),
    ]
    if len(entries) <= _FEW:
        short = "slice(datum.name, 0, indexof(datum.name, ': '))"
        layers.append(
            points.transform_calculate(short=short)
            .mark_text(style="value", align="left", dx=8, dy=-7)
            .encode(x=x, y=y, text="short:N")
        )
    return data.drawing(layers, height=360)


def _log_x(field: str, title: str, domain: Sequence[float], form: str) -> alt.X:
    scale = alt.Scale(type="log", domain=list(domain), nice=False)
    return alt.X(field, title=title, scale=scale, axis=_log_axis(form))


def _log_y(field: str, title: str, domain: Sequence[float], form: str) -> alt.Y:
    scale = alt.Scale(type="log", domain=list(domain), nice=False)
    return alt.Y(field, title=title, scale=scale, axis=_log_axis(form))


def _log_axis(form: str) -> alt.Axis:
    return alt.Axis(format=form, tickCount=6, labelOverlap=True)


def _spread(values: Sequence[float]) -> list[float]:
    """Return a range with room at both ends of a logarithmic axis, and for the names."""
    room = max(max(values) / min(values), 1.2) ** 0.18
    return [min(values) / room, max(values) * room]


def _equal_rates(x_range: Sequence[float], y_range: Sequence[float]) -> list[dict[str, Any]]:
    """Return the ends of lines of equal throughput, each cut to the ranges."""
    (x_low, x_high), (y_low, y_high) = x_range, y_range
    lowest, highest = x_low / y_high / 60, x_high / y_low / 60
    inside = [rate for rate in _RATES if lowest < rate < highest]
    if len(inside) < 3:
        inside = _even_rates(lowest, highest)
    rows = []
    for rate in inside:
        start = max(x_low, y_low * 60 * rate)
        end = min(x_high, y_high * 60 * rate)
        rows += [
            {"rate": rate, "samples": x, "minutes": x / rate / 60, "end": is_end}
            for x, is_end in ((start, False), (end, True))
        ]
    return rows


def _even_rates(lowest: float, highest: float) -> list[float]:
    """Return about five round rates of a narrow range."""
    step = 10 ** math.floor(math.log10((highest - lowest) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (highest - lowest) / (step * factor) <= 6)
    first = math.floor(lowest / step) + 1
    rates = (round(n * step, 6) for n in range(first, first + 8))
    return [rate for rate in rates if rate < highest]
