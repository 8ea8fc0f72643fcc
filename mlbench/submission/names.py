"""One name for one thing, whatever the systems files call it.

Published files spell one accelerator in nine ways, one availability in five. What is compared or
filtered by name goes through here; the file's own words stay in ``SystemDescription``.
"""

import re
from enum import StrEnum

_ACCELERATOR_RULES = (
    (r"\(\s*\d+\s*W\s*\)", ""),  # Power belongs to the system, not to the name.
    (r"\((?:R|TM)\)|[®™]", " "),
    (r"\b(?:NVIDIA|Tesla|GeForce|AMD|Instinct|Habana|Intel|Graphcore)\b", " "),
    (r"\b(?:Tensor Core|AI Accelerator|GPU|CTS|DLC|HL-205|HBM3E?)\b", " "),
    (r"\bBlackwell\s*\(([^)]*)\)", r"\1"),
    (r"\(PCIe\)", " "),
    (r"\bPCI-?E\b", "PCIe"),
    (r"(\d+)\s+GB\b", r"\1GB"),
    (r"\s*[-\s]\s*(?=(?:SXM|PCIe|NVL|\d+GB)\b|SXM\d)", "-"),
    (r"\b(A100|H[12]00|B200)-SXM\d\b", r"\1-SXM"),  # Each has but one generation of SXM.
    (r"^H100-80GB$", "H100-SXM-80GB"),  # What the driver calls it.
    (r"^A30-PCIe-24GB$", "A30"),
    (r"\bGaudi\s+(\d)", r"Gaudi\1"),
    (r"\bAscend(?=\d)", "Ascend "),
    (r"\bTPU[ -]", "TPU-"),
)

_NO_ACCELERATOR = {"", "n/a", "none", "na", "-"}

_FRAMEWORKS = {
    "PyTorch": r"pytorch",
    "TensorFlow": r"ten(?:s)?orflow|\btf",
    "MXNet": r"mxnet",
    "PaddlePaddle": r"paddle",
    "NeMo": r"\bnemo\b",
    "HugeCTR": r"hugectr",
    "DGL": r"\bdgl\b",
    "JAX": r"\bjax\b|\bpax\b|maxtext|maxdiffusion",
    "MindSpore": r"mindspore",
    "PopART": r"popart",
    "tinygrad": r"tinygrad",
}


class AvailabilityClass(StrEnum):
    """The categories that MLPerf publishes apart; on-premise and cloud are both available."""

    AVAILABLE = "available"
    PREVIEW = "preview"
    RESEARCH = "research"
    UNKNOWN = "availability unknown"


def accelerator_name(text: str | None) -> str | None:
    """Return the accelerator's name without vendor, power and spelling; None without one."""
    name = (text or "").strip()
    if name.lower() in _NO_ACCELERATOR:
        return None
    for pattern, replacement in _ACCELERATOR_RULES:
        name = re.sub(pattern, replacement, " ".join(name.split()), flags=re.IGNORECASE)
    return " ".join(name.split()).strip(" -") or text


def framework_family(text: str | None) -> str | None:
    """Return the frameworks that a text names, such as ``MXNet/PyTorch``; None if none is known."""
    found = [
        family
        for family, pattern in _FRAMEWORKS.items()
        if re.search(pattern, text or "", re.IGNORECASE)
    ]
    return "/".join(found) or None


def availability_class(text: str | None) -> AvailabilityClass:
    """Return the category of a ``status``, in any of the spellings of the rounds."""
    word = (text or "").lower()
    if re.match(r"research|rdi", word):
        return AvailabilityClass.RESEARCH
    if word.startswith("preview"):
        return AvailabilityClass.PREVIEW
    if re.match(r"available|cloud|on-?prem", word):
        return AvailabilityClass.AVAILABLE
    return AvailabilityClass.UNKNOWN


def division_name(text: str | None) -> str:
    """Return the division in the spelling of the rules; some files say ``close`` or ``Open``."""
    word = (text or "").strip().lower()
    return {"close": "closed", "": "division unknown"}.get(word, word)
