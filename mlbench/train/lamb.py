"""LAMB, the optimizer of the BERT benchmark."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


class Lamb(torch.optim.Optimizer):
    """Layer-wise adaptive moments, with bias correction (You et al., arXiv 1904.00962, v3+).

    A group with ``adapt`` false gets no trust ratio: in the reference, that is what gets no
    weight decay either.
    """

    def __init__(
        self,
        groups: Iterable[dict[str, Any]],
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "adapt": True,
        }
        super().__init__(groups, defaults)
        self._num_steps = 0

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """Update every parameter that has a gradient."""
        self._num_steps += 1
        for group in self.param_groups:
            parameters = [each for each in group["params"] if each.grad is not None]
            if parameters:
                self._step_group(group, parameters)

    def _step_group(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        updates = self._adam_updates(group, parameters)
        if group["weight_decay"]:
            torch._foreach_add_(updates, parameters, alpha=group["weight_decay"])
        if group["adapt"]:
            torch._foreach_mul_(updates, _trust_ratios(parameters, updates))
        torch._foreach_add_(parameters, updates, alpha=-group["lr"])

    def _adam_updates(self, group: dict[str, Any], parameters: list[Tensor]) -> list[Tensor]:
        """Advance the moments and return Adam's update of each parameter, for rate 1."""
        beta_1, beta_2 = group["betas"]
        gradients = [each.grad for each in parameters if each.grad is not None]
        states = [self._state(parameter) for parameter in parameters]
        means = [state["mean"] for state in states]
        squares = [state["square"] for state in states]
        torch._foreach_lerp_(means, gradients, 1 - beta_1)
        torch._foreach_mul_(squares, beta_2)
        torch._foreach_addcmul_(squares, gradients, gradients, value=1 - beta_2)
        denominators = list(torch._foreach_div(squares, 1 - beta_2**self._num_steps))
        torch._foreach_sqrt_(denominators)
        torch._foreach_add_(denominators, group["eps"])
        updates = list(torch._foreach_div(means, 1 - beta_1**self._num_steps))
        torch._foreach_div_(updates, denominators)
        return updates

    def _state(self, parameter: Tensor) -> dict[str, Tensor]:
        state: dict[str, Tensor] = self.state[parameter]
        if not state:
            state["mean"] = torch.zeros_like(parameter)
            state["square"] = torch.zeros_like(parameter)
        return state


def _trust_ratios(parameters: list[Tensor], updates: list[Tensor]) -> list[Tensor]:
    """Return |parameter| / |update| of each pair, 1 where either is 0."""
    weights = torch.stack(torch._foreach_norm(parameters))
    changes = torch.stack(torch._foreach_norm(updates))
    defined = (weights > 0) & (changes > 0)
    return list(torch.where(defined, weights / changes, 1.0).unbind())


def lamb_groups(module: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Return the parameter groups of the reference: biases and LayerNorms apart.

    Those are the parameters with one dimension; they get neither decay nor trust ratio.
    """
    parameters = [each for each in module.parameters() if each.requires_grad]
    matrices = [each for each in parameters if each.ndim > 1]
    vectors = [each for each in parameters if each.ndim <= 1]
    groups = [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0, "adapt": False},
    ]
    return [group for group in groups if group["params"]]
