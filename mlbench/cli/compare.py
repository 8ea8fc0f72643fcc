"""``mlbench compare``: the leaderboard."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlbench.cli.options import output_option, write_output
from mlbench.errors import ComplianceError, InputMissingError, RegressionError, UsageError

if TYPE_CHECKING:
    from mlbench.report import Renderer, Report
    from mlbench.report.rules import RulesetVerdict
    from mlbench.score import BenchmarkResult
    from mlbench.score.leaderboard import Leaderboard
    from mlbench.score.select import Range, Selection

_METRICS = ("time", "throughput", "efficiency", "samples-to-target")
_GROUPINGS = ("benchmark", "round", "division", "availability")
