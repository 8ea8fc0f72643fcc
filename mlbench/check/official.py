"""MLPerf's own compliance checker, in a child process.

It writes a file into its working folder, keeps state between checks and ends some of its own
faults with a traceback; a child with a scratch folder keeps all of this away.
"""

import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from mlbench.benchmarks.bert import BERT
from mlbench.check import Verdict
from mlbench.errors import PreflightError

_ROUND = re.compile(r"(?:training_results_)?v(\d+\.\d+)")
_TIMEOUT_SECONDS = 120
_SEPARATOR = re.compile(r"\n-{30}\n")
_CHATTER = re.compile(r"^(INFO|ERROR|WARNING) - ?|^\*\* Logging output.*$", re.MULTILINE)
_NOISE = re.compile(r"^ ?(Running compliance on file|Compliance checks|FAILED|SUCCESS).*$", re.M)


def check_officially(log: Path, ruleset: str) -> Verdict:
    """Return the verdict of mlperf-logging's compliance checker.

    Raises:
        PreflightError: the checker could not be run at all, or does not know the rule set.
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
        raise PreflightError(f"MLPerf's compliance checker does not know rule set {ruleset}")
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
