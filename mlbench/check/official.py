"""MLPerf's own compliance checker, in a child process.

It writes a file into its working folder, keeps state between checks and ends some of its own
faults with a traceback; a child with a scratch folder keeps all of this away.
"""

import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from mlbench.benchmarks import Benchmark
from mlbench.benchmarks.bert import BERT
from mlbench.check import Verdict
from mlbench.errors import PreflightError, UsageError, did_you_mean

_ROUND = re.compile(r"(?:training_results_)?v(\d+\.\d+)")
_RULESET = re.compile(r"\d+\.\d+\.\d+")
_TIMEOUT_SECONDS = 120
_SEPARATOR = re.compile(r"\n-{30}\n")
_CHATTER = re.compile(r"^(INFO|ERROR|WARNING) - ?|^\*\* Logging output.*$", re.MULTILINE)
_NOISE = re.compile(r"^ ?(Running compliance on file|Compliance checks|FAILED|SUCCESS).*$", re.M)


def known_rulesets() -> list[str]:
    """Return the training rule sets that mlperf-logging ships, oldest first."""
    checker = find_spec("mlperf_logging")
    folders = checker.submodule_search_locations if checker else None
    names = [
        folder.name.removeprefix("training_")
        for root in folders or ()
        for folder in (Path(root) / "compliance_checker").glob("training_*")
    ]
    found = [name for name in names if _RULESET.fullmatch(name)]
    return sorted(found, key=lambda ruleset: [int(part) for part in ruleset.split(".")])


def require_ruleset(ruleset: str, benchmark: Benchmark) -> None:
    """Check that a benchmark can be checked against a rule set, before anything is run.

    Raises:
        UsageError: there is no such rule set, or it is newer than the benchmark.
    """
    known = known_rulesets()
    if ruleset not in known:
        near = did_you_mean(ruleset, known)
        raise UsageError(f"unknown rule set {ruleset!r}{near} (known: {', '.join(known)})")
    if known.index(ruleset) > known.index(benchmark.last_ruleset):
        last = benchmark.last_ruleset
        raise UsageError(f"rule set {ruleset} does not know {benchmark.name}; its last is {last}")


def check_officially(log: Path, ruleset: str) -> Verdict:
    """Return the verdict of mlperf-logging's compliance checker.

    Raises:
        PreflightError: the checker could not be run at all.
        UsageError: it does not know the rule set.
    """
    with tempfile.TemporaryDirectory(prefix="mlbench-check-") as scratch:
        command = official_command(log, ruleset)
        try:
            done = subprocess.run(
                command,
                cwd=scratch,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PreflightError(f"MLPerf's compliance checker did not run: {error}") from error
    output = done.stdout + done.stderr
    if "invalid choice" in output:
        known = ", ".join(known_rulesets())
        raise UsageError(f"unknown rule set {ruleset!r} (known: {known})")
    passed = done.returncode == 0 and "SUCCESS" in output
    return Verdict(
        path=log,
        ruleset=ruleset,
        checker=f"mlperf-logging {version('mlperf-logging')}",
        passed=passed,
        complaints=() if passed else _complaints(output),
    )


def ruleset_of(log: Path) -> str:
    """Return the rule set of the round a log lies in, else the newest that knows BERT."""
    for folder in log.resolve().parents:
        match = _ROUND.fullmatch(folder.name)
        if match:
            return f"{match[1]}.0"
    return BERT.last_ruleset


def official_command(log: Path, ruleset: str) -> list[str]:
    """Return the command that checks a log."""
    return [
        sys.executable,
        "-m",
        "mlperf_logging.compliance_checker",
        "--usage",
        "training",
        "--ruleset",
        ruleset,
        str(log.resolve()),
    ]


def _complaints(output: str) -> tuple[str, ...]:
    """Return the checker's complaints, each its first lines; a crash is one, too."""
    if "Traceback (most recent call last)" in output:
        return (f"the checker crashed: {output.strip().splitlines()[-1]}",)
    text = _NOISE.sub("", _CHATTER.sub("", output))
    parts = [part.strip() for part in _SEPARATOR.split(text)]
    return tuple("\n".join(part.splitlines()[:3]) for part in parts if part)
