"""Steps of optimizers that gradients go through."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight import optim


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"lr": 0.5, "momentum": 0.9, "weight_decay": 0.1}),
        ("Adam", {"lr": 0.5, "amsgrad": True}),
        ("AdamW", {"lr": 0.5}),
        ("Adamax", {"lr": 0.5, "weight_decay": 0.1}),
        ("Adagrad", {"lr": 0.5}),
        ("Adadelta", {"lr": 0.5, "weight_decay": 0.1}),
        ("ASGD", {"lr": 0.5}),
        ("RAdam", {"lr": 0.5}),
        ("NAdam", {"lr": 0.5, "weight_decay": 0.1}),
        ("RMSprop", {"lr": 0.5, "centered": True, "momentum": 0.1}),
    ],
)
def test_gradients_go_through_a_step(name: str, options: dict[str, Any]) -> None:
    def stepped(weight: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        weight = weight.clone()
        optimizer = getattr(optim, name)([weight], differentiable=True, **options)
        weight.grad = grad
        optimizer.step()
        return weight

    start = torch.tensor([0.3, -0.8], dtype=torch.float64, requires_grad=True)
    grad = torch.tensor([0.7, 0.4], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(stepped, (start, grad))


def test_gradients_go_through_what_nadam_keeps() -> None:
    def stepped(
        weight: torch.Tensor, mean: torch.Tensor, square: torch.Tensor, product: torch.Tensor
    ) -> torch.Tensor:
        weight = weight.clone()
        optimizer = optim.NAdam([weight], lr=0.5, differentiable=True)
        weight.grad = torch.tensor([0.7, 0.4], dtype=torch.float64)
        optimizer.state[weight] = {
            "step": torch.tensor(10.0),
            "mu_product": product.clone(),
            "exp_avg": mean.clone(),
            "exp_avg_sq": square.clone(),
        }
        optimizer.step()
        return weight

    given = [torch.tensor([0.3, 0.8], dtype=torch.float64) for _ in range(3)]
    given.append(torch.tensor(0.6, dtype=torch.float64))
    assert torch.autograd.gradcheck(stepped, [each.requires_grad_() for each in given])


def test_others_take_leaves_alone() -> None:
    weight = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        optim.SGD([weight], lr=0.1)
    weight.retain_grad()
    assert len(optim.SGD([weight], lr=0.1).param_groups) == 1
