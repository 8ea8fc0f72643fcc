"""What this machine has that a plan depends on; measured without torch."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psutil

_NVIDIA_SMI_TIMEOUT_SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The devices of one node."""

    num_cores: int
    """CPU cores this process may use."""
    native_bf16: bool
    """Whether the processor, or every accelerator, multiplies bf16 in hardware."""
    accelerators: tuple[str, ...] = ()
    """Model name of each accelerator."""


def probe_machine() -> Machine:
    """Return what this machine has."""
    accelerators = _accelerators()
    return Machine(
        num_cores=_usable_cores(),
        native_bf16=bool(accelerators) or _cpu_has_bf16(),
        accelerators=accelerators,
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


def _accelerators() -> tuple[str, ...]:
    """Return the NVIDIA devices that ranks can use, by the driver's own tool."""
    if not shutil.which("nvidia-smi"):
        return ()
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_NVIDIA_SMI_TIMEOUT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.strip() for line in done.stdout.splitlines() if line.strip())
