"""Which memory an array lies in: tensors that are views of one array share one storage.

`view_of` is the only way to look at memory with other sizes and strides: it computes how far such
a view reaches, in Python's ints, before NumPy makes it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from math import prod
from mmap import mmap
from typing import Any, Final

import numpy as np

from .counts import MOST_DIMENSIONS, too_many_dimensions
from .dtype import Array, Dtype
from .errors import OperatorError
from .inference import is_on

__all__ = [
    "copied_with_storage",
    "address",
    "borrowed",
    "bounds_of",
    "contiguous_strides",
    "is_resizable",
    "laid_out",
    "memory_of",
    "part_of",
    "reach",
    "root_of",
    "settled",
    "spread",
    "storage_of",
    "strides_of",
    "view_of",
    "with_steps_of_ones",
]

Ints = Sequence[int]
_MOST = 2**63 - 1
_BYTES = np.dtype(np.uint8)


def _told_address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


_word_at: Final = ctypes.c_ssize_t.from_address
_BEGIN: Final = object.__basicsize__
"""Where CPython's NumPy keeps an array's address in it, which it tells in a microsecond."""


def _read_address(array: Array) -> int:
    found: int = _word_at(id(array) + _BEGIN).value
    return found


def _is_read_well() -> bool:
    """Whether addresses stand where they are looked for."""
    some = [np.arange(4), np.arange(6)[2:].reshape(2, 2), np.zeros(()), np.empty((0, 3))]
    is_here = sys.implementation.name == "cpython"
    return is_here and all(_read_address(each) == _told_address(each) for each in some)


address: Final = _read_address if _is_read_well() else _told_address
"""The address of an array's first element."""


def _reach(sizes: Ints, strides: Ints, itemsize: int) -> tuple[int, int]:
    """The lowest byte of a view, counted from its first element, and the one behind its last."""
    low, high = 0, itemsize
    for n, step in zip(sizes, strides, strict=True):
        if step > 0:
            high += (n - 1) * step
        else:
            low += (n - 1) * step
    return low, high


def bounds_of(array: Array) -> tuple[int, int]:
    """The address of an array's lowest byte, and the one behind its highest."""
    seen = array[...]  # which no other thread can change
    first = int(seen.__array_interface__["data"][0])
    if seen.flags.forc:
        return first, first + seen.nbytes
    if not seen.size:
        return first, first
    low, high = _reach(seen.shape, seen.strides, seen.itemsize)
    return first + low, first + high


