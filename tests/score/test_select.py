"""Filters and names of rows."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from mlbench.errors import UsageError
from mlbench.score.select import (
    Selection,
    date_of,
    entry_named,
    explain_selection,
    select,
    without_copies,
)
from tests.results import result

BIG = result(
    [2.0],
    name="v2.1/Baidu/8_node/bert",
    described={
        "number_of_nodes": "8",
        "accelerator_model_name": "NVIDIA A100-SXM4-80GB (400W)",
        "framework": "PaddlePaddle (branch: develop)",
        "status": "Available cloud",
    },
)
CPU = result(
    [5.0],
    name="v2.0/Intel/cpu/bert",
    accelerators=0,
    described={"accelerator_model_name": "N/A", "division": "open", "status": "preview"},
)
OURS = result([9.0], name="unverified/me/box/resnet", described={"number_of_nodes": ""})
ALL = [BIG, CPU, OURS]

FILTERS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "nothing": ({}, ALL),
    "benchmark": ({"benchmark": ("BERT",)}, [BIG, CPU]),
    "two words of one filter": ({"benchmark": ("bert", "resnet")}, ALL),
    "round": ({"round": ("v2.1",)}, [BIG]),
    "round without v": ({"round": ("2.1",)}, [BIG]),
    "ours": ({"round": ("unverified",)}, [OURS]),
    "division": ({"division": ("open",)}, [CPU]),
    "availability": ({"availability": ("available",)}, [BIG, OURS]),
    "cloud": ({"availability": ("cloud",)}, [BIG]),
    "onprem": ({"availability": ("onprem",)}, [OURS]),
    "preview": ({"availability": ("preview",)}, [CPU]),
    "submitter": ({"submitter": ("baidu",)}, [BIG]),
    "part of a system": ({"system": ("node",)}, [BIG]),
    "accelerator": ({"accelerator": ("A100-SXM-80GB",)}, [BIG]),
    "accelerator in another spelling": ({"accelerator": ("NVIDIA A100-SXM-80GB CTS",)}, [BIG]),
    "part of an accelerator": ({"accelerator": ("a100",)}, [BIG]),
    "no accelerator": ({"accelerator": ("none",)}, [CPU]),
    "framework": ({"framework": ("paddlepaddle",)}, [BIG]),
    "count": ({"num_accelerators": ((64, 64),)}, [BIG]),
    "range": ({"num_accelerators": ((0, 63),)}, [CPU]),
    "unknown count": ({"num_nodes": ((1, 8),)}, [BIG, CPU]),
    "two filters": ({"benchmark": ("bert",), "round": ("v2.0",)}, [CPU]),
    "since": ({"since": date(2023, 11, 14)}, ALL),
    "since later": ({"since": date(2023, 11, 15)}, []),
    "until": ({"until": date(2023, 11, 14)}, ALL),
    "until earlier": ({"until": date(2023, 11, 13)}, []),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_lets_through_what_it_names(name: str) -> None:
    wanted, expected = FILTERS[name]
    assert select(ALL, Selection(**wanted)) == expected


def test_an_entry_without_a_usable_time_has_no_date() -> None:
    assert date_of(result([1.0], start_ms=None)) is None
    assert date_of(result([1.0], start_ms=1e30)) is None
    assert select([result([1.0], start_ms=None)], Selection(since=date(2000, 1, 1))) == []


def test_filters_are_told_in_words() -> None:
    wanted = Selection(benchmark=("bert",), num_nodes=((1, 1), (2, 8)), since=date(2026, 1, 2))
    assert explain_selection(wanted) == "benchmark bert; num_nodes 1, 2-8; since 2026-01-02"


def test_a_copy_of_an_entry_is_counted_once_and_named() -> None:
    copy = replace(BIG, path=Path("backup/8_node/bert"))
    other = replace(BIG, path=Path("elsewhere"), runs=OURS.runs)
    found = without_copies([BIG, CPU, copy, other])
    assert [each.path for each in found] == [BIG.path, CPU.path, other.path]
    assert found[0].problems[-1] == ("the same logs lie in backup/8_node/bert, too: counted once")


def test_a_row_is_found_by_a_part_that_only_it_has() -> None:
    assert entry_named("baidu", ALL) is BIG
    assert entry_named("v2.0/Intel/cpu", ALL) is CPU
    assert entry_named("box/resnet", ALL) is OURS


def test_a_whole_name_wins_over_longer_ones_that_begin_with_it() -> None:
    longer = result([1.0], name="v2.1/Baidu/8_node_b/bert")
    assert entry_named("v2.1/Baidu/8_node", [longer, BIG]) is BIG
    with pytest.raises(UsageError, match=r"means 2 rows: v2.1/Baidu/8_node_b \(bert\), "):
        entry_named("8_node", [longer, BIG])


def test_the_first_place_that_has_a_row_counts() -> None:
    assert entry_named("bert", [CPU], ALL) is CPU
    assert entry_named("baidu", [CPU], ALL) is BIG


def test_a_row_that_is_not_there_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no row '8_nod3' for --baseline; did you mean '8_node'"):
        entry_named("8_nod3", ALL)
