"""Changing in place what an array is: its sizes, strides and memory.

`x.t_()`, `x.resize_(...)` and `x.set_(...)` change a tensor that others hold.  The machine's
tensors are bare arrays, and NumPy lets no array change into any other.  `become` exchanges the
contents of two array objects: all fields of NumPy's array structure but the ones that belong to
the Python object (its header, weak references, exported buffers).  The layout of that structure is
part of NumPy's stable binary interface (`PyArrayObject_fields` in its C reference).
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np

from .dtype import Array
from .errors import OperatorError

__all__ = ["become"]

_WORD: Final = ctypes.sizeof(ctypes.c_void_p)
_HEAD: Final = object.__basicsize__
_CONTENTS: Final = _HEAD, 7 * _WORD
"""Data, number of dimensions, sizes, strides, base, dtype and flags: where they begin and end."""

_HANDLER: Final = _HEAD + 9 * _WORD, _WORD
"""The allocator of the data."""


def _exchange(a: Array, b: Array) -> None:
    for offset, size in (_CONTENTS, _HANDLER):
        first, second = id(a) + offset, id(b) + offset
        kept = ctypes.string_at(first, size)
        ctypes.memmove(first, second, size)
        ctypes.memmove(second, kept, size)


class _Memory:
    """What an array lies in that was changed: an address, and the objects that keep it alive."""

    def __init__(self, like: Array, base: Any, kept: Any) -> None:
        address = like.__array_interface__["data"][0]
        word = f"|V{like.itemsize}"
        self.base = base
        self.kept = kept
        self.__array_interface__ = {
            **{"version": 3, "typestr": word, "data": (address, False)},
            **{"shape": like.shape, "strides": like.strides},
        }


def _owner(array: Array) -> Any:
    """The object that the memory of an array belongs to."""
    owner: Any = array
    while getattr(owner, "base", None) is not None:
        owner = owner.base
    return owner


def become(array: Array, other: Array) -> Array:
    """Make `array` a view of `other`'s memory, of its sizes and strides; returned is `array`.

    Views that were made of `array` before stay what they are: its old memory lives as long as it.

    Raises:
        OperatorError: this NumPy has arrays of an unknown structure.
    """
    if np.ndarray.__basicsize__ != sum(_HANDLER):
        raise OperatorError("tensors of this NumPy version cannot be changed into others")
    emptied: Any = np.empty(0, np.uint8)
    root, kept = array.base, None
    before = getattr(root, "base", None)
    if isinstance(before, _Memory):
        root, kept = before.base, before.kept
    elif root is None:
        root = emptied  # which takes over the memory
    memory = (
        _Memory(other, root, kept)
        if _owner(other) is _owner(array)
        else _Memory(other, other, (root, kept))
    )
    view = np.asarray(memory).view(other.dtype)
    _exchange(array, emptied)
    _exchange(array, view)
    return array
