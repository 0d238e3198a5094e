"""What torch looks at first where several things are wrong, and how it sorts what has no order."""

from __future__ import annotations

import math
from typing import List, NamedTuple

import pytest

import rushlight as torch

# ruff: noqa: UP006, UP035


class Place(NamedTuple):
    x: int
    y: float = 1.5


def with_text(n: int):  # type: ignore[no-untyped-def]
    return Place("s")  # type: ignore[arg-type]


def test_constructors_of_named_tuples_are_told_without_a_result() -> None:
    with pytest.raises(RuntimeError, match=r"Place\(int x, float y=1.5\) -> \(\):"):
        torch.jit.script(with_text)


def falling(x: List[float], reverse: bool) -> List[float]:
    x.sort(reverse=reverse)
    return x


@pytest.mark.parametrize(
    ("given", "reverse", "told"),
    [
        ([0.5, math.nan], True, [math.nan, 0.5]),
        ([2.0, math.nan, 1.0], False, [1.0, 2.0, math.nan]),
        ([2.0, math.nan, 3.0, 2.5], False, [2.0, math.nan, 2.5, 3.0]),
    ],
)
def test_lists_with_a_nan_are_sorted_as_in_torch(
    given: List[float], reverse: bool, told: List[float]
) -> None:
    assert repr(torch.jit.script(falling)(given, reverse)) == repr(told)


def step(s: str) -> str:
    return s[::0]


def masked(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return x[mask]


def test_steps_and_masks_that_fit_nothing() -> None:
    with pytest.raises(RuntimeError, match="List slice should have non-zero step"):
        torch.jit.script(step)("abc")
    with pytest.raises(RuntimeError, match=r"in range of \[-1, 0\], but got 1"):
        torch.jit.script(masked)(torch.ones(3), torch.ones(3, 2) > 0)
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 1"):
        masked(torch.ones(3), torch.ones(3, 2) > 0)


@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide"])
def test_shapes_are_looked_at_before_dtypes_and_zeros(name: str) -> None:
    for dtype in (torch.bool, torch.int64):
        with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match"):
            getattr(torch, name)(torch.ones(3).to(dtype), torch.zeros(6).to(dtype))


def sure(x: int) -> int:
    assert x is not None, nonsense(1)  # noqa: F821
    return x


def test_the_message_of_an_assertion_that_holds_is_not_compiled() -> None:
    assert torch.jit.script(sure)(3) == 3


def in_parts(n: int):  # type: ignore[no-untyped-def]
    return torch.chunk(n, 2)  # type: ignore[arg-type]


def test_schemas_say_what_the_elements_of_a_list_share() -> None:
    with pytest.raises(RuntimeError, match=r"int dim=0\) -> Tensor\(a\)\[\]:"):
        torch.jit.script(in_parts)
    for dim, told in ((1, "but got 1"), (0, "tensor has no dimensions")):
        with pytest.raises(IndexError, match=told):
            torch.tensor(2.5).unbind(dim)
