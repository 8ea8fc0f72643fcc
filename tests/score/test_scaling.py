"""What is left of an accelerator's speed when there are more of them."""

from pathlib import Path

import pytest

from mlbench.score.scaling import families
from tests.results import read_results, result


def system(count: int, minutes: float, **options: object) -> object:
    name = f"v2.1/{options.pop('submitter', 'acme')}/x{count}{options.pop('tail', '')}/bert"
    return result([minutes] * 10, name=name, accelerators=count, **options)  # type: ignore[arg-type]


def test_systems_are_held_against_the_smallest() -> None:
    (family,) = families([system(64, 2.0), system(8, 14.0)])  # type: ignore[list-item]
    small, large = family.points
    assert (small.num_accelerators, large.num_accelerators) == (8, 64)
    assert small.throughput_efficiency == small.time_efficiency == 1.0
    assert large.time_speedup == pytest.approx(7.0)
    assert large.throughput_efficiency == pytest.approx(7 / 8)
    assert large.time_efficiency == pytest.approx(7 / 8)


def test_more_samples_to_target_cost_time_and_no_throughput() -> None:
    slow = system(64, 2.0, samples=1_200_000.0)
    (family,) = families([slow, system(8, 14.0)])  # type: ignore[list-item]
    assert family.points[1].throughput_efficiency == pytest.approx(14 / 8)
    assert family.points[1].time_efficiency == pytest.approx(7 / 8)


def test_a_family_has_one_submitter_accelerator_framework_and_division() -> None:
    base = system(8, 14.0)
    others = [
        system(64, 2.0, submitter="other"),
        system(64, 2.0, described={"accelerator_model_name": "Other"}),
        system(64, 2.0, described={"framework": "MXNet"}),
        system(64, 2.0, described={"division": "open"}),
        system(8, 13.0, tail="b"),
        result([1.0] * 10, samples=None, accelerators=64),
        result([1.0] * 10, accelerators=0),
    ]
    assert families([base, *others]) == []  # type: ignore[list-item]
    as_one = families([base, *others], as_one=True)  # type: ignore[list-item]
    assert [len(each.points) for each in as_one] == [5]


def test_the_fastest_of_the_smallest_is_the_base() -> None:
    entries = [system(8, 14.0), system(8, 13.0, tail="b"), system(16, 7.0)]
    (family,) = families(entries)  # type: ignore[arg-type]
    assert family.base.key.system == "x8b"


def test_paddlepaddle_keeps_94_percent_from_8_to_64_accelerators(official_rounds: Path) -> None:
    found = families(read_results(official_rounds))
    (family,) = [each for each in found if each.key.framework == "PaddlePaddle"]
    assert [point.num_accelerators for point in family.points] == [8, 64]
    assert [point.result.key.round for point in family.points] == ["v2.0", "v2.1"]
    assert family.points[1].throughput_efficiency == pytest.approx(0.9406, abs=5e-5)
