"""Gradients of losses are those of the formulas that the losses stand for: of each reduction, with
operands that meet, of nothing, and in 16 bits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.nn import functional as F

Tensor = torch.Tensor
Loss = Callable[..., Tensor]

LOSSES: dict[str, tuple[Loss, Loss]] = {
    "mse_loss": (F.mse_loss, lambda x, t: (x - t) * (x - t)),
    "l1_loss": (F.l1_loss, lambda x, t: (x - t).abs()),
    "smooth_l1_loss": (
        F.smooth_l1_loss,
        lambda x, t: torch.where((x - t).abs() < 1, 0.5 * (x - t) * (x - t), (x - t).abs() - 0.5),
    ),
    "huber_loss": (
        lambda x, t, reduction: F.huber_loss(x, t, reduction, 0.25),
        lambda x, t: torch.where(
            (x - t).abs() < 0.25, 0.5 * (x - t) * (x - t), 0.25 * ((x - t).abs() - 0.125)
        ),
    ),
    "kl_div": (F.kl_div, lambda x, t: t * (t.log() - x)),
    "kl_div of logarithms": (
        lambda x, t, reduction: F.kl_div(x, t, reduction=reduction, log_target=True),
        lambda x, t: t.exp() * (t - x),
    ),
    "soft_margin_loss": (F.soft_margin_loss, lambda x, t: (1 + (-t * x).exp()).log()),
    "binary_cross_entropy": (
        F.binary_cross_entropy,
        lambda x, t: -(t * x.log() + (1 - t) * (1 - x).log()),
    ),
    "binary_cross_entropy_with_logits": (
        F.binary_cross_entropy_with_logits,
        lambda x, t: (1 + x.exp()).log() - t * x,
    ),
    "poisson_nll_loss": (F.poisson_nll_loss, lambda x, t: x.exp() - t * x),
}
"""Each loss, and its formula for one element."""
ALIKE = ("binary_cross_entropy", "soft_margin_loss", "poisson_nll_loss")
"""Those whose operands have one shape, or whose formulas say so."""

SHAPES = [((3, 4), (3, 4)), ((3, 4), (4,)), ((4,), (3, 1)), ((0, 2), (0, 2))]
REDUCE: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda x: x.mean(),
    "sum": lambda x: x.sum(),
    "none": lambda x: (x * 2).sum(),
}


def leaf(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    count = 1
    for size in shape:
        count *= size
    numbers = torch.linspace(0.1, 0.9, count) if count else torch.zeros(0)
    return numbers.reshape(shape).to(dtype).requires_grad_()


@pytest.mark.filterwarnings("ignore:Using a target size", "ignore:reduction:")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_the_formula(
    name: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: torch.dtype
) -> None:
    if shapes[0] != shapes[1] and name.startswith(ALIKE):
        return
    loss, formula = LOSSES[name]
    rough = 2e-2 if dtype == torch.bfloat16 else 1e-5
    for reduction, reduce in REDUCE.items():
        for of_target in (False, True):
            x, t = leaf(shapes[0], dtype), leaf(shapes[1], dtype)
            other_x, other_t = x.detach().clone(), t.detach().clone()
            others = [other_x.requires_grad_()]
            given = [x]
            if of_target and name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
                given, others = [x, t], [other_x, other_t.requires_grad_()]
            else:
                t = t.detach()
            result = loss(x, t, reduction=reduction)
            (result * 2).sum().backward() if reduction == "none" else result.backward()
            reduce(formula(other_x, other_t)).backward()
            for one, other in zip(given, others, strict=True):
                assert one.grad is not None
                assert other.grad is not None
                assert one.grad.dtype == dtype
                assert torch.allclose(one.grad.double(), other.grad.double(), rough, rough)


@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss"])
@pytest.mark.parametrize("shapes", SHAPES[:3], ids=str)
def test_operators_themselves_let_operands_meet(
    name: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    rest = (1.0,) if name != "mse_loss" else ()
    grads = []
    for by_name in (True, False):
        x, t = leaf(shapes[0], torch.float32), leaf(shapes[1], torch.float32)
        if by_name:
            getattr(torch._C._nn, name)(x, t, 1, *rest).backward()
        else:
            LOSSES[name.replace("huber", "smooth_l1")][1](x, t).mean().backward()
        grads.append((x.grad, t.grad))
    for one, other in zip(*grads, strict=True):
        assert one is not None
        assert other is not None
        assert torch.allclose(one, other, 1e-5, 1e-6)
