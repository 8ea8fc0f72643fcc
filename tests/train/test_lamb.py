"""LAMB and its schedule, step by step against the formulas in double precision."""

import math

import pytest
import torch
from torch import nn

from mlbench.config import OptimizerConfig
from mlbench.train.lamb import Lamb, lamb_groups
from mlbench.train.schedule import learning_rate

RATES = (0.1, 0.03, 0.2, 0.0, 0.05)
BETAS, EPS, DECAY = (0.9, 0.95), 1e-6, 0.02


def reference(
    weight: list[float], gradients: list[list[float]], *, decay: float, adapt: bool
) -> list[float]:
    """The paper's algorithm 2 in plain Python, on one parameter."""
    mean, square = [0.0] * len(weight), [0.0] * len(weight)
    for step, (gradient, rate) in enumerate(zip(gradients, RATES, strict=True), start=1):
        mean = [BETAS[0] * m + (1 - BETAS[0]) * g for m, g in zip(mean, gradient, strict=True)]
        square = [
            BETAS[1] * v + (1 - BETAS[1]) * g * g for v, g in zip(square, gradient, strict=True)
        ]
        update = [
            (m / (1 - BETAS[0] ** step)) / (math.sqrt(v / (1 - BETAS[1] ** step)) + EPS) + decay * w
            for m, v, w in zip(mean, square, weight, strict=True)
        ]
        sizes = math.hypot(*weight), math.hypot(*update)
        ratio = sizes[0] / sizes[1] if adapt and all(sizes) else 1.0
        weight = [w - rate * ratio * u for w, u in zip(weight, update, strict=True)]
    return weight


@pytest.mark.parametrize("decay", [DECAY, 0.0])
def test_matrices_and_vectors_follow_the_paper(decay: float) -> None:
    torch.manual_seed(0)
    module = nn.Linear(3, 2).double()
    start = {name: each.flatten().tolist() for name, each in module.named_parameters()}
    optimizer = Lamb(lamb_groups(module, decay), lr=1.0, betas=BETAS, eps=EPS)
    gradients: dict[str, list[list[float]]] = {name: [] for name in start}
    for rate in RATES:
        for name, each in module.named_parameters():
            each.grad = torch.randn_like(each)
            gradients[name].append(each.grad.flatten().tolist())
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
    for name, each in module.named_parameters():
        is_matrix = each.ndim > 1
        expected = reference(
            start[name], gradients[name], decay=decay if is_matrix else 0.0, adapt=is_matrix
        )
        assert each.flatten().tolist() == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_a_zero_weight_moves_without_a_trust_ratio() -> None:
    parameter = nn.Parameter(torch.zeros(2, 2))
    optimizer = Lamb([{"params": [parameter]}], lr=0.5, weight_decay=0.0)
    parameter.grad = torch.ones(2, 2)
    optimizer.step()
    assert parameter.flatten().tolist() == pytest.approx([-0.5] * 4, rel=1e-5)


def test_a_parameter_without_gradient_stays() -> None:
    module = nn.Linear(2, 2)
    before = module.weight.detach().clone()
    Lamb(lamb_groups(module, 0.01), lr=1.0).step()
    assert torch.equal(module.weight, before)


SCHEDULE = OptimizerConfig(learning_rate=1.0, training_steps=10, warmup_steps=4)


def test_the_rate_rises_then_decays_as_the_reference_does() -> None:
    rates = [learning_rate(SCHEDULE, step) for step in range(1, 12)]
    rise, decay = [0, 0.25, 0.5, 0.75], [0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0]
    assert rates == pytest.approx([*rise, *decay])


def test_a_negative_start_begins_part_of_the_way_up() -> None:
    shifted = SCHEDULE.model_copy(update={"start_warmup_step": -2})
    assert [learning_rate(shifted, step) for step in (1, 2, 3)] == pytest.approx([0.5, 0.75, 0.8])


def test_a_late_start_waits_at_zero() -> None:
    late = SCHEDULE.model_copy(update={"start_warmup_step": 2})
    assert [learning_rate(late, step) for step in (1, 2, 3, 4)] == pytest.approx([0, 0, 0, 0.25])


def test_without_warmup_the_first_step_has_the_full_rate() -> None:
    plain = SCHEDULE.model_copy(update={"warmup_steps": 0, "decay_power": 2.0})
    assert [learning_rate(plain, step) for step in (1, 6, 11)] == pytest.approx([1, 0.25, 0])
