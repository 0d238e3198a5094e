"""Machine values with the tensors that they belong to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...tensors.tensor import Tensor

__all__ = ["lifted", "note_handles"]


def note_handles(handles: Sequence[object], known: dict[int, Tensor]) -> None:
    """Note which handles arrays have, also those in lists."""
    for handle in handles:
        if isinstance(handle, Tensor):
            known[id(handle._array)] = handle
        elif isinstance(handle, (list, tuple)):
            note_handles(handle, known)


def lifted(value: object, known: dict[int, Tensor]) -> object:
    """A machine value with the known handles in place of its arrays."""
    if isinstance(value, np.ndarray):
        handle = known.get(id(value))
        return Tensor._of(value) if handle is None else handle
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (int, float, str)):
        return [lifted(each, known) for each in value]
    return value
