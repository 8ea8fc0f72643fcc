"""Which entries a user wants to see, and which one is meant by a name."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime

from mlbench.errors import UsageError, did_you_mean
from mlbench.score import BenchmarkResult
from mlbench.score.leaderboard import availability_of, describe
from mlbench.submission.names import accelerator_name, availability_class, framework_family
from mlbench.vocabulary import printable

Words = tuple[str, ...]
Ranges = tuple[tuple[int, int], ...]
"""Counts from the first to the second of each, both included."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters; several words of one filter are alternatives, no word lets all through."""

    benchmark: Words = ()
    round: Words = ()
    division: Words = ()
    availability: Words = ()
    submitter: Words = ()
    system: Words = ()
    """Part of the name."""
    accelerator: Words = ()
    """Any spelling, or part of the name."""
    framework: Words = ()
    """Family, or part of the text."""
    num_accelerators: Ranges = ()
    num_nodes: Ranges = ()
    since: date | None = field(default=None)
    until: date | None = field(default=None)
    """Days, in UTC, on which the first run of an entry began; both included."""


_MATCHES: dict[str, Callable[[BenchmarkResult, str], bool]] = {
    "benchmark": lambda result, word: result.key.benchmark.lower() == word,
    "round": lambda result, word: result.key.round.removeprefix("v") == word.removeprefix("v"),
    "division": lambda result, word: result.division == word,
    "availability": lambda result, word: _is_available(result, word),
    "submitter": lambda result, word: result.key.submitter.lower() == word,
    "system": lambda result, word: word in result.key.system.lower(),
    "accelerator": lambda result, word: _has_accelerator(result, word),
    "framework": lambda result, word: _has_framework(result, word),
}
"""Whether an entry has a word, written in small letters."""


def select(results: Iterable[BenchmarkResult], wanted: Selection) -> list[BenchmarkResult]:
    """Return the entries that pass every filter, in their order."""
    return [result for result in results if _passes(result, wanted)]


def _passes(result: BenchmarkResult, wanted: Selection) -> bool:
    for name, matches in _MATCHES.items():
        words: Words = getattr(wanted, name)
        if words and not any(matches(result, word.lower()) for word in words):
            return False
    counts = (
        (wanted.num_accelerators, result.num_accelerators),
        (wanted.num_nodes, result.num_nodes),
    )
    if not all(_is_within(count, ranges) for ranges, count in counts):
        return False
    return _is_of_days(result, wanted.since, wanted.until)


def _is_within(count: int | None, ranges: Ranges) -> bool:
    """Whether a count lies in one of the ranges; an unknown one does in none."""
    return not ranges or (count is not None and any(low <= count <= high for low, high in ranges))


def _is_available(result: BenchmarkResult, word: str) -> bool:
    """Compare category with category, or one place of availability with the text."""
    stated = (result.description.text("status") or "").lower()
    if word in ("onprem", "cloud"):
        return ("prem" if word == "onprem" else "cloud") in stated
    return availability_of(result) is availability_class(word)


def _has_accelerator(result: BenchmarkResult, word: str) -> bool:
    name = (result.accelerator or "none").lower()
    return word in name or (accelerator_name(word) or "none").lower() == name


def _has_framework(result: BenchmarkResult, word: str) -> bool:
    text = result.description.text("framework") or ""
    return word in text.lower() or word in (framework_family(text) or "").lower().split("/")


def _is_of_days(result: BenchmarkResult, since: date | None, until: date | None) -> bool:
    if since is None and until is None:
        return True
    day = date_of(result)
    return day is not None and (since or day) <= day <= (until or day)


def date_of(result: BenchmarkResult) -> date | None:
    """Return the day on which the first run began, in UTC; None if no log tells."""
    starts = [run.start_ms for run in result.runs if run.start_ms]
    try:
        return datetime.fromtimestamp(min(starts) / 1000, UTC).date() if starts else None
    except (ValueError, OverflowError, OSError):
        return None


def without_copies(results: Iterable[BenchmarkResult]) -> list[BenchmarkResult]:
    """Return the entries, each once: a copy of one, log for log, becomes a note of it."""
    found: dict[tuple[object, ...], BenchmarkResult] = {}
    for result in results:
        digests = tuple(run.digest for run in result.runs)
        copied = (result.key, digests, "" if all(digests) else result.path)
        if copied in found:
            note = f"the same logs lie in {printable(result.path)}, too: counted once"
            first = found[copied]
            found[copied] = replace(first, problems=(*first.problems, note))
        else:
            found[copied] = result
    return list(found.values())


def entry_named(name: str, *places: Sequence[BenchmarkResult]) -> BenchmarkResult:
    """Return the one entry that a name means: ``round/submitter/system``, or a part of that.

    Args:
        name: what a user typed.
        places: where it is looked for; the first that has it counts.

    Raises:
        UsageError: none has it, or several of one place have.
    """
    found = next(filter(None, (_named(name, place) for place in places)), [])
    if len(found) == 1:
        return found[0]
    if not found:
        systems = [result.key.system for place in places for result in place]
        raise UsageError(f"no row {name!r} for --baseline{did_you_mean(name, systems)}")
    listed = ", ".join(f"{describe(result)} ({result.key.benchmark})" for result in found[:5])
    more = ", ..." if len(found) > 5 else ""
    raise UsageError(f"--baseline {name!r} means {len(found)} rows: {listed}{more}; name one whole")


def _named(name: str, results: Sequence[BenchmarkResult]) -> list[BenchmarkResult]:
    exact = [result for result in results if name in (describe(result), printable(result.path))]
    return exact or [result for result in results if _is_part(name, result)]


def _is_part(name: str, result: BenchmarkResult) -> bool:
    return name.lower() in f"{describe(result)}/{result.key.benchmark}".lower()


def explain_selection(wanted: Selection) -> str:
    """Return the filters in words, for a message that nothing passes them."""
    chosen = []
    for each in fields(wanted):
        value = getattr(wanted, each.name)
        if value:
            words = ", ".join(map(_word, value)) if isinstance(value, tuple) else str(value)
            chosen.append(f"{each.name} {words}")
    return "; ".join(chosen)


def _word(value: object) -> str:
    return "-".join(map(str, dict.fromkeys(value))) if isinstance(value, tuple) else str(value)
