"""What this machine has that a plan depends on; measured without torch."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psutil

_NVIDIA_SMI_TIMEOUT_SECONDS = 20
_BF16_CAPABILITY = 8.0
"""Compute capability of the first NVIDIA devices with bf16: Ampere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The devices of one node."""

    num_cores: int
    """CPU cores this process may use."""
    cpu_bf16: bool
    """Whether the processor multiplies bf16 in hardware."""
    accelerators: tuple[str, ...] = ()
    """Model name of each accelerator."""
    accelerators_bf16: bool = False
    """Whether every accelerator multiplies bf16 in hardware."""


def probe_machine() -> Machine:
    """Return what this machine has."""
    devices = _nvidia_devices()
    return Machine(
        num_cores=_usable_cores(),
        cpu_bf16=_cpu_has_bf16(),
        accelerators=tuple(name for name, _ in devices),
        accelerators_bf16=all(capability >= _BF16_CAPABILITY for _, capability in devices),
    )


def _usable_cores() -> int:
    """Return the cores in the affinity mask: physical ones where the system tells them apart."""
    usable = len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else 0
    usable = usable or psutil.cpu_count() or 1
    return min(usable, psutil.cpu_count(logical=False) or usable)


def _cpu_has_bf16() -> bool:
    try:
        flags = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def _nvidia_devices() -> list[tuple[str, float]]:
    """Return name and compute capability of each NVIDIA device, by the driver's own tool."""
    if not shutil.which("nvidia-smi"):
        return []
    command = ["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_NVIDIA_SMI_TIMEOUT_SECONDS,
            check=True,
        )
        lines = [line.rpartition(",") for line in done.stdout.splitlines() if line.strip()]
        return [(name.strip(), float(capability)) for name, _, capability in lines]
    except (OSError, subprocess.SubprocessError, ValueError):
        return []
