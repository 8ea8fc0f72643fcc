"""What can go wrong, as one tree; every class has the exit code the user sees.

::

    MlbenchError                      1   a bug, if it is none of those below
    +-- UsageError                    2   command line or config
    |   +-- ConfigError               2   ... with every problem of the config
    +-- TargetMissedError             3   ended without reaching the quality target
    |   +-- NonFiniteLossError        3   ... because the loss became NaN or infinite
    +-- ComplianceError               4   a log breaks the rules
    +-- PreflightError                5   this machine cannot run the plan
    +-- DataError                     6   corpus or prepared data
    +-- LaunchError                   7   a worker or the launch failed
    +-- InputMissingError             8   nothing to read, or not all of it
    +-- RegressionError               9   slower than the baseline
    +-- PreemptedError               75   stopped from outside, can be resumed
    +-- InterruptedRunError         130   stopped by the user

They are raised where the fault is found and caught once, in ``mlbench.cli``.
"""

import difflib
from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the ``mlbench`` command."""

    OK = 0
    BUG = 1
    USAGE = 2
    TARGET_MISSED = 3
    NOT_COMPLIANT = 4
    PREFLIGHT = 5
    DATA = 6
    LAUNCH = 7
    INPUT_MISSING = 8
    REGRESSION = 9
    PREEMPTED = 75
    INTERRUPTED = 130


class MlbenchError(Exception):
    """A fault that is explained to the user in one message."""

    exit_code = ExitCode.BUG


class UsageError(MlbenchError):
    """The command line asks for something that cannot be done."""

    exit_code = ExitCode.USAGE


class ConfigError(UsageError):
    """The config is wrong; the message lists every problem found."""


class TargetMissedError(MlbenchError):
    """A run ended without reaching its quality target."""

    exit_code = ExitCode.TARGET_MISSED


class NonFiniteLossError(TargetMissedError):
    """The loss or its gradient became NaN or infinite."""


class ComplianceError(MlbenchError):
    """A log does not pass its rules."""

    exit_code = ExitCode.NOT_COMPLIANT


class PreflightError(MlbenchError):
    """The plan cannot run on this machine as it stands."""

    exit_code = ExitCode.PREFLIGHT


class DataError(MlbenchError):
    """Corpus or prepared data are missing, damaged or do not fit the config."""

    exit_code = ExitCode.DATA


class LaunchError(MlbenchError):
    """Processes could not be started, or one of them failed."""

    exit_code = ExitCode.LAUNCH


class InputMissingError(MlbenchError):
    """A path to read holds nothing that can be read."""

    exit_code = ExitCode.INPUT_MISSING


class RegressionError(MlbenchError):
    """A result is significantly worse than its baseline."""

    exit_code = ExitCode.REGRESSION


class PreemptedError(MlbenchError):
    """The run was stopped from outside and can be resumed."""

    exit_code = ExitCode.PREEMPTED


class InterruptedRunError(MlbenchError):
    """The user stopped the run."""

    exit_code = ExitCode.INTERRUPTED


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known word, or ``""`` if none is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def error_for(exit_code: ExitCode, message: str) -> MlbenchError:
    """Return the error whose exit code this is."""
    kinds: list[type[MlbenchError]] = [MlbenchError, *MlbenchError.__subclasses__()]
    return next(kind for kind in kinds if kind.exit_code == exit_code)(message)
