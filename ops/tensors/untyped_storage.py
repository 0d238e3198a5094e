"""The memory of tensors as bytes."""

from __future__ import annotations

import numpy as np

from ..memory.dtype import Array
from ..memory.storage import storage_of

__all__ = ["Storage"]


class Storage:
    """The memory of a tensor: its address and size."""

    __slots__ = ("_owner", "_size")

    def __init__(self, array: Array) -> None:
        owner, _, count = storage_of(array)
        self._owner = owner
        self._size = count * array.itemsize

    def data_ptr(self) -> int:
        """The address."""
        return int(np.lib.array_utils.byte_bounds(self._owner)[0]) if self._size else 0

    def nbytes(self) -> int:
        """The bytes."""
        return self._size

    def size(self) -> int:
        """The bytes."""
        return self._size

    def __len__(self) -> int:
        return self._size
