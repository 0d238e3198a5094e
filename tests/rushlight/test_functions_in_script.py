"""`autograd.Function`s are called by scripts: Python does it, so that archives cannot hold them."""

from __future__ import annotations

import io
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor


class Steep(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, by: float = 3.0) -> Tensor:
        ctx.by = by
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return g * ctx.by, None


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, one: Tensor, other: Tensor) -> Tensor:
        return one * 2 + other * 3


applied = Steep.apply


def steep(x: Tensor, by: float):
    return Steep.apply(x, by) + applied(x)


def both(x: Tensor):
    one, other = Both.apply(x)
    return one + other


def test_gradients_are_those_of_the_function() -> None:
    x = torch.ones(2, requires_grad=True)
    torch.jit.script(steep)(x, 5.0).sum().backward()
    assert x.grad.tolist() == [8.0, 8.0]


def test_as_many_results_as_are_unpacked() -> None:
    scripted = torch.jit.script(both)
    assert "(Tensor, Tensor) = ^Both[]()(" in str(scripted.graph)
    x = torch.ones(2, requires_grad=True)
    scripted(x).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_modules_with_such_a_function() -> None:
    class Scaled(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return Steep.apply(x)

    scripted = torch.jit.script(Scaled())
    assert "^Steep[]()(%x" in str(scripted.graph)
    with pytest.raises(RuntimeError, match="Could not export Python function call 'Steep'"):
        torch.jit.save(scripted, io.BytesIO())


def test_instances_are_not_made() -> None:
    def made(x: Tensor):
        return Steep(x)

    with pytest.raises(RuntimeError, match="cannot be used as a value"):
        torch.jit.script(made)
