"""What a log says twice, outside its run, or not at all: in words, with the lines of the file."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from mlbench.runlog import LogEvent, RunLog

_MOST_LINES = 5
"""Lines that are listed before ``...``."""
_LONGEST_TEXT = 40


def shown(value: Any) -> str:
    """Return any value as text, equal for equal values."""
    try:
        return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    except RecursionError:
        return "nested too deeply"


def on_lines(log: RunLog, events: Sequence[LogEvent]) -> str:
    """Return the lines of events in words."""
    lines = [log.line_of(event) for event in events[:_MOST_LINES]]
    return _listed(lines, len(events))


def contradictions(log: RunLog, keys: Iterable[str]) -> Iterator[str]:
    """Yield the keys that a log gives several values."""
    for key in keys:
        if len(log.by_key.get(key, ())) < 2:
            continue
        differing: dict[str, LogEvent] = {}
        for event in log.all(key):
            if event.value is not None:
                differing.setdefault(shown(event.value), event)
        if len(differing) > 1:
            values = ", ".join(text[:_LONGEST_TEXT] for text in islice(differing, _MOST_LINES))
            where = on_lines(log, list(differing.values()))
            yield f"{key} has several values ({values}; {where}): the first counts"


def repairs(log: RunLog) -> Iterator[str]:
    """Yield what the reader mended or lost, one sentence a kind."""
    if not log.num_events:
        yield "no event of MLPerf's log in this file"
    kinds = dict.fromkeys((each.lost, each.text.partition(":")[0]) for each in log.repairs)
    for lost, kind in sorted(kinds, reverse=True, key=lambda each: each[0]):
        found = [
            each
            for each in log.repairs
            if each.lost is lost and each.text.partition(":")[0] == kind
        ]
        what = f"event{'s' * (len(found) > 1)} {'unreadable' if lost else 'repaired'}"
        where = _listed([each.line for each in found[:_MOST_LINES]], len(found))
        yield f"{len(found)} {what} ({where}): {found[0].text}"


def _listed(lines: Sequence[int], total: int) -> str:
    more = ", ..." if total > len(lines) else ""
    return f"line {', '.join(map(str, lines))}{more}"
