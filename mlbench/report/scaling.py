"""Families of systems to tables: what each accelerator still does when there are more of them."""

from mlbench.report import NOTHING, Cell, Column, Table
from mlbench.score.scaling import Family, ScalingPoint

COLUMNS = (
    Column("num_accelerators", "accelerators", is_number=True),
    Column("num_nodes", "nodes", is_number=True, spare=2),
    Column("round", "round"),
    Column("submitter", "submitter", spare=3),
    Column("system", "system"),
    Column("samples_per_second", "samples/s", is_number=True),
    Column("samples_per_second_per_accelerator", "per acc.", is_number=True, spare=1),
    Column("throughput_efficiency", "efficiency", is_number=True),
    Column("minutes", "minutes", is_number=True),
    Column("time_speedup", "x time", is_number=True),
    Column("time_efficiency", "in time", is_number=True),
)

_FORMS = {
    "samples_per_second": ",.0f",
    "samples_per_second_per_accelerator": ",.1f",
    "throughput_efficiency": ".2%",
    "minutes": ".3f",
    "time_speedup": ".2f",
    "time_efficiency": ".2%",
}


def scaling_table(family: Family) -> Table:
    """Return the table of a family, smallest system first."""
    return Table(
        title=f"scaling: {family.key}",
        group={
            "benchmark": family.key.benchmark,
            "submitter": family.key.submitter or None,
            "accelerator": family.key.accelerator or None,
            "framework": family.key.framework or None,
            "division": family.key.division,
        },
        columns=COLUMNS,
        rows=tuple(map(_row, family.points)),
        notes=tuple(_notes(family)),
    )


def _row(point: ScalingPoint) -> tuple[Cell, ...]:
    result = point.result
    values = {
        "num_accelerators": point.num_accelerators,
        "num_nodes": result.num_nodes,
        "round": result.key.round,
        "submitter": result.key.submitter,
        "system": result.key.system,
        "samples_per_second": result.throughput.end_to_end if result.throughput else None,
        "samples_per_second_per_accelerator": result.throughput_per_accelerator,
        "throughput_efficiency": point.throughput_efficiency,
        "minutes": result.minutes,
        "time_speedup": point.time_speedup,
        "time_efficiency": point.time_efficiency,
    }
    return tuple(_cell(values[column.key], _FORMS.get(column.key, "")) for column in COLUMNS)


def _cell(value: object, form: str) -> Cell:
    return Cell(value, NOTHING if value is None else format(value, form))


def _notes(family: Family) -> list[str]:
    base = family.base
    notes = [
        f"relative to {base.key.system} ({base.key.round}), its smallest: efficiency is samples/s "
        "of one accelerator, in time is minutes x accelerators"
    ]
    if len({point.result.key.round for point in family.points}) > 1:
        notes.append("rounds are mixed: software and rules differ between them")
    return notes
