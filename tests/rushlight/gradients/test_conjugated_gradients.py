"""Gradients and directions that are views of conjugated or negated elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
import rushlight.autograd.forward_ad as forward

Make = Callable[[torch.Tensor], torch.Tensor]

VIEWS: dict[str, Make] = {
    "conj": lambda z: z.conj(),
    "neg": lambda z: z._neg_view(),
    "both": lambda z: z.conj()._neg_view(),
}


def numbers(requires_grad: bool = False) -> torch.Tensor:
    return torch.tensor([1 + 2j, 3 - 1j], requires_grad=requires_grad)


def others() -> torch.Tensor:
    return torch.tensor([0.5 + 1j, 2 - 3j])


def as_numbers(z: torch.Tensor) -> torch.Tensor:
    return z.resolve_conj().resolve_neg()


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_they_are_where_a_walk_begins(view: Make) -> None:
    x, given = numbers(True), view(others())
    y = x * x
    (wanted,) = torch.autograd.grad(y, x, as_numbers(given), retain_graph=True)
    (found,) = torch.autograd.grad(y, x, given, create_graph=True)
    y.backward(given)
    assert torch.equal(found, wanted)
    assert torch.equal(x.grad, wanted)
    z = x.real * 3
    z.backward(view(others()).imag)
    assert torch.equal(x.grad - wanted, 3 * as_numbers(given).imag + 0j)


class Turned(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return (grad * 2).conj()


def test_functions_and_hooks_give_them() -> None:
    x, given = numbers(True), others()
    Turned.apply(x * 1).backward(given)
    assert torch.equal(x.grad, (given * 2).conj().resolve_conj())
    for hooked in (x, x * 1):
        x.grad = None
        hook = hooked.register_hook(lambda grad: grad.conj())
        (hooked * 2).backward(given)
        assert torch.equal(x.grad.resolve_conj(), (given * 2).conj().resolve_conj())
        hook.remove()


def test_optimizers_take_them() -> None:
    x, like = numbers(True), numbers(True)
    x.grad, like.grad = others().conj(), others().conj().resolve_conj()
    for each in (x, like):
        torch.optim.SGD([each], 0.1).step()
    assert torch.equal(x, like)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("other", VIEWS.values(), ids=VIEWS)
def test_tensors_and_directions_are_such_views(view: Make, other: Make) -> None:
    x, way = view(numbers()), other(others())
    made = []
    for at, along in ((x, way), (as_numbers(x), as_numbers(way))):
        with forward.dual_level():
            dual = forward.make_dual(at, along)
            for result in (dual * dual, dual.imag, dual.conj() * 1):
                made.append(forward.unpack_dual(result))
    for found, wanted in zip(made[:3], made[3:], strict=True):
        assert torch.equal(found.primal, wanted.primal)
        assert torch.equal(found.tangent, wanted.tangent)
    assert torch.equal(torch.func.jvp(lambda z: z * z, (x,), (way,))[1], made[0].tangent)


def test_directions_are_there_after_a_walk_back() -> None:
    x = numbers(True)
    with forward.dual_level():
        y = (forward.make_dual(x, others()) ** 2).real.sum()
        y.backward()
        tangent = forward.unpack_dual(y).tangent
        assert tangent.item() == 2 * (numbers() * others()).real.sum().item()
        assert forward.unpack_dual(tangent).tangent is None
    assert torch.equal(x.grad, 2 * numbers().conj().resolve_conj())
