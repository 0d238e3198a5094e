"""Functions of sizes that torch's tracers leave open (`torch.sym_int`): sizes are numbers here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .ops.tensors.overriding import ask_for, asks
from .ops.tensors.tensor import Tensor

__all__ = [
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
]


def sym_int(a: float | Tensor) -> int:
    """A number without its fraction."""
    if asks(a):
        return ask_for(sym_int, locals())
    return int(a)


def sym_float(a: float | Tensor) -> float:
    """A number as a float."""
    if asks(a):
        return ask_for(sym_float, locals())
    return float(a)


def sym_not(a: object) -> bool:
    """What is not so."""
    if asks(a):
        return ask_for(sym_not, locals())
    return not a


def sym_max(a: int | float, b: int | float) -> int | float:
    """The larger number; a float if either is one."""
    found = max(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_min(a: int | float, b: int | float) -> int | float:
    """The smaller number; a float if either is one."""
    found = min(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_ite(b: bool, t: object, f: object) -> Any:
    """`t` if `b`, else `f`.

    Raises:
        AssertionError: `b` is no bool, or the other two are of different types.
    """
    if asks(b):
        return ask_for(sym_ite, locals())
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return t if b else f


def sym_sqrt(a: float | Tensor) -> float:
    """The square root.

    Raises:
        ValueError: the number is negative.
    """
    if asks(a):
        return ask_for(sym_sqrt, locals())
    return math.sqrt(a)


def sym_sum(*args: object) -> Any:
    """The sum of numbers, which may come as one list."""
    numbers: Sequence[object] = (
        args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    )
    return sum(numbers)
