"""Runs of one config, one after the other, each with a seed and processes of its own."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mlbench import registry
from mlbench.benchmarks import Benchmark
from mlbench.check.official import require_ruleset
from mlbench.config.load import LoadedConfig
from mlbench.config.show import to_yaml
from mlbench.data.manifest import load_manifest
from mlbench.launch import Launcher
from mlbench.launch.run import create_record
from mlbench.plan import RunPlan
from mlbench.plan.layout import entry_folder, system_file
from mlbench.plan.machine import probe_machine
from mlbench.plan.resolve import Surroundings, resolve, ruleset, system_name
from mlbench.registry import Group
from mlbench.seeds import SEED_BITS, derive_seed, fresh_seed
from mlbench.submission.description import describe, save_description
from mlbench.submission.records import RunRecord
from mlbench.submission.store import next_run_index, reserve_log


@dataclass(frozen=True, slots=True)
class Series:
    """What the runs have in common, and the seed of each."""

    loaded: LoadedConfig
    surroundings: Surroundings
    launcher: Launcher
    seeds: tuple[int, ...]

    @property
    def folder(self) -> Path:
        """Where the logs go."""
        config = self.loaded.config
        return entry_folder(
            self.surroundings.results,
            config.submission.submitter,
            system_name(self.loaded),
            config.benchmark,
        )

    @property
    def system_file(self) -> Path:
        """The description of the system; written by the first run."""
        submitter = self.loaded.config.submission.submitter
        return system_file(self.surroundings.results, submitter, system_name(self.loaded))

    def plan(self, number: int, run_index: int) -> RunPlan:
        """Return the plan of the series' run ``number``, to be result ``run_index``."""
        now = datetime.now(UTC)
        return resolve(self.loaded, self.surroundings, run_index, self.seeds[number], now)

    def plans(self) -> list[RunPlan]:
        """Return the plans as they would be made now; nothing is reserved."""
        first = next_run_index(self.folder)
        return [self.plan(number, first + number) for number in range(len(self.seeds))]


def prepare_series(loaded: LoadedConfig, results: Path, num_runs: int) -> Series:
    """Gather what the runs depend on.

    Raises:
        UsageError: the rule set does not know the benchmark.
        DataError: there are no prepared data.
    """
    config = loaded.config
    benchmark: Benchmark = registry.load(Group.BENCHMARK, config.benchmark)
    require_ruleset(ruleset(config, benchmark), benchmark)
    return Series(
        loaded=loaded,
        surroundings=Surroundings(
            benchmark=benchmark,
            manifest=load_manifest(config.data.path),
            machine=probe_machine(),
            results=results,
        ),
        launcher=registry.load(Group.LAUNCHER, config.launch.launcher),
        seeds=_seeds(config.train.seed, num_runs),
    )


def _seeds(base: int | None, count: int) -> tuple[int, ...]:
    """Return distinct seeds: fresh ones, or such as follow from the one that is set."""
    if base is None:
        return tuple(fresh_seed() for _ in range(count))
    later = (derive_seed(base, "run", number) % 2**SEED_BITS for number in range(1, count))
    return (base, *later)


def open_run(series: Series, number: int) -> tuple[RunPlan, RunRecord, list[str]]:
    """Take the next free log, create the run's record and describe the system.

    Returns the plan, the record, and what is different from the description that is there.

    Raises:
        PreflightError: the results cannot be written.
    """
    while True:
        plan = series.plan(number, next_run_index(series.folder))
        if reserve_log(plan.log_file):
            break
    try:
        record = create_record(plan, to_yaml(series.loaded))
        differences = save_description(
            series.system_file, describe(plan, series.surroundings.machine)
        )
    except BaseException:
        plan.log_file.unlink()  # Reserved and still empty.
        raise
    return plan, record, differences
