"""One number, or one for each dimension, and what these functions are in script.

In script an argument annotated `BroadcastingList2[int]` is a list in any case; so the functions
that make tuples of numbers have nothing to do there.
"""

# The functions that script takes for others give the lists that it is given.
# mypy: disable-error-code="return-value"
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .broadcasting import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    BroadcastingList4,
)

__all__ = [
    "Sizes",
    "annotate",
    "declares",
    "in_script",
    "is_scripting",
    "list_with_default",
    "pair",
    "pair_of_floats",
    "quadruple",
    "reversed_twice",
    "scripted_as",
    "single",
    "triple",
    "triple_of_floats",
]

Function = TypeVar("Function", bound=Callable[..., object])

if TYPE_CHECKING:
    Sizes = Sequence[int]
else:
    Sizes = list[int]  # which script reads; Python takes any sequence


def in_script(
    other: Callable[..., object] | tuple[Callable[..., object], ...] | str,
) -> Callable[[Function], Function]:
    """Say what script takes the decorated function for: another one, the first of several that
    fits, or a form or an operator by its name."""

    def mark(function: Function) -> Function:
        function._in_script = other  # type: ignore[attr-defined]
        return function

    return mark


def scripted_as(other: Callable[..., object]) -> Callable[[Function], Function]:
    """Say which function script compiles, and calls by its name, in the decorated one's place."""

    def mark(function: Function) -> Function:
        function._scripted_as = other  # type: ignore[attr-defined]
        return function

    return mark


def declares(*signatures: Callable[..., object]) -> Callable[[Function], Function]:
    """Say by which signatures script knows the decorated function."""

    def mark(function: Function) -> Function:
        function._signatures = signatures  # type: ignore[attr-defined]
        return function

    return mark


def _same(x: BroadcastingList1[int]) -> list[int]:
    return x


def _same_float(x: BroadcastingList1[float]) -> list[float]:
    return x


def _same_two(x: BroadcastingList2[int]) -> list[int]:
    return x


def _same_two_floats(x: BroadcastingList2[float]) -> list[float]:
    return x


def _same_three(x: BroadcastingList3[int]) -> list[int]:
    return x


def _same_three_floats(x: BroadcastingList3[float]) -> list[float]:
    return x


def _same_four(x: BroadcastingList4[int]) -> list[int]:
    return x


def _same_four_floats(x: BroadcastingList4[float]) -> list[float]:
    return x


def _same_floats(x: list[float]) -> list[float]:
    return x


def _same_sizes(out_size: list[int], defaults: list[int]) -> list[int]:
    assert len(defaults) > len(out_size)
    return out_size


@in_script((_same, _same_float))
def single(x: object) -> tuple[Any, ...]:
    """`(x,)`, or the elements of `x`."""
    return tuple(x) if isinstance(x, Iterable) else (x,)


@in_script((_same_two, _same_two_floats))
def pair(x: object) -> tuple[Any, ...]:
    """`(x, x)`, or the elements of `x`."""
    return tuple(x) if isinstance(x, Iterable) else (x, x)


@in_script((_same_three, _same_three_floats))
def triple(x: object) -> tuple[Any, ...]:
    """`(x, x, x)`, or the elements of `x`."""
    return tuple(x) if isinstance(x, Iterable) else (x, x, x)


@in_script((_same_four, _same_four_floats))
def quadruple(x: object) -> tuple[Any, ...]:
    """`(x, x, x, x)`, or the elements of `x`."""
    return tuple(x) if isinstance(x, Iterable) else (x, x, x, x)


@in_script(_same_floats)
def pair_of_floats(x: float | Iterable[float]) -> tuple[float, ...]:
    """`pair` of numbers that are no sizes."""
    return pair(x)


@in_script(_same_floats)
def triple_of_floats(x: float | Iterable[float]) -> tuple[float, ...]:
    """`triple` of numbers that are no sizes."""
    return triple(x)


@in_script(_same_sizes)
def list_with_default(
    out_size: int | Sequence[int | None], defaults: Sequence[int]
) -> int | list[int]:
    """The sizes, with those that are None taken from the end of `defaults`.

    Raises:
        ValueError: there are not more defaults than sizes.
    """
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    last = defaults[len(defaults) - len(out_size) :]
    return [v if v is not None else d for v, d in zip(out_size, last, strict=True)]


def reversed_twice(x: Iterable[int]) -> tuple[int, ...]:
    """The elements from the last to the first, each two times: what `pad` wants of `padding`."""
    return tuple(value for value in reversed(list(x)) for _ in range(2))


@in_script("annotate")
def annotate(the_type: object, the_value: object) -> Any:
    """A value with its type for script."""
    return the_value


@in_script("is_scripting")
def is_scripting() -> bool:
    """Whether the code is being compiled; False when Python runs it."""
    return False
