"""How many runs MLPerf asks for.

Source: training rules and mlperf-logging's table of result file counts. Benchmarks with the same
count in every round since v0.7; one that is not here is unknown, not free.
"""

_RUNS = {
    3: ("gpt3", "llama31_405b", "deepseekv3_671b", "qwen35_397b_grpo"),
    5: ("resnet", "ssd", "maskrcnn", "dlrm", "retinanet"),
    10: (
        *("bert", "transformer", "gnmt", "rnnt", "minigo", "ncf", "dlrm_dcnv2"),
        *("stable_diffusion", "gnn", "rgat", "llama2_70b_lora", "llama31_8b", "flux1"),
        *("gpt_oss_20b", "dlrmv4"),
    ),
    40: ("unet3d",),
}

RUNS_EXPECTED = {name: runs for runs, names in _RUNS.items() for name in names}
"""Runs of a complete result, by benchmark."""

PLACEHOLDER_SEEDS = {"minigo": 0}
"""What a benchmark logs as its seed when it takes one from the clock (minigo's ``--seed``)."""

EVALUATED_OFFLINE = {"stable_diffusion", "minigo"}
"""Benchmarks whose checkpoints may be evaluated behind ``run_stop``."""


def runs_dropped(benchmark: str) -> int:
    """Return how many of the fastest, and of the slowest, runs do not count.

    As many may miss the target: a run that does counts as slowest.
    """
    return 4 if benchmark == "unet3d" else 1
