"""How often memory was written in place: what gradients were promised must still be there."""

from __future__ import annotations

from typing import Any, Final
from weakref import ref

import numpy as np

from .dtype import Array

__all__ = ["owner_of", "version_of", "written"]

_COUNTS: Final[dict[int, list[Any]]] = {}
"""By the id of the array that owns the memory: [a weak reference to it, how often it was written].
Memory never written has no entry."""


def owner_of(array: Array) -> Array:
    """The array that the memory of an array belongs to: views of one tensor have one owner."""
    base: Any = array.base
    while base is not None:
        if isinstance(base, np.ndarray):
            array = base
        base = getattr(base, "base", None)
    return array


def version_of(array: Array) -> int:
    """How often the memory of an array was written in place."""
    found = _COUNTS.get(id(owner_of(array)))
    return 0 if found is None else int(found[1])


def written(array: Array) -> None:
    """Note that the memory of an array was written in place."""
    owner = array if array.base is None else owner_of(array)
    key = id(owner)
    found = _COUNTS.get(key)
    if found is None:
        gone = ref(owner, lambda _, key=key: _COUNTS.pop(key, None))  # type: ignore[misc]
        _COUNTS[key] = [gone, 1]
    else:
        found[1] += 1
