"""Memory that becomes larger: what lies in it moves with it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

import numpy as np

from ...frontend.foundations.port import Port
from .dtype import Array
from .errors import OperatorError
from .storage import is_resizable, memory_of, storage_of
from .versions import moved

__all__ = ["FOLLOWING", "grown"]

FOLLOWING: Final[Port[Callable[[Array, Array, Array], None]]] = Port()
"""Has tensors and storages over memory (the array that holds it, and its bytes) lie in larger
memory, at the same places."""

_HOLDERS: Final = 3
"""The references to what only one array lies in, while this is found out."""


def grown(array: Array, size: int) -> Array:
    """The storage of an array as a vector of bytes, once it has been given so many.

    Views that a script alone holds keep the memory that there was.

    Raises:
        OperatorError: it is borrowed memory.
    """
    if not is_resizable(array):
        raise OperatorError("Trying to resize storage that is not resizable")
    is_alone = _is_alone(array)
    holder, memory = storage_of(array)[0], memory_of(array)
    fresh = np.empty(size, np.uint8)
    fresh[: memory.size] = memory
    fresh[memory.size :] = 0
    moved(array, fresh)
    if FOLLOWING.installed is not None and not is_alone:
        FOLLOWING.installed(holder, memory, fresh)
    return fresh


def _is_alone(array: Array) -> bool:
    """Whether nothing else is known to lie in the memory of an array that holds none itself, as one
    does that has grown: then nobody need be looked for, which takes milliseconds."""
    lies_in: Array | None = array.base
    is_array = False
    while lies_in is not None:
        if sys.getrefcount(lies_in) > _HOLDERS:
            return False
        is_array = type(lies_in) is np.ndarray
        lies_in = lies_in.base
    return is_array
