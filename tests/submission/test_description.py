"""The description of a system passes MLPerf's own checker and invents nothing."""

import json
from pathlib import Path

import pytest
from mlperf_logging.system_desc_checker.system_desc_checker import check_system_desc

from mlbench.plan.machine import Machine
from mlbench.submission.description import REQUIRED_FIELDS, describe, save_description
from tests.conftest import TWO_CORES, PlanOf

GPUS = Machine(num_cores=8, cpu_bf16=True, accelerators=("NVIDIA H200",) * 4)


@pytest.mark.parametrize("ruleset", ["2.0.0", "4.1.0", "5.0.0"])
@pytest.mark.parametrize("machine", [TWO_CORES, GPUS])
def test_mlperfs_checker_accepts_it(
    plan_of: PlanOf, tmp_path: Path, machine: Machine, ruleset: str
) -> None:
    file = tmp_path / "small.json"
    assert save_description(file, describe(plan_of(machine=machine), machine)) == []
    valid, name, _, _ = check_system_desc(str(file), "training", ruleset)
    assert valid
    assert name == "small"


def test_it_has_every_field_as_text_and_says_it_is_unverified(plan_of: PlanOf) -> None:
    fields = describe(plan_of(machine=GPUS), GPUS)
    assert tuple(fields) == REQUIRED_FIELDS
    assert len(fields) == 33
    assert all(isinstance(value, str) for value in fields.values())
    assert (fields["accelerators_per_node"], fields["accelerator_model_name"]) == (
        "2",
        "NVIDIA H200",
    )
    assert "unverified" in fields["sw_notes"]
    assert fields["cooling"] == ""
    assert describe(plan_of(), TWO_CORES)["accelerators_per_node"] == "0"


def test_no_secret_of_the_environment_is_written(
    plan_of: PlanOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "abc-secret")
    assert "abc-secret" not in json.dumps(describe(plan_of(), TWO_CORES))
    assert "abc-secret" not in plan_of().model_dump_json()


def test_a_description_that_is_there_is_kept_and_differences_are_named(
    plan_of: PlanOf, tmp_path: Path
) -> None:
    file = tmp_path / "systems" / "small.json"
    save_description(file, describe(plan_of(), TWO_CORES))
    before = file.read_bytes()
    assert save_description(file, describe(plan_of(), TWO_CORES)) == []
    differences = save_description(file, describe(plan_of(machine=GPUS), GPUS))
    assert "accelerators_per_node: 0 there, 2 now" in differences
    assert file.read_bytes() == before
