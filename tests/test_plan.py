"""Everything about a run is decided, or refused, before anything starts."""

from pathlib import Path

import pytest

from mlbench.config.load import load_config
from mlbench.data.manifest import load_manifest
from mlbench.errors import DataError, ExitCode, PreflightError
from mlbench.plan import RunPlan
from mlbench.plan.machine import Machine, probe_machine
from mlbench.plan.resolve import system_name
from mlbench.vocabulary import Precision
from tests.conftest import PlanOf

EIGHT_GPUS = Machine(
    num_cores=64, cpu_bf16=False, accelerators=("H200",) * 8, accelerators_bf16=True
)
EIGHT_V100 = Machine(num_cores=64, cpu_bf16=True, accelerators=("V100",) * 8)


def test_a_plan_says_where_everything_goes(plan_of: PlanOf, tmp_path: Path) -> None:
    plan = plan_of(run_index=3)
    assert plan.run_id == "20261130T120005-small-3"
    assert plan.log_file == tmp_path / "results/local/results/small/bert/result_3.txt"
    assert plan.record_folder == tmp_path / "results/.mlbench" / plan.run_id
    assert plan.ruleset == "5.0.0"
    assert plan.seed == 7


def test_a_plan_survives_its_file(plan_of: PlanOf) -> None:
    plan = plan_of()
    assert RunPlan.model_validate_json(plan.model_dump_json()) == plan


def test_the_batch_is_shared_by_ranks_and_passes(plan_of: PlanOf) -> None:
    plan = plan_of("train.global_batch_size=24", "train.gradient_accumulation_steps=3")
    assert plan.batch.micro_batch_size == 4
    assert plan.evaluation_interval_steps == 1
    assert plan_of("evaluation.every_samples=25").evaluation_interval_steps == 4
    assert plan_of("evaluation.every_samples=null").evaluation_interval_steps == 150_000 // 8
    assert plan_of("evaluation.quality_target=null").quality_target == 0.72
    assert plan_of("train.max_steps=null").num_steps == 1000


def test_devices_decide_precision_and_threads(plan_of: PlanOf) -> None:
    cpu = plan_of("train.precision=auto")
    assert (cpu.device, cpu.precision, cpu.threads_per_rank) == ("cpu", Precision.FP32, 1)
    gpu = plan_of("train.precision=auto", machine=EIGHT_GPUS)
    assert (gpu.device, gpu.precision, gpu.threads_per_rank) == ("cuda", Precision.BF16, 32)
    assert plan_of(machine=EIGHT_GPUS).precision is Precision.FP32
    assert plan_of("train.precision=auto", machine=EIGHT_V100).precision is Precision.FP32
    on_cpu = plan_of("train.precision=auto", "launch.device=cpu", machine=EIGHT_V100)
    assert (on_cpu.device, on_cpu.precision) == ("cpu", Precision.BF16)
    with pytest.raises(PreflightError, match="nvidia-smi shows no device"):
        plan_of("launch.device=cuda")


def test_the_systems_name_is_safe_as_a_folder(plan_of: PlanOf, small_config: Path) -> None:
    odd = small_config.with_name("мой config (1).yaml")
    odd.write_text(small_config.read_text("utf-8"), "utf-8")
    assert system_name(load_config(str(odd))) == "config-1"


def test_more_ranks_than_devices_are_refused_unless_asked_for(plan_of: PlanOf) -> None:
    settings = ("launch.nproc_per_node=4", "launch.oversubscribe=false")
    with pytest.raises(PreflightError, match="4 ranks, this machine has 2 usable CPU cores"):
        plan_of(*settings)
    with pytest.raises(PreflightError, match="16 ranks, this machine has 8 accelerators") as caught:
        plan_of(
            "launch.nproc_per_node=16",
            "launch.oversubscribe=false",
            "train.global_batch_size=16",
            machine=EIGHT_GPUS,
        )
    assert caught.value.exit_code is ExitCode.PREFLIGHT
    assert plan_of("launch.nproc_per_node=4").world_size == 4


def test_a_batch_larger_than_the_data_names_both_numbers(plan_of: PlanOf, small_data: Path) -> None:
    count = load_manifest(small_data / "prepared").train.num_samples
    with pytest.raises(DataError) as caught:
        plan_of("train.global_batch_size=100000")
    assert caught.value.exit_code is ExitCode.DATA
    message = f"{count} training samples are fewer than one global batch of 100000"
    assert message in str(caught.value)
    assert f"at most {count}" in str(caught.value)


def test_data_prepared_otherwise_are_refused(plan_of: PlanOf) -> None:
    with pytest.raises(
        DataError, match="other settings than data.prepare.*duplication: 2 there, 5"
    ):
        plan_of("data.prepare.duplication=5")


def test_settings_that_change_what_is_measured_make_another_entry(plan_of: PlanOf) -> None:
    names = {
        plan_of(*settings).system_name
        for settings in (
            (),
            ("train.seed=5",),
            ("train.max_steps=7",),
            ("submission.submitter=me",),
            ("launch.collective_timeout_seconds=5",),
        )
    }
    assert names == {"small"}
    larger = plan_of("train.global_batch_size=16").system_name
    assert larger.startswith("small+")
    assert larger == plan_of("train.global_batch_size=16", "train.seed=2").system_name
    assert larger != plan_of("train.global_batch_size=32").system_name
    named = plan_of("train.global_batch_size=16", "submission.system=box").system_name
    assert named == "box"


def test_this_machine_can_be_probed() -> None:
    machine = probe_machine()
    assert machine.num_cores >= 1
    assert isinstance(machine.cpu_bf16, bool)
