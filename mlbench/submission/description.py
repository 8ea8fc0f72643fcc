"""What MLPerf asks of a system: ``systems/<system>.json``, as we write it.

Every field that MLPerf's checker requires is there; what was not measured is an empty text, never
a guess.
"""

import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from mlbench.atomic import write_atomically
from mlbench.plan import RunPlan
from mlbench.plan.machine import Machine
from mlbench.submission.read import read_description
from mlbench.vocabulary import Availability

REQUIRED_FIELDS = (
    *("submitter", "division", "status", "system_name", "number_of_nodes"),
    *("host_processors_per_node", "host_processor_model_name", "host_processor_core_count"),
    *("host_processor_vcpu_count", "host_processor_frequency", "host_processor_caches"),
    *("host_processor_interconnect", "host_memory_capacity", "host_storage_type"),
    *("host_storage_capacity", "host_networking", "host_networking_topology"),
    *("host_memory_configuration", "accelerators_per_node", "accelerator_model_name"),
    *("accelerator_host_interconnect", "accelerator_frequency"),
    *("accelerator_on-chip_memories", "accelerator_memory_configuration"),
    *("accelerator_memory_capacity", "accelerator_interconnect"),
    *("accelerator_interconnect_topology", "cooling", "hw_notes", "framework"),
    *("other_software_stack", "operating_system", "sw_notes"),
)
"""The 33 fields that MLPerf's system description checker asks for, in its order."""

_STATUS = {
    Availability.ONPREM: "Available on-premise",
    Availability.CLOUD: "Available cloud",
    Availability.PREVIEW: "Preview",
    Availability.RESEARCH: "Research, Development, or Internal (RDI)",
}
"""Words of the field ``status`` since rule set 4.0."""


def describe(plan: RunPlan, machine: Machine) -> dict[str, str]:
    """Return the description of the system a plan runs on: its accelerators are those used."""
    submission = plan.config.submission
    used = machine.accelerators[: plan.world_size] if plan.device == "cuda" else ()
    measured = {
        "submitter": submission.submitter,
        "division": submission.division.value,
        "status": _STATUS[submission.availability],
        "system_name": plan.system_name,
        "number_of_nodes": "1",
        "host_processors_per_node": _num_sockets(),
        "host_processor_model_name": _cpu_field("model name"),
        "host_processor_core_count": str(psutil.cpu_count(logical=False) or ""),
        "host_processor_vcpu_count": str(psutil.cpu_count() or ""),
        "host_memory_capacity": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "accelerators_per_node": str(len(used)),
        "accelerator_model_name": used[0] if used else "N/A",
        "framework": f"PyTorch {_version('torch')}",
        "other_software_stack": _software(),
        "operating_system": platform.platform(),
        "sw_notes": f"{plan.created_by}; unverified, not reviewed by MLCommons; "
        f"{plan.world_size} ranks, {plan.device}, {plan.precision.value}",
    }
    return {field: measured.get(field, "") for field in REQUIRED_FIELDS}


def save_description(file: Path, fields: Mapping[str, str]) -> list[str]:
    """Write a description unless there is one; return what differs from the one that is there."""
    if file.exists():
        there = read_description(file)
        return [
            f"{key}: {there.text(key) or 'empty'} there, {value or 'empty'} now"
            for key, value in fields.items()
            if (there.text(key) or "") != value
        ]
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps(fields, indent=2) + "\n")
    return []


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _software() -> str:
    packages = ("transformers", "tokenizers", "numpy")
    return f"Python {platform.python_version()}, " + ", ".join(
        f"{package} {_version(package)}" for package in packages
    )


def _cpu_field(name: str) -> str:
    """Return a field of the first processor in ``/proc/cpuinfo``, empty elsewhere."""
    return next(iter(_cpu_fields(name)), "")


def _num_sockets() -> str:
    return str(len(set(_cpu_fields("physical id"))) or "")


def _cpu_fields(name: str) -> list[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return []
    pairs = (line.partition(":") for line in lines)
    return [value.strip() for key, _, value in pairs if key.strip() == name]
