"""Changing in place what an array is: its sizes, strides and memory.

`x.t_()`, `x.resize_(...)` and `x.set_(...)` change a tensor that others hold.  The machine's
tensors are bare arrays, and NumPy lets no array change into any other.  `become` hands on the
contents of array objects: all fields of NumPy's array structure but the ones that belong to
the Python object (its header, weak references, exported buffers).  The layout of that structure is
part of NumPy's stable binary interface (`PyArrayObject_fields` in its C reference).
"""

from __future__ import annotations

import ctypes
import sys
from threading import get_ident
from types import FrameType
from typing import Final

import numpy as np

from ...frontend.foundations.loaded_names import loaded_name
from ...frontend.foundations.locks import after_fork, fork_safe_lock
from .dtype import Array
from .errors import OperatorError

__all__ = ["CHANGEABLE", "Owned", "become", "stand_by"]

_WORD: Final = ctypes.sizeof(ctypes.c_void_p)
_HEAD: Final = object.__basicsize__
_CONTENTS: Final = ctypes.c_char * (7 * _WORD)
"""Data, number of dimensions, sizes, strides, base, dtype and flags."""

_HANDLER: Final = ctypes.c_char * _WORD
"""The allocator of the data."""

_BEFORE_HANDLER: Final = _HEAD + 9 * _WORD
"""Between the two: weak references and exported buffers, which stay with the object."""

CHANGEABLE: Final[set[type]] = {np.ndarray}
"""The classes of arrays that `become` may change: nothing else begins with that structure."""

_LOCK: Final = fork_safe_lock()


def _hand_on(array: Array, was: Array, other: Array) -> None:
    """Make `array` what `other` is, and `was` what `array` was; `other` becomes what `was` was.

    From the first read to the last write nothing is called and no object is made that Python
    collects, so that no other thread sees a part of it.
    """
    every = [id(each) + _HEAD for each in (array, was, other)]
    first, second, third = map(_CONTENTS.from_address, every)
    its, past, new = (_HANDLER.from_address(each - _HEAD + _BEFORE_HANDLER) for each in every)
    contents, handler = first.raw, its.raw
    first.raw = third.raw
    its.raw = new.raw
    third.raw = second.raw
    new.raw = past.raw
    second.raw = contents
    past.raw = handler


class Owned:
    """What an array lies in that was changed: an address, and the objects that keep it alive.

    `kept` is what the array was when views of it were made, `passing` what another thread may still
    be reading.
    """

    __slots__ = ("__array_interface__", "base", "kept", "passing")

    def __init__(self, like: Array, base: object, kept: object, passing: object) -> None:
        address = like.__array_interface__["data"][0]
        word = f"|V{like.itemsize}"
        self.base = base
        self.kept = kept
        self.passing = passing
        self.__array_interface__ = {
            **{"version": 3, "typestr": word, "data": (address, not like.flags.writeable)},
            **{"shape": like.shape, "strides": like.strides},
            "descr": [("", word)],  # without, NumPy 2.1.0 crashes
        }


_PACKAGE: Final = __name__.partition(".")[0]


def _is_amid(frame: FrameType | None) -> bool:
    """Whether a thread has called anything of this package that has not come back."""
    while frame is not None:
        if loaded_name(frame.f_globals).partition(".")[0] == _PACKAGE:
            return True
        frame = frame.f_back
    return False


_BYSTANDERS: Final[set[int]] = set()
after_fork(_BYSTANDERS.clear)


def stand_by() -> None:
    """This thread of ours never touches a tensor, as long as it lives."""
    _BYSTANDERS.add(get_ident())


def _may_be_read() -> bool:
    """Whether another thread might be amid an operation on the array that changes."""
    others = sys._current_frames()
    for thread in (get_ident(), *_BYSTANDERS):
        others.pop(thread, None)
    return any(map(_is_amid, others.values()))


def _check(array: object) -> None:
    if type(array) not in CHANGEABLE:
        raise TypeError(f"a {type(array).__name__} cannot be changed into another tensor")
    if np.ndarray.__basicsize__ != _BEFORE_HANDLER + _WORD:
        raise OperatorError("tensors of this NumPy version cannot be changed into others")


def _under(base: object) -> Owned | None:
    """What an array lies in whose base this is, if it was changed."""
    found = getattr(base, "base", None)
    return found if isinstance(found, Owned) else None


def _leads_to(array: Array, base: object) -> bool:
    """Whether what keeps memory alive is the array itself, or something that it keeps alive."""
    while base is not None and base is not array:
        base = getattr(base, "base", None)
    return base is array


def become(array: Array, other: Array) -> Array:
    """Make `array` a view of `other`'s memory, of its sizes and strides; returned is `array`.

    Views that were made of `array` before stay what they are: the memory that belonged to it lives
    as long as it.  So does any memory that another thread may be reading.

    Raises:
        OperatorError: this NumPy has arrays of an unknown structure.
        TypeError: one of the two is no array but a number of NumPy's, or of another class.
    """
    _check(array)
    _check(other)
    with _LOCK:
        seen = other[...]  # which nobody else can change
        before, under = _under(array.base), _under(seen.base)
        was: Array = np.empty(0, np.uint8)  # it gets what the array was
        kept = None if before is None else before.kept
        if array.base is None or type(array) is not np.ndarray:
            kept = (kept, was)
        root = under.base if under is not None else seen.base
        base = was if _leads_to(array, root) else root
        memory = np.asarray(Owned(seen, base, kept, was if _may_be_read() else None))
        view = memory.view(other.dtype)
        _hand_on(array, was, view)
    return array
