"""Who saved a tensor for gradients hears of a script that writes it, by whatever way the tensor
comes to the operator that does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

Tensor = torch.Tensor


class Holder(torch.nn.Module):
    def __init__(self, held: Tensor) -> None:
        super().__init__()
        self.held = held

    def forward(self, n: int) -> Tensor:
        y = self.held
        for _ in range(n):
            y = y.mul_(2)
        return y


def by_rounds(x: Tensor, n: int):
    y = x
    for _ in range(n):
        y = y.mul_(2)
    return y


def by_rounds_of_rounds(x: Tensor, n: int):
    y = x
    for _ in range(n):
        for _ in range(n):
            y = y.mul_(2)
    return y


def after_rounds(x: Tensor, y: Tensor, n: int):
    for _ in range(n):
        x, y = y, x
    return x.mul_(2)


def by_a_branch(x: Tensor, y: Tensor, n: int):
    z = y if n > 0 else x
    return z.mul_(2)


def in_lists(xs: list[Tensor], n: int):
    for x in xs:
        x.mul_(n)


def in_tuples(xs: tuple[Tensor, Tensor], n: int):
    y = xs[1]
    y.mul_(n)


def in_dicts(xs: dict[str, Tensor], n: int):
    for x in xs.values():
        x.mul_(n)


def by_views(x: Tensor, n: int):
    for row in x.unsqueeze(0):
        row.mul_(n)


WAYS: dict[Callable[..., Any], Callable[[Tensor, Tensor], tuple[Any, ...]]] = {
    by_rounds: lambda saved, other: (saved, 2),
    by_rounds_of_rounds: lambda saved, other: (saved, 1),
    after_rounds: lambda saved, other: (other, saved, 1),
    by_a_branch: lambda saved, other: (other, saved, 1),
    in_lists: lambda saved, other: ([other, saved], 2),
    in_tuples: lambda saved, other: ((other, saved), 2),
    in_dicts: lambda saved, other: ({"a": other, "b": saved}, 2),
    by_views: lambda saved, other: (saved, 2),
}
"""Functions that write, and what they are given of a tensor that was saved and another."""


def walked_after(write: Callable[[Tensor, Tensor], object]) -> None:
    leaf = torch.ones(3, requires_grad=True)
    saved = leaf.exp()
    with torch.no_grad():
        write(saved.detach(), torch.ones(3))
    saved.sum().backward()


@pytest.mark.parametrize("function", WAYS)
def test_the_walk_back_is_refused(function: Callable[..., Any]) -> None:
    scripted = torch.jit.script(function)
    for _ in range(3):  # by the machine, by a plan, by a call that was learned
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            walked_after(lambda *two: scripted(*WAYS[function](*two)))
        walked_after(lambda saved, other: scripted(*WAYS[function](other.clone(), other)))


def test_the_walk_back_is_refused_of_what_modules_hold() -> None:
    module = torch.jit.script(Holder(torch.ones(3)))
    for _ in range(3):

        def write(saved: Tensor, other: Tensor) -> None:
            module.held = saved
            module(2)

        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            walked_after(write)
