"""One name for one thing, whatever the files call it."""

import pytest

from mlbench.submission.names import (
    AvailabilityClass,
    accelerator_name,
    availability_class,
    division_name,
    framework_family,
)

ACCELERATORS = {
    "A100-SXM-80GB": (
        *("NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB (400W)", "NVIDIA A100-SXM4-80GB(400W)"),
        *("NVIDIA A100-SXM4-80GB (500W)", "NVIDIA A100-SXM-80GB", "NVIDIA A100-SXM-80GB (400W)"),
        *("NVIDIA A100-SXM-80GB (500W)", "NVIDIA A100-SXM-80GB CTS", "A100-SXM4-80GB"),
    ),
    "A100-SXM-40GB": ("NVIDIA A100-SXM4-40GB(400W)", "NVIDIA A100-SXM-40GB", "A100-SXM4-40GB"),
    "A100-PCIe-80GB": ("NVIDIA A100 - PCIe - 80 GB", "NVIDIA A100-PCIE-80GB (300W)"),
    "A100": ("NVIDIA A100",),
    "A30": ("NVIDIA A30", "NVIDIA A30-PCIE-24GB"),
    "H100-SXM-80GB": ("NVIDIA H100-SXM5-80GB", "NVIDIA H100-SXM-80GB", "NVIDIA H100 80GB HBM3"),
    "H100-SXM-96GB": ("NVIDIA H100-SXM5-96GB",),
    "H100-PCIe-80GB": ("NVIDIA H100-PCIe-80GB",),
    "H100-NVL": ("H100 NVL Tensor Core GPU (PCIe)",),
    "H200-SXM-141GB": ("NVIDIA H200-SXM5-141GB",),
    "H200-NVL-141GB": ("NVIDIA H200-NVL-141GB",),
    "B200-SXM-180GB": ("NVIDIA Blackwell GPU (B200-SXM-180GB)",),
    "GB200": ("NVIDIA Blackwell GPU (GB200)",),
    "V100-SXM2-32GB": ("NVIDIA V100-SXM2-32GB", "Nvidia Tesla V100-SXM2-32GB"),
    "V100-SXM3-32GB": ("NVIDIA V100-SXM3-32GB (450W)", "NVIDIA V100-SXM3-32GB (350W)"),
    "V100S-PCIe-32GB": ("Nvidia Tesla V100S-PCIe-32GB",),
    "Gaudi": ("Habana Gaudi", "Habana Gaudi HL-205"),
    "Gaudi2": ("Habana Gaudi2", "Intel Gaudi2", "Intel(R) Gaudi(R) 2 AI Accelerator"),
    "MI325X-256GB": (*("AMD Instinct MI325X 256GB HBM3e", "AMD Instinct MI325X 256GB HBM3E DLC"),),
    "Bow IPU": ("Graphcore Bow IPU",),
    "Ascend 910": ("Ascend910",),
    "Ascend 910 Pro A": ("Ascend 910 Pro A",),
    "TPU-v4": ("TPU-v4",),
    "TPU-v3": ("TPU v3",),
    "RTX 4090": ("NVIDIA GeForce RTX 4090",),
    "Chip": ("Chip",),
}


@pytest.mark.parametrize("name", ACCELERATORS)
def test_every_published_spelling_has_one_name(name: str) -> None:
    assert {accelerator_name(spelling) for spelling in ACCELERATORS[name]} == {name}
    assert accelerator_name(name) == name


@pytest.mark.parametrize("text", [None, "", " ", "N/A", "n/a", "None", "-"])
def test_a_system_without_accelerator_has_no_name(text: str | None) -> None:
    assert accelerator_name(text) is None


def test_a_name_of_nothing_but_noise_stays_as_it_is() -> None:
    assert accelerator_name("NVIDIA") == "NVIDIA"


def test_frameworks_are_found_in_free_text() -> None:
    assert framework_family("NGC MXNet 22.09 , NGC PyTorch 22.09 ") == "PyTorch/MXNet"
    assert framework_family("PaddlePaddle (branch: develop, commitID: bd10211)") == "PaddlePaddle"
    assert framework_family("TenorFLow 2.2") == framework_family("tf2.0") == "TensorFlow"
    assert framework_family("CUDA 12.0") is framework_family(None) is None


STATUS = {
    AvailabilityClass.AVAILABLE: (
        *("onprem", "on-premise", "cloud", "available", "Available on-premise", "Available cloud"),
        *("Available in cloud", "available on premise"),
    ),
    AvailabilityClass.PREVIEW: ("preview", "Preview"),
    AvailabilityClass.RESEARCH: ("research", "Research, Development, or Internal (RDI)"),
    AvailabilityClass.UNKNOWN: (None, "", "soon"),
}


@pytest.mark.parametrize("category", STATUS)
def test_availability_is_read_in_every_vocabulary(category: AvailabilityClass) -> None:
    assert {availability_class(text) for text in STATUS[category]} == {category}


def test_divisions_are_spelled_as_the_rules_spell_them() -> None:
    assert [division_name(text) for text in ("close", "Closed", "Open", None)] == [
        "closed",
        "closed",
        "open",
        "division unknown",
    ]
