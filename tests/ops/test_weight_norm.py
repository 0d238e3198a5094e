"""Weights given by a direction and a length for each slice, and their gradients."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

CASES = [((5, 4, 3), (5, 1, 1), 0), ((5, 4), (1, 4), 1), ((5, 4), (4,), 1), ((5, 3), (), -1)]
"""Sizes of direction and length, and the dimension of the slices."""


def _plainly(v: Any, g: Any, dim: int) -> Any:
    others = [each for each in range(v.ndim) if dim == -1 or each != dim]
    norms = v.square().sum(others, True).sqrt()
    return v * (g.reshape(norms.shape) / norms)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("sizes", "lengths", "dim"), CASES)
def test_weights_and_gradients_are_those_of_the_formula(
    sizes: tuple[int, ...], lengths: tuple[int, ...], dim: int, dtype: torch.dtype
) -> None:
    torch.manual_seed(1)
    for _ in range(6):  # the first calls, and those that are learned
        v = torch.randn(sizes, dtype=dtype, requires_grad=True)
        g = torch.rand(lengths, dtype=dtype).requires_grad_()
        made, grad = torch._weight_norm(v, g, dim), torch.randn(sizes, dtype=dtype)
        found = torch.autograd.grad(made, (v, g), grad, retain_graph=True)
        wide = [each.detach().double().requires_grad_() for each in (v, g)]
        wanted = _plainly(*wide, dim)
        torch.testing.assert_close(made.double(), wanted)
        for one, other in zip(found, torch.autograd.grad(wanted, wide, grad.double()), strict=True):
            assert one.dtype is dtype
            torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-6)
        for one, other in zip(
            torch.autograd.grad(made, (v, g), grad, create_graph=True), found, strict=True
        ):
            torch.testing.assert_close(one.detach(), other, rtol=1e-5, atol=1e-6)


def test_first_and_later_calls_have_the_same_bits() -> None:
    torch.manual_seed(2)
    v, g = torch.randn(6, 5, 3, requires_grad=True), torch.rand(6, 1, 1).requires_grad_()
    grad, seen = torch.randn(6, 5, 3), set()
    scripted = torch.jit.script(by_weight_norm)
    for _ in range(6):
        for function in (torch._weight_norm, scripted):
            made = function(v, g, 0)
            found = (made.detach(), *torch.autograd.grad(made, (v, g), grad))
            seen.add(b"".join(each.numpy().tobytes() for each in found))
    assert len(seen) == 1


def by_weight_norm(v: torch.Tensor, g: torch.Tensor, dim: int) -> torch.Tensor:
    return torch._weight_norm(v, g, dim)


def test_slices_without_a_length() -> None:
    v = torch.zeros(2, 3, requires_grad=True)
    v.data[0] = 1.0
    g = torch.ones(2, 1, requires_grad=True)
    made = torch._weight_norm(v, g, 0)
    assert made[1].isnan().all()
    torch.testing.assert_close(made[0], torch.full((3,), 1 / 3**0.5))
