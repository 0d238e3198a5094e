"""Arrays that take up addresses and no memory: all they hold is zeros, which nobody can change."""

from __future__ import annotations

import mmap
from collections.abc import Sequence

import numpy as np

from .dtype import Array, Dtype
from .errors import OperatorError
from .storage import contiguous_strides, view_of

__all__ = ["reserved"]

_BYTES = np.dtype(np.uint8)


def reserved(sizes: Sequence[int], dtype: Dtype, strides: Sequence[int] | None = None) -> Array:
    """An array of these sizes over pages that the system has promised and never filled.

    Args:
        sizes: of the array.
        dtype: of its elements, of any size.
        strides: in bytes, none of them negative; as a contiguous array lies if there are none.

    Raises:
        OperatorError: so much cannot be addressed.
    """
    if strides is None:
        strides = [step * dtype.itemsize for step in contiguous_strides(tuple(sizes))]
    if not all(sizes):
        return view_of(np.empty(dtype.itemsize, _BYTES), sizes, strides, 0, dtype)
    reach = sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    memory = np.frombuffer(_pages(reach + dtype.itemsize), _BYTES)
    return view_of(memory, sizes, strides, 0, dtype, writeable=False)


def _pages(length: int) -> mmap.mmap:
    """Private pages that may only be read: the system lends its page of zeros for all of them."""
    try:
        if hasattr(mmap, "MAP_ANONYMOUS"):
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            return mmap.mmap(-1, length, flags=flags, prot=mmap.PROT_READ)
        return mmap.mmap(-1, length, access=mmap.ACCESS_READ)
    except (OSError, OverflowError, ValueError) as error:
        raise OperatorError(f"no addresses for a meta tensor of {length} bytes: {error}") from None
