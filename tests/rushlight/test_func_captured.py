"""What functions under `torch.func` may write: what they made themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.memory.inference import handler_name
from rushlight.ops.memory.made_since import WATCHED, Since

Function = Callable[..., torch.Tensor]


def x() -> torch.Tensor:
    return torch.tensor([2.0, 3.0])


WRITES: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    "mul_": lambda w, x: w.mul_(x),
    "add_": lambda w, x: w.add_(1),
    "copy_": lambda w, x: w.copy_(x),
    "item": lambda w, x: w.__setitem__(0, x[0]),
    "number": lambda w, x: w.__setitem__(0, 5.0),
    "view": lambda w, x: w[1:].zero_(),
}
TRANSFORMS: dict[str, Callable[[Function], object]] = {
    "grad": lambda f: torch.func.grad(f)(x()),
    "grad_and_value": lambda f: torch.func.grad_and_value(f)(x()),
    "vjp": lambda f: torch.func.vjp(f, x()),
    "jvp": lambda f: torch.func.jvp(f, (x(),), (x(),)),
    "jacrev": lambda f: torch.func.jacrev(f)(x()),
    "inner": lambda f: torch.func.grad(lambda a: torch.func.grad(f)(a).sum())(x()),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("write", WRITES)
def test_captured_tensors_are_not_written(write: str, transform: str) -> None:
    w = torch.ones(2)

    def function(a: torch.Tensor) -> torch.Tensor:
        WRITES[write](w, a)
        return (w * a).sum()

    with pytest.raises(RuntimeError, match="that would mutate a captured Tensor"):
        TRANSFORMS[transform](function)
    assert not w.requires_grad
    WRITES[write](w, x())  # outside anybody may


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("write", WRITES)
def test_what_a_function_made_may_be_written(write: str, transform: str) -> None:
    def function(a: torch.Tensor) -> torch.Tensor:
        w = torch.ones(2)
        v = a * 1
        WRITES[write](w, a)
        WRITES[write](v, a)
        return (w * v * a).sum()

    TRANSFORMS[transform](function)


def test_many_transforms_know_what_is_older() -> None:
    kept: list[torch.Tensor] = []

    def function(a: torch.Tensor) -> torch.Tensor:
        if kept:
            kept[-1].mul_(a)
        kept.append(torch.ones(2))
        return (a * a).sum()

    torch.func.grad(function)(x())
    for _ in range(3):
        with pytest.raises(RuntimeError, match="that would mutate a captured Tensor"):
            torch.func.grad(function)(x())


def test_memory_is_made_as_before_behind_a_function() -> None:
    before = handler_name(np.empty(3))
    with Since((), "refused"):
        assert handler_name(np.empty(3)) != before
    assert handler_name(np.empty(3)) == before
    assert not WATCHED


def test_nothing_is_looked_at_where_memory_is_made_in_another_way() -> None:
    with torch.inference_mode():
        inference = handler_name(np.empty(3))
        with Since((), "refused"):
            assert not WATCHED
            assert handler_name(np.empty(3)) == inference
