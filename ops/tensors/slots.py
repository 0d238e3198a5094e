"""Where in a tensor its slots lie, for native code."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..memory.slots import places_within
from .tensor import Tensor

__all__ = ["slots_of_tensors"]


@cache
def slots_of_tensors() -> tuple[int, int, int] | None:
    """How far behind the beginning of a tensor its array lies, what says whether it wants
    gradients, and what it is a view of; None where one is not found."""
    array, marks = np.zeros(1), list[int]()
    tensor = Tensor._of(array)
    tensor._requires_grad = marks
    tensor._view_of = tensor
    found = places_within(tensor, (array, marks, tensor))
    tensor._view_of = None
    if found is None:
        return None
    at, wants, base = found
    return at, wants, base
