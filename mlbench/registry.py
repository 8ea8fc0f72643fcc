"""Names to objects, for every kind of extension.

Built-ins and plugins register alike, as entry points of their group in ``setup.cfg``. Listing
names imports nothing; an object is imported when it is asked for, so that a broken plugin fails
only when chosen.
"""

from enum import StrEnum
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from mlbench.errors import PreflightError, UsageError, did_you_mean


class Group(StrEnum):
    """The kinds of extension; the value is the entry-point group."""

    BENCHMARK = "mlbench.benchmarks"
    LAUNCHER = "mlbench.launchers"
    ENGINE = "mlbench.engines"
    STRATEGY = "mlbench.strategies"
    REPORT = "mlbench.reports"

    @property
    def noun(self) -> str:
        """The kind in words, for messages."""
        return {"REPORT": "report format"}.get(self.name, self.name.lower())


def names(group: Group) -> list[str]:
    """Return the registered names of a group, sorted."""
    return sorted(_points(group))


def unknown(group: Group, name: str) -> str | None:
    """Return why ``name`` cannot be loaded, None when it is registered."""
    known = names(group)
    if name in known:
        return None
    return (
        f"unknown {group.noun} {name!r}{did_you_mean(name, known)} "
        f"(available: {', '.join(known) or 'none; is mlbench installed?'})"
    )


def load(group: Group, name: str) -> Any:
    """Return the object registered as ``name``.

    Raises:
        UsageError: the name is not registered, or two distributions claim it.
        PreflightError: the plugin cannot be imported.
    """
    problem = unknown(group, name)
    if problem:
        raise UsageError(problem)
    claims = _points(group)[name]
    if len(claims) > 1:
        owners = " and ".join(sorted(_owner(point) for point in claims))
        raise UsageError(f"{group.noun} {name!r} is registered by {owners}: uninstall one of them")
    try:
        return claims[0].load()
    except (ImportError, AttributeError) as error:
        raise PreflightError(
            f"{group.noun} {name!r} of {_owner(claims[0])} cannot be imported: {error}"
        ) from error


@cache
def _points(group: Group) -> dict[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=group.value):
        claims = found.setdefault(point.name, [])
        if point.value not in [claim.value for claim in claims]:
            claims.append(point)
    return found


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unnamed distribution"
