"""Whether entries pass their round's rule set, as MLPerf's checker has it today.

That an entry can be scored does not hang on it: rule files were edited after rounds had closed, and
most published v2.1 logs fail today's 2.1.0.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mlbench.score import BenchmarkResult
from mlbench.submission.store import entry_logs


@dataclass(frozen=True, slots=True)
class RulesetVerdict:
    """What the checker says of an entry's logs together."""

    ruleset: str
    checker: str
    num_passed: int
    num_logs: int

    @property
    def passed(self) -> bool:
        """Whether every log passes."""
        return self.num_passed == self.num_logs


def check_rules(
    results: Iterable[BenchmarkResult],
    say: Callable[[int, int], None],
) -> dict[Path, RulesetVerdict]:
    """Return the verdict on each entry; entries of a round without a known rule set have none.

    Our own runs belong to no round: theirs is the newest rule set that knows BERT.

    Args:
        results: entries whose logs are on disk.
        say: told how many logs of how many are checked.

    Raises:
        PreflightError: the checker could not be run.
    """
    # Only those who ask for it wait for the import.
    from mlbench.benchmarks.bert import BERT
    from mlbench.check.official import check_officially, known_rulesets

    known = known_rulesets()
    jobs = [
        (result, ruleset, log)
        for result in results
        if (ruleset := ruleset_of_round(result.key.round) or BERT.last_ruleset) in known
        for log in entry_logs(result.path)
    ]
    found: dict[Path, list[bool]] = {}
    checkers: dict[Path, tuple[str, str]] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Each waits for a process of its own.
        verdicts = pool.map(lambda job: check_officially(job[2], job[1]), jobs)
        for done, ((result, ruleset, _), verdict) in enumerate(zip(jobs, verdicts, strict=True)):
            found.setdefault(result.path, []).append(verdict.passed)
            checkers[result.path] = (ruleset, verdict.checker)
            say(done + 1, len(jobs))
    return {key: _together(*checkers[key], passed) for key, passed in found.items()}


def ruleset_of_round(name: str) -> str | None:
    """Return the rule set of a round; None for our own runs, which belong to none."""
    return f"{name.removeprefix('v')}.0" if name.startswith("v") else None


def _together(ruleset: str, checker: str, passed: Sequence[bool]) -> RulesetVerdict:
    return RulesetVerdict(ruleset, checker, sum(passed), len(passed))
