"""The bytes that storages are made of: of a size, of numbers, of a buffer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..memory.dtype import Array, DType

__all__ = ["bytes_of_buffer", "bytes_of_items", "checked_size"]


def checked_size(count: int) -> int:
    """A number of bytes.

    Raises:
        RuntimeError: it is negative.
    """
    if count < 0:
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to "
            f"have been called with negative number: {count % (1 << 64)}"
        )
    return count


def bytes_of_items(items: object) -> Array:
    """Whole numbers as bytes, of which the lowest eight bits count.

    Raises:
        RuntimeError: it is no sequence, or one of the items is no whole number.
    """
    kind = type(items).__name__
    if not isinstance(items, Sequence):
        raise RuntimeError(f"torch.UntypedStorage(): Expected a sequence type, but got {kind}")
    for item in items:
        if not isinstance(item, int):
            raise RuntimeError(
                f"torch.UntypedStorage(): tried to construct a storage from a sequence ({kind}), "
                f"but one of the items was of type {type(item).__name__} instead of int"
            )
    return np.array([item & 255 for item in items], np.uint8)


def bytes_of_buffer(
    buffer: Any, byte_order: str | None, count: int, offset: int, dtype: DType
) -> Array:
    """A copy of the bytes of elements in a buffer, as this machine has them.

    Raises:
        TypeError: it is no buffer.
        RuntimeError: elements have several bytes, and their order is not said.
        ValueError: the order is none, or the buffer has no such elements.
    """
    held, itemsize = memoryview(buffer).cast("B"), dtype.itemsize
    if itemsize == 1:
        byte_order = "native"  # whatever is said
    elif byte_order is None:
        raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
    if byte_order not in ("big", "little", "native"):
        raise ValueError(
            f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')"
        )
    if not 0 <= offset <= len(held):
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({len(held)}) , but "
            f"got {offset}"
        )
    if count < 0:
        if (len(held) - offset) % itemsize:
            raise ValueError(
                f"buffer size ({len(held)}) must be a multiple of element size ({itemsize})"
            )
        count = (len(held) - offset) // itemsize
    if offset + count * itemsize > len(held):
        raise ValueError(
            f"buffer has only {len(held) - offset} elements after offset {offset}, but specified "
            f"a size of {count}"
        )
    part = np.frombuffer(held, np.uint8, count * itemsize, offset) if count else np.empty(0, "u1")
    if byte_order not in ("native", sys.byteorder):
        part_size = itemsize // 2 if dtype.is_complex else itemsize
        part = part.reshape(-1, part_size)[:, ::-1].reshape(-1)
    return (part != 0).view(np.uint8) if dtype.name == "bool" else part.copy()
