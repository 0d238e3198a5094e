"""The keys of `tensor[...]`: what they hold in place of tensors, and who is asked about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from .differentiable import Differentiable
from .indexing import BASIC
from .overriding import PLAIN, asks

__all__ = ["AsksError", "is_several", "without_tensors"]

_INDICES: Final = (Differentiable, list, tuple, np.ndarray, slice, type(None), type(Ellipsis))


def is_several(key: Sequence[object]) -> bool:
    """Whether a list stands for one index a dimension, as a short one does that holds indices."""
    return len(key) < 32 and any(isinstance(part, _INDICES) for part in key)


class AsksError(Exception):
    """The class of a part of a key is to be asked."""


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
