"""Functions of the C library, by their addresses: native code is given those, so that what is kept
of it on disk names none."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

from ..language.text import DOUBLE, Value

__all__ = ["c_function", "called_at", "has_c_functions"]


@cache
def c_function(name: str) -> int:
    """The address of a function.

    Raises:
        AttributeError: this system's C library lacks it.
    """
    function = getattr(ctypes.CDLL(None), name)
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def has_c_functions(*names: str) -> bool:
    """Whether they can be found."""
    try:
        return all(map(c_function, names))
    except (AttributeError, OSError, TypeError):  # the last where a program has no names of its own
        return False


def called_at(address: Value, values: Sequence[Value]) -> Value:
    """What a function at an address gives, a float64."""
    given = ", ".join(f"{value.kind} {value.name}" for value in values)
    return address.code.let(DOUBLE, f"call double {address.name}({given})")
