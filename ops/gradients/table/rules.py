"""Formulas and how they read what they need, and what is known of a tensor that is not kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from ...kernels import is_half
from ...memory.dtype import Array, DType, of_numpy
from ...memory.storage import strides_of
from ...table.grad_mode import is_recording
from ...tensors.overriding import PLAIN, STATE
from ...tensors.tensor import Tensor

__all__ = [
    *("Call", "Meta", "Rule"),
    *("are_wide", "computed_wide", "is_by_columns", "is_narrow", "is_unheard", "is_unwatched"),
    *("rounded_once", "widened"),
]

F = TypeVar("F", bound=Callable[..., Any])

Call = Callable[[Any, list[Tensor | None]], Any]
"""A formula that reads what it needs from a node and the gradients of its results."""


def is_unheard() -> bool:
    """Whether gradients may be computed without operators: they are not differentiated, and nobody
    listens to operators."""
    return not is_recording() and STATE.below is None


def is_unwatched() -> bool:
    """Whether nobody listens to operators: what is made of others may be put in their place."""
    return STATE.below is None


def are_wide(*tensors: Tensor) -> bool:
    """Whether they are floats that are not rounded after each of several steps."""
    for each in tensors:  # noqa: SIM110 - a generator would take longer than all else here
        if each._array.dtype.char not in "fd":
            return False
    return True


def is_narrow(tensor: object) -> bool:
    """Whether a value is a tensor of 16-bit floats."""
    return isinstance(tensor, Tensor) and type(tensor) in PLAIN and is_half(tensor._array.dtype)


def widened(*values: Any) -> tuple[Any, ...]:
    """The values, tensors of 16-bit floats in float32."""
    return tuple(each.float() if is_narrow(each) else each for each in values)


def rounded_once(formula: F) -> F:
    """A formula that computes gradients of 16-bit floats in float32, which are rounded where they
    are fitted to their tensors: so do kernels that stand for several operators."""

    @wraps(formula)
    def form(g: object, *args: object, **given: object) -> Any:
        if not is_narrow(g):
            return formula(g, *args, **given)
        named = dict(zip(given, widened(*given.values()), strict=True))
        return formula(*widened(g, *args), **named)

    return form  # type: ignore[return-value]


def computed_wide(composite: F) -> F:
    """A composite that computes in float32 what it does of 16-bit floats; its first result has
    their dtype, as others may have."""

    @wraps(composite)
    def form(input: Array, *args: object, **given: object) -> Any:
        if not is_narrow(input):
            return composite(input, *args, **given)
        named = dict(zip(given, widened(*given.values()), strict=True))
        found = composite(*widened(input, *args), **named)
        if type(found) is tuple:
            return (found[0].to(input.dtype), *found[1:])
        return found.to(input.dtype)

    return form  # type: ignore[return-value]


class Meta:
    """What is known of a tensor that is not kept; how it lay where that `is_read`."""

    __slots__ = ("columns", "kind", "sizes")

    def __init__(self, array: Array, is_read: bool = False) -> None:
        self.sizes: tuple[int, ...] = array.shape
        self.kind = array.dtype
        self.columns = is_read and is_by_columns(array)
        """Whether it was a matrix stored by columns."""

    @property
    def dtype(self) -> DType:
        """Its dtype."""
        return of_numpy(self.kind)


def is_by_columns(array: Array) -> bool:
    """Whether a matrix is stored by columns, one after the other."""
    if array.ndim != 2 or array.strides[0] != array.itemsize:
        return False
    return strides_of(array) == (1, array.shape[0])


class Rule:
    """A formula and how its parameters are read of `node` and `gs`, as texts by name."""

    def __init__(
        self, formula: Callable[..., object], readers: dict[str, str], of_operators: bool = True
    ) -> None:
        self.formula = formula
        self.of_operators = of_operators
        self.may_be_used = is_unwatched if of_operators else is_unheard
        self.readers = readers
        names = [] if formula is dict else list(signature(formula).parameters)
        first = next((i for i, name in enumerate(names) if name not in readers), len(names))
        given = [readers[name] for name in names[:first]]
        given += [f"{name}={text}" for name, text in readers.items() if name not in names[:first]]
        self.reads = ", ".join(given)
        found = re.findall(r"node\.(?:value|kept)\((\d+)\)", self.reads)
        self.places = {int(number) for number in found}
        text = f"lambda node, gs: formula({self.reads})"  # all our own
        self.call: Call = eval(text, {"__builtins__": {}, "formula": formula})


def part_of(made: Any, inner: int | None) -> Any:
    """A gradient, or the one of several that has that number."""
    return made if inner is None or made is None else made[inner]