def _overflow(shape: Ints, strides: Ints, itemsize: int) -> OperatorError:
    """The error of sizes and strides that NumPy has no array for."""
    if len(shape) > MOST_DIMENSIONS:
        return too_many_dimensions(len(shape))
    count = prod(shape)
    if count < 0 or count > _MOST:
        return OperatorError("numel: integer multiplication overflow", code="shape-mismatch")
    steps = [step // itemsize for step in strides]
    return OperatorError(
        f"Storage size calculation overflowed with sizes={list(shape)} and strides={steps}",
        code="shape-mismatch",
    )


def view_of(
    memory: Array,
    sizes: Ints,
    strides: Ints,
    offset: int = 0,
    dtype: Dtype | None = None,
    writeable: bool = True,
) -> Array:
    """An array of other sizes and strides in the memory between an array's lowest and highest byte.

    Args:
        memory: an array of any strides.
        sizes: of the view.
        strides: in bytes, of any sign.
        offset: where its first element lies, in bytes from the first element of `memory`.
        dtype: of the view, where it is another one; no reader of the memory may mind it.
        writeable: whether the view may be written, if the memory may.

    Raises:
        OperatorError: the view reaches outside, or is larger than any array.
    """
    seen = memory[...]  # which no other thread can change
    kind = seen.dtype if dtype is None else dtype
    low, high, empty = offset, offset + kind.itemsize, False
    for n, step in zip(sizes, strides, strict=True):
        if n < 1:
            empty = True
            if n < 0:
                raise _overflow(sizes, strides, kind.itemsize)
        elif step > 0:
            high += (n - 1) * step
        else:
            low += (n - 1) * step
    whole = seen.flags.c_contiguous
    first, last = (0, seen.nbytes) if whole else _reach(seen.shape, seen.strides, seen.itemsize)
    if empty:
        offset = offset if first <= offset <= last and seen.size else 0
    elif low < first or high > last or not (whole or seen.size):
        raise OperatorError(
            f"a view of sizes {list(sizes)} and strides of {list(strides)} bytes from byte {offset}"
            f" on leaves its memory",
            code="shape-mismatch",
        )
    try:
        if whole and seen.dtype.isbuiltin == 1 and not kind.hasobject:
            view = np.ndarray(sizes, kind, seen, offset, strides)
        else:
            view = _placed(seen, sizes, strides, offset, kind)
    except (TypeError, ValueError, OverflowError):
        used = [step if n > 1 else 0 for n, step in zip(sizes, strides, strict=True)]
        if used == list(strides):
            raise _overflow(sizes, strides, kind.itemsize) from None
        return view_of(memory, sizes, used, offset, dtype, writeable)
    if not writeable:
        view.flags.writeable = False
    return view


def part_of(
    memory: Array, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: Dtype
) -> Array | None:
    """The same as `view_of`, sooner, of memory without gaps; None where it would reach outside, or
    where NumPy does not hand over elements of such a kind."""
    try:
        return np.ndarray(sizes, dtype, memory, offset, strides)
    except ValueError:
        return None


class _Place:
    """Memory of an array as NumPy's interface tells it: for what is no buffer."""

    __slots__ = ("__array_interface__", "base")

    def __init__(self, base: Array, told: dict[str, object]) -> None:
        self.base = base
        self.__array_interface__ = told


def _placed(seen: Array, sizes: Ints, strides: Ints, offset: int, kind: Dtype) -> Array:
    told = seen.__array_interface__
    first, fixed = told["data"]
    told["data"] = first + offset, fixed
    told["shape"], told["strides"] = tuple(sizes), tuple(strides)
    if kind is seen.dtype and kind.isbuiltin == 1:
        return np.asarray(_Place(seen, told))
    told["typestr"] = f"|V{kind.itemsize}"
    told["descr"] = [("", told["typestr"])]  # without, NumPy 2.1.0 crashes
    return np.asarray(_Place(seen, told)).view(kind)


def spread(array: Array, sizes: Ints, strides: Ints) -> Array:
    """`view_of` where each stride is the array's own for that size, or 0: it stays inside."""
    seen = array[...]
    try:
        if seen.flags.c_contiguous and seen.dtype.isbuiltin == 1 and seen.size:
            return np.ndarray(sizes, seen.dtype, seen, 0, strides)
        return _placed(seen, sizes, strides, 0, seen.dtype)
    except ValueError:
        raise _overflow(sizes, strides, seen.itemsize) from None


def laid_out(sizes: Ints, kind: Dtype, strides: Ints) -> Array:
    """New memory without contents, in which elements lie by strides without gaps."""
    return np.ndarray(sizes, kind, strides=strides)


def settled(array: Array) -> Array:
    """A copy of an index, a mask or keys, for NumPy's functions that look at it twice.

    They check or count all of it, then follow it; meanwhile another thread may write into it.
    `take` checks each number when it follows it and needs no copy.
    """
    return array.copy()


class _Lender:
    """An array that somebody else owns; it ends the way from a tensor to its storage."""

    __slots__ = ("__array_interface__", "array", "for_inference")

    def __init__(self, array: Array) -> None:
        self.array = array
        self.for_inference = is_on()
        self.__array_interface__ = array.__array_interface__


def borrowed(array: Array) -> Array:
    """The same memory as a storage of its own, which begins where the array does."""
    if array.dtype.isbuiltin != 1:
        return array.view(np.ndarray)
    return np.asarray(_Lender(array))


def is_resizable(array: Array) -> bool:
    """Whether the storage of an array may be exchanged for a larger one: it is not borrowed, nor
    that of a file or of several processes."""
    lender = storage_of(array)[0].base
    return not isinstance(lender, _Lender) and not isinstance(getattr(lender, "obj", None), mmap)


def _holder(array: Array) -> tuple[Array, int, int]:
    """The array furthest up that the memory of an array lies in, and its first and last address.

    An array that was changed since does not hold what its views see.
    """
    holders, base = [array], array.base
    while base is not None:
        if isinstance(base, np.ndarray):
            holders.append(base)
        base = getattr(base, "base", None)
    low, high = bounds_of(array)
    for holder in reversed(holders[1:]):
        start, stop = bounds_of(holder)
        if low == high or (start <= low and high <= stop):
            return holder, start, stop
    return array, low, high


def storage_of(array: Array) -> tuple[Array, int, int]:
    """The storage of an array: (its owner, the array's offset in it, the storage's size).

    Two arrays share a storage when the owner is the same object.  Offset and size are counted in
    elements of the array's dtype; the storage begins at the owner's lowest address.
    """
    itemsize = array.itemsize
    if array.base is None and array.flags.forc:
        return array, 0, array.size
    owner, start, stop = _holder(array)
    offset = address(array) - start if array.size else 0
    return owner, offset // itemsize, (stop - start) // itemsize


def memory_of(array: Array) -> Array:
    """The storage of an array as a vector of bytes."""
    owner = storage_of(array)[0][...]
    start, stop = bounds_of(owner)
    if start == stop:
        return np.empty(0, _BYTES)
    return view_of(owner, (stop - start,), (1,), start - address(owner), _BYTES)


def reach(sizes: Ints, strides: Ints) -> int:
    """How many elements of a storage a tensor needs, from its first one on."""
    if 0 in sizes:
        return 0
    return 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))


def root_of(array: Array) -> Array:
    """The array that owns an array's memory, as far as arrays of NumPy's own class go."""
    while True:
        base: Any = array.base
        if type(base) is _Place:
            base = base.base
        if type(base) is not np.ndarray:
            return array
        array = base


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
    Tensors without elements have those they were given; NumPy's own new ones have only zeros.
    """
    shape = array.shape
    if array.flags.c_contiguous and (1 not in shape if array.size else not any(array.strides)):
        return contiguous_strides(shape)
    itemsize = array.itemsize
    strides = [stride // itemsize for stride in array.strides]
    return tuple(with_steps_of_ones(shape, strides, 1) if array.size else strides)


def with_steps_of_ones(shape: Ints, strides: Ints, unit: int) -> list[int]:
    """The strides, in units of which an element has `unit`, with those of dimensions of size 1."""
    found = list(strides)
    for dim in reversed(range(len(found))):
        if shape[dim] == 1 and not found[dim]:
            following = dim + 1
            found[dim] = found[following] * shape[following] if following < len(found) else unit
    return found


def copied_with_storage(array: Array, memo: dict[int, Any]) -> Array:
    """A copy; tensors that shared memory share the copy's memory."""
    owner, offset, _ = storage_of(array)
    if not array.size or not owner.flags.c_contiguous:
        return array.copy("K")
    fresh = memo.get(id(owner))
    if fresh is None:
        fresh = memo[id(owner)] = owner.copy()
    if owner is array:
        return fresh
    begin = offset * array.itemsize
    made = view_of(fresh, array.shape, array.strides, begin, array.dtype)
    if type(array) is not np.ndarray:  # but one that knows what its numbers mean
        made = made.view(type(array))
        made.__array_finalize__(array)
    return made
