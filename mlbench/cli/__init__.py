"""The command line: parses, calls, prints. The one place where errors are caught.

Commands import what they need when they run, so that ``--help`` starts at once.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

import mlbench
from mlbench.cli.check import check
from mlbench.cli.compare import compare
from mlbench.cli.config import config
from mlbench.cli.data import data
from mlbench.cli.run import run
from mlbench.errors import ExitCode, MlbenchError

_BUG = (
    "this is a bug in mlbench: {kind}: {text}\n"
    "run the command again with --debug and report what it prints"
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(mlbench.__version__, prog_name="mlbench")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Run MLPerf-style training benchmarks and rank them beside the published rounds.

    \b
    Exit codes:
      0  fine                          6  data
      1  bug                           7  worker or launch failed
      2  usage or config               8  input missing or incomplete
      3  target not reached, or NaN    9  regression
      4  log breaks the rules         75  preempted, resumable
      5  machine or environment      130  interrupted
    """


for _command in (run, compare, check, config, data):
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    try:
        code = cli.main([word for word in words if word != "--debug"], standalone_mode=False)
    except MlbenchError as error:
        code = _report(str(error), error.exit_code, debug)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = _report("interrupted", ExitCode.INTERRUPTED, debug)
    except BrokenPipeError:  # Whoever reads our output has had enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.OK
    except Exception as error:  # noqa: BLE001  (whatever is left is a bug, and said to be one)
        text = _BUG.format(kind=type(error).__name__, text=error)
        code = _report(text, ExitCode.BUG, debug)
    sys.exit(code or 0)


def _report(message: str, code: ExitCode, debug: bool) -> ExitCode:
    if debug:
        traceback.print_exc()
    click.echo(f"Error: {message}", err=True)
    return code
