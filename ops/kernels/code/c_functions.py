"""Functions of the C library, by their addresses: native code is given those, so that what is kept
of it on disk names none."""

from __future__ import annotations

import ctypes
from functools import cache

__all__ = ["c_function", "has_c_functions"]


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
