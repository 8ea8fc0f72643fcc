"""Writes the table of published BERT results anew, from the official repositories' trees.

``make published ROUNDS=FOLDER`` reads ``FOLDER/training_results_v*`` as they are checked out. The
table must not say of an entry what only holds of a copy of it: one that lacks logs is left out and
named.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from mlbench.atomic import write_atomically
from mlbench.report.gather import gather
from mlbench.report.rules import check_rules
from mlbench.score import BenchmarkResult
from mlbench.score.leaderboard import describe
from mlbench.score.published import TABLE, PublishedRow, encode
from mlbench.score.select import without_copies

OUTPUT = Path("mlbench/score") / TABLE


def main() -> None:
    """Read the rounds below a folder, check their logs, write the table."""
    if len(sys.argv) != 2:
        sys.exit("usage: make published ROUNDS=FOLDER, where FOLDER/training_results_v* are")
    folders = sorted(Path(sys.argv[1]).glob("training_results_v*"))
    if not folders:
        sys.exit(f"{sys.argv[1]}: no training_results_v* in it")
    found = [result for folder in folders for result in bert_results(folder)]
    results = list(complete(without_copies(found)))
    results.sort(key=lambda result: (_order(result.key.round), describe(result)))
    verdicts = check_rules(results, _say)
    rows = []
    for result in results:
        verdict = verdicts.get(result.path)
        ruleset, checker = (verdict.ruleset, verdict.checker) if verdict else (None, None)
        rows.append(PublishedRow(result, ruleset, checker, verdict.num_passed if verdict else 0))
    write_atomically(OUTPUT, b"".join(map(encode, rows)))
    sys.stdout.write(f"wrote {len(rows)} rows of {len(folders)} rounds to {OUTPUT}\n")


def bert_results(folder: Path) -> list[BenchmarkResult]:
    """Return the BERT entries of a round."""
    places = [path for path in folder.glob("*/results/**/bert") if path.is_dir()]
    return gather(places, lambda *_: None)


def complete(results: Iterable[BenchmarkResult]) -> Iterator[BenchmarkResult]:
    """Yield the entries that have all their logs, name the others."""
    for result in results:
        if len(result.runs) == result.runs_expected:
            yield result
        else:
            words = f"{len(result.runs)} of {result.runs_expected} logs"
            sys.stdout.write(f"left out: {describe(result)}: {words}\n")


def _order(name: str) -> list[int]:
    return [int(part) for part in name.removeprefix("v").split(".")]


def _say(done: int, total: int) -> None:
    if done % 100 == 0 or done == total:
        sys.stdout.write(f"checked {done} of {total} logs\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
