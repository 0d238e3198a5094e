"""The keys of `tensor[...]`: what they hold in place of tensors, and who is asked about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..memory.dtype import Array
from .differentiable import Differentiable
from .indexing import BASIC
from .overriding import PLAIN, asks

__all__ = ["AsksError", "is_plain", "is_several", "named_places", "without_tensors"]

_INDICES: Final = (Differentiable, list, tuple, np.ndarray, slice, type(None), type(Ellipsis))


def is_several(key: Sequence[object]) -> bool:
    """Whether a list stands for one index a dimension, as a short one does that holds indices."""
    return len(key) < 32 and any(isinstance(part, _INDICES) for part in key)


class AsksError(Exception):
    """The class of a part of a key is to be asked."""


def is_plain(key: object) -> bool:
    """Whether no class is asked about a key."""
    kind = type(key)
    return kind in PLAIN or (kind is tuple and PLAIN.issuperset(map(type, key)))  # type: ignore[call-overload]


def named_places(key: object, rank: int) -> list[Array | None] | None:
    """The index tensors of whole numbers that a key is made of, with None for dimensions before
    them that are taken as they are; None if something else is in it, or too much."""
    found: list[Array | None] = []
    for part in key if type(key) is tuple else (key,):
        kind = type(part)
        if kind is slice and part == _ALL:
            found.append(None)
            continue
        if kind in PLAIN and issubclass(kind, Differentiable):
            array = part._array
        elif kind is list and {*map(type, part)} == {int}:
            array = _of_ints(part)
        else:
            return None
        if array is None or array.dtype is not _INT64 or not array.ndim:
            return None
        found.append(array)
    while found and found[-1] is None:
        found.pop()
    return found if 0 < len(found) <= rank else None


def _of_ints(numbers: list[int]) -> Array | None:
    """The array of some whole numbers; None if they do not fit into 64 bits."""
    try:
        return np.array(numbers, _INT64)
    except OverflowError:
        return None


_ALL: Final = slice(None)
_INT64: Final = np.dtype(np.int64)


def without_tensors(key: object) -> object:
    """A key with arrays in place of tensors.

    Raises:
        AsksError: the class of a part is to be asked.
    """
    kind = type(key)
    if kind is int or kind is slice or (kind is tuple and BASIC.issuperset(map(type, key))):  # type: ignore[call-overload]
        return key
    if kind not in PLAIN and kind is not tuple and asks(key):
        raise AsksError
    if isinstance(key, Differentiable):
        return key._array
    if isinstance(key, (tuple, list)):
        return (tuple if isinstance(key, tuple) else list)(map(without_tensors, key))
    return key
