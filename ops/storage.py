"""Which memory an array lies in: tensors that are views of one array share one storage."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtype import Array

__all__ = ["address", "borrowed", "contiguous_strides", "is_resizable", "storage_of", "strides_of"]


def address(array: Array) -> int:
    """The address of the first element."""
    return int(array.__array_interface__["data"][0])


class _Lender:
    """An array that somebody else owns; it ends the way from a tensor to its storage."""

    __slots__ = ("__array_interface__", "array")

    def __init__(self, array: Array) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


def borrowed(array: Array) -> Array:
    """The same memory as a storage of its own, which begins where the array does."""
    if array.dtype.isbuiltin != 1:
        return array.view(np.ndarray)
    return np.asarray(_Lender(array))


def is_resizable(array: Array) -> bool:
    """Whether the storage of an array may be exchanged for a larger one: it is not borrowed."""
    return not isinstance(storage_of(array)[0].base, _Lender)


def storage_of(array: Array) -> tuple[Array, int, int]:
    """The storage of an array: (its owner, the array's offset in it, the storage's size).

    Two arrays share a storage when the owner is the same object.  Offset and size are counted in
    elements of the array's dtype; the storage begins at the owner's lowest address.
    """
    owner = array
    base: Any = array.base
    while base is not None:
        if isinstance(base, np.ndarray):
            owner = base
        base = getattr(base, "base", None)
    start, stop = np.lib.array_utils.byte_bounds(owner)
    if not owner.size:
        start = stop = address(owner)
    offset = address(array) - start if array.size else 0
    return owner, offset // array.itemsize, (stop - start) // array.itemsize


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a contiguous tensor of that shape."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def strides_of(array: Array) -> tuple[int, ...]:
    """The strides in elements.

    A dimension of size 1 has no stride of its own in NumPy; it gets the one torch would give it.
    Tensors without elements keep the strides they were sliced with, if NumPy gave them any.
    """
    if array.flags.c_contiguous and (array.size or 0 in array.strides):
        return contiguous_strides(array.shape)
    itemsize = array.itemsize
    strides = [stride // itemsize for stride in array.strides]
    for dim in reversed(range(array.ndim)):
        if array.shape[dim] == 1 and not strides[dim]:
            following = dim + 1
            strides[dim] = (
                strides[following] * array.shape[following] if following < array.ndim else 1
            )
    return tuple(strides)
