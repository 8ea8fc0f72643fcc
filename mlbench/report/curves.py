"""Charts of curves as Vega-Lite, through Altair: convergence of runs, scaling of families."""

import altair as alt

from mlbench.report import Table
from mlbench.report.charts import Data, Drawing
from mlbench.report.points import Drawn, Points

MOST_CURVES = 8
"""Entries whose curves are drawn at once: as many as colours that are told apart."""


def convergence(drawn: Drawn, against: str) -> Drawing | None:
    """Return accuracy against ``minutes`` or ``samples``, a line a run, a colour an entry.

    Of many entries the best of those that the page shows are drawn; the legend picks among them.
    """
    if not any(row[against] is not None for row in drawn.evaluations):
        return None
    data = Data()
    pick = alt.selection_point(name="pick", fields=["name"], bind="legend")
    over = alt.selection_point(
        name="over", fields=["name", "run"], on="pointerover", clear="pointerout", empty=False
    )
    base = (
        data.chart(drawn.evaluations)
        .transform_filter(f"isValid(datum.{against})")
        .transform_window(place="dense_rank()", sort=[alt.SortField("entry")])
        .transform_filter(f"datum.place <= {MOST_CURVES}")
        .encode(
            x=alt.X(
                f"{against}:Q",
                title="minutes" if against == "minutes" else "samples",
                axis=alt.Axis(format="~s" if against == "samples" else "~g", labelOverlap=True),
            ),
            y=alt.Y("accuracy:Q", title="accuracy", scale=alt.Scale(zero=False)),
            color=alt.Color("name:N", sort=alt.SortField("entry"), legend=_legend()),
        )
    )
    faint = alt.when(pick).then(alt.value(0.55)).otherwise(alt.value(0.05))
    opacity = alt.when(over).then(alt.value(1)).otherwise(alt.value(0))
    lines = (
        base.mark_line(strokeWidth=1.2, interpolate="linear")
        .encode(detail="run:N", opacity=faint)
        .add_params(pick)
    )
    dots = base.mark_circle(size=55).encode(opacity=opacity, tooltip=_tips()).add_params(over)
    bold = base.transform_filter(over).mark_line(strokeWidth=3, tooltip=None).encode(detail="run:N")
    layers: list[alt.Chart] = [lines, bold, dots]
    if drawn.key.quality_target is not None:
        target = data.chart([{"accuracy": drawn.key.quality_target}])
        layers.append(target.mark_rule(style="baseline", strokeDash=[5, 4]).encode(y="accuracy:Q"))
    return data.drawing(layers, height=320)


def _legend() -> alt.Legend:
    cut = (
        "(length(datum.label) > 42 ? slice(datum.label, 0, 20) + '…' + slice(datum.label, -21)"
        " : datum.label)"
    )
    return alt.Legend(
        title=None,
        orient="bottom",
        labelExpr=cut,
        labelLimit=300,
        symbolOpacity=1,
        symbolType="stroke",
        symbolStrokeWidth=3,
    )


def _tips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("name:N", title="entry"),
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("minutes:Q", title="minutes", format=".3f"),
        alt.Tooltip("samples:Q", title="samples", format=",.0f"),
        alt.Tooltip("accuracy:Q", title="accuracy", format=".4f"),
    ]


def scaling_chart(table: Table) -> Drawing | None:
    """Return samples a second against accelerators of one family, beside the ideal line.

    Efficiency is written at the best system of each size; the others tell theirs on hovering.
    """
    points = _scaling_points(table)
    if not points:
        return None
    counts = sorted({row["accelerators"] for row in points})
    base_rate = points[0]["rate"] / points[0]["accelerators"]
    ideal = [{"accelerators": n, "rate": n * base_rate} for n in (counts[0], counts[-1])]
    x = alt.X(
        "accelerators:Q",
        title="accelerators (log scale)",
        scale=alt.Scale(type="log", domain=[counts[0] / 1.15, counts[-1] * 1.35], nice=False),
        axis=alt.Axis(values=counts, format=",", labelOverlap=True),
    )
    lows = [row["rate"] for row in points]
    y = alt.Y(
        "rate:Q",
        title="samples per second (log scale)",
        scale=alt.Scale(
            type="log", domain=[min(lows) / 1.8, max(*lows, ideal[1]["rate"]) * 1.3], nice=False
        ),
        axis=alt.Axis(format="~s", tickCount=6, labelOverlap=True),
    )
    best = [row for row in points if row["is_best"]]
    data = Data()
    layers = [
        data.chart(ideal)
        .mark_line(style="baseline", strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x=x, y=y),
        data.chart([{**ideal[1], "label": "ideal"}])
        .mark_text(style="isolabel", align="right", dx=-6, dy=-8)
        .encode(x=x, y=y, text="label:N"),
        data.chart(best).mark_line(strokeWidth=2, color="#4c8fc9").encode(x=x, y=y),
        data.chart(points)
        .mark_circle(size=80, opacity=1, color="#4c8fc9")
        .encode(x=x, y=y, tooltip=_scaling_tips()),
        data.chart(best)
        .mark_text(style="value", align="left", dx=8, dy=12)
        .encode(x=x, y=y, text=alt.Text("efficiency:Q", format=".1%")),
    ]
    return data.drawing(layers, height=340)


def _scaling_points(table: Table) -> Points:
    keys = [column.key for column in table.columns]
    rows = [dict(zip(keys, (cell.value for cell in row), strict=True)) for row in table.rows]
    best: dict[int, float] = {}
    for row in rows:
        count = row["num_accelerators"]
        best[count] = max(best.get(count, 0.0), row["samples_per_second"])
    return [
        {
            "name": f"{row['submitter']}: {row['system']} ({row['round']})",
            "accelerators": row["num_accelerators"],
            "rate": row["samples_per_second"],
            "efficiency": row["throughput_efficiency"],
            "time_efficiency": row["time_efficiency"],
            "minutes": row["minutes"],
            "is_best": row["samples_per_second"] == best[row["num_accelerators"]],
        }
        for row in rows
    ]


def _scaling_tips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("name:N", title="entry"),
        alt.Tooltip("accelerators:Q", title="accelerators"),
        alt.Tooltip("rate:Q", title="samples/s", format=",.0f"),
        alt.Tooltip("efficiency:Q", title="efficiency", format=".2%"),
        alt.Tooltip("minutes:Q", title="minutes", format=".3f"),
        alt.Tooltip("time_efficiency:Q", title="efficiency in time", format=".2%"),
    ]
