"""Places along one dimension by native code, where there are many."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from ..kernels import LARGE, cast_by_kernel, family, in_order, is_half, is_whole, written_by_numpy
from ..memory.complex_parts import parts
from ..memory.dims import expands_to
from ..memory.dtype import Array, Dtype, Scalar
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import settled
from ..table.direct import note_of
from ..table.formula import Part
from ..table.pointwise import number_in

__all__ = [
    *("beside", "by_slices", "combined_by_numpy", "combined_natively", "copied", "one"),
    *("positions", "put_by", "span", "taken_by", "taken_natively"),
]

_INT64: Final = np.dtype(np.int64)
_AS_MANY: Final = 4
"""How many elements are put in one piece for each that is read, at most."""
_FEW: Final = 1 << 10
"""Elements that are read at least, for that: fewer are put in one piece as quickly."""


def taken_natively(self: Array, axis: int, index: Array) -> Array | None:
    """The elements at places, one for each element of the result or, in a vector, for each slice.

    None if this is no work for native code, or if a place is not there.
    """
    self, index = self[...], index[...]  # which no other thread can change
    if index.ndim > 1 and _goes_with(index, self, axis):
        index = by_slices(index, axis)
    if index.dtype is not _INT64 or not index.size:
        return None
    index = in_order(index)
    if not is_whole(index):
        return None
    if index.ndim > 1 and not _goes_with(index, self, axis):
        return None
    if not is_whole(self):
        if not self.size or self.size > _AS_MANY * max(index.size, _FEW):
            return None
        self = in_order(self)
    places = family("indexing.places")
    found: Array | None = None if places is None else places.take(self, axis, index)
    return found


def by_slices(index: Array, axis: int) -> Array:
    """The index; of one that is expanded, naming the same place for all elements of a slice, the
    vector that it is made of."""
    if index.ndim < 2 or not index.size:
        return index
    strides, shape = index.strides, index.shape
    if any(strides[d] and shape[d] > 1 and d != axis for d in range(index.ndim)):
        return index
    here = tuple(slice(None) if dim == axis else 0 for dim in range(index.ndim))
    vector: Array = index[here]
    return vector


def _goes_with(one: Array, other: Array, axis: int) -> bool:
    """Whether two arrays have the same dimensions but for one."""
    a, b = one.shape, other.shape
    return len(a) == len(b) and a[:axis] == b[:axis] and a[axis + 1 :] == b[axis + 1 :]


def beside(self: Array, axis: int, index: Array) -> Array | None:
    """The part of a tensor that an index reaches: where it has fewer elements in another dimension,
    the first ones there; None where the dimensions differ in number."""
    given, own = index.shape, self.shape
    if len(given) != len(own):
        return None
    if given[:axis] == own[:axis] and given[axis + 1 :] == own[axis + 1 :]:
        return self
    part: Array = self[tuple(slice(None if d == axis else n) for d, n in enumerate(given))]
    return part


Indices = Sequence[Array | None]


def joined_places(self: Array, indices: Indices) -> tuple[Array, int, Array] | None:
    """What index tensors that follow each other name, by one of them: the tensor with their
    dimensions as one, which one that is, and the places in it.

    None if they are no int64 tensors of one shape, or of shapes that make many places when they are
    broadcast to each other, or if a place is not there.
    """
    self = self[...]  # which no other thread can change
    given = [index[...] for index in indices if index is not None]
    if not given or not self.flags.carray or len(indices) > self.ndim:
        return None
    axis, (first, *rest) = len(indices) - len(given), given
    if any(index is not None for index in indices[:axis]) or not self.size:
        return None
    if any(index.dtype is not _INT64 or not is_whole(index) for index in given):
        return None
    if not rest:
        return self, axis, first
    shapes = {index.shape for index in given}
    if len(given) > _MOST or () in shapes or (len(shapes) > 1 and not _pay_broadcast(shapes)):
        return None
    places = family("indexing.places")
    sizes = self.shape[axis : axis + len(given)]
    found = None if places is None else places.joined(given, sizes)
    if found is None:
        return None
    behind = self.shape[axis + len(given) :]
    return self.reshape((*self.shape[:axis], prod(sizes), *behind)), axis, found


_MOST: Final = 8
"""Index tensors that are joined."""


def _pay_broadcast(shapes: Collection[tuple[int, ...]]) -> bool:
    """Whether index tensors of these shapes make many places, or somebody learns from what native
    code runs."""
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:  # which is told in other words
        return False
    return 0 not in shape and (prod(shape) >= LARGE or _is_watched())


def taken_by(self: Array, indices: Indices) -> Array | None:
    """What index tensors name of a tensor, by native code if it can be; not few elements named by
    one tensor, unless somebody learns from what native code runs: NumPy moves those sooner."""
    if len(indices) == 1 and self.size < LARGE and not _is_watched():
        return None
    joined = joined_places(self, indices)
    if joined is None:
        return None
    whole, axis, places = joined
    found = taken_natively(whole, axis, places if places.ndim == 1 else places.reshape(-1))
    if found is None or places.ndim == 1:
        return found
    return found.reshape((*whole.shape[:axis], *places.shape, *whole.shape[axis + 1 :]))


def _is_watched() -> bool:
    native = family("calls.run")
    return native is not None and native.is_told()


def put_by(self: Array, indices: Indices, values: Array, accumulate: bool) -> bool:
    """Whether native code wrote values of the very shape, or one, to where index tensors name."""
    values = values[...]
    joined = joined_places(self, indices) if values.dtype == self.dtype else None
    if joined is None:
        return False
    whole, axis, places = joined
    shape = (*whole.shape[:axis], *places.shape, *whole.shape[axis + 1 :])
    is_one = not places.ndim and not _is_watched()  # which NumPy writes sooner
    if not is_one and values.shape not in (shape, ()):
        values = _spread_over(values, shape)
    if is_one or values.shape not in (shape, ()):
        return False
    if values.ndim and places.ndim != 1:
        values = values.reshape((*whole.shape[:axis], places.size, *whole.shape[axis + 1 :]))
    flat = places if places.ndim == 1 else places.reshape(-1)
    try:
        return combined_natively(whole, axis, flat, values, "sum" if accumulate else "put")
    except IndexOutOfRange:  # which may count from the end, and is told in other words
        return False


def _spread_over(values: Array, shape: tuple[int, ...]) -> Array:
    """Values that are the same for several places of a few, for each of them, if they fit."""
    fits = expands_to(values.shape, shape) and prod(shape) <= LARGE
    return np.broadcast_to(values, shape) if fits else values


def combined_natively(
    self: Array, axis: int, index: Array, source: Array, operation: str, *, once: bool = False
) -> bool:
    """Whether elements were written to places of `self` by native code, or combined with it.

    The index names a place for each element of the source or, in a vector, for each slice; a source
    without dimensions is one value for all.  The operations are those of the kernel.  16-bit floats
    are rounded `once`, or after each.

    Raises:
        IndexOutOfRange: a place is not there; nothing is written then.
    """
    self, index, source = self[...], index[...], source[...]
    if index.dtype is not _INT64 or not (self.flags.carray and self.ndim and index.size):
        return False
    given = source if source.ndim else index
    if index.shape != given.shape and index.ndim != 1:
        return False
    if source.dtype != self.dtype:
        return False
    if self.dtype.kind == "c" and operation == "sum":
        return source.ndim > 0 and _added_by_parts(self, axis, index, source)
    if (source.ndim or index.ndim > 1) and not _goes_with(given, self, axis):
        part = beside(self, axis, given)
        if part is None or not _goes_with(given, part, axis):
            return False
        if not part.flags.carray:
            return _combined_apart(part, axis, index, source, operation, once)
        self = part
    places = family("indexing.places")
    if places is None:
        return False
    if index.ndim > 1:
        index = by_slices(index, axis)
    whole = in_order(source) if source.ndim else source
    wide = _widened(self, index, whole, operation, once)
    if wide is not None:
        done = places.combine(wide[0], axis, in_order(index), wide[1], operation)
        if done:
            _put_back(self, wide[0])
    else:
        done = places.combine(self, axis, in_order(index), whole, operation)
    if done is False:
        raise IndexOutOfRange("index out of range in self")
    return done is True


def _added_by_parts(self: Array, axis: int, index: Array, source: Array) -> bool:
    """The same of complex numbers: their parts are added to parts."""
    if index.ndim > 1:
        index = np.broadcast_to(index[..., None], (*index.shape, 2))
    return combined_natively(parts(self), axis, index, parts(source), "sum")


def _combined_apart(
    part: Array, axis: int, index: Array, source: Array, operation: str, once: bool
) -> bool:
    """The same for a part that does not lie in one piece, by way of one that does, unless that is
    much more than what is named."""
    if part.size > _AS_MANY * max(index.size, _FEW):
        return False
    whole = in_order(part)
    is_done = combined_natively(whole, axis, index, source, operation, once=once)
    if is_done:
        _put_back(part, whole)
    return is_done


def _widened(
    self: Array, index: Array, source: Array, operation: str, once: bool
) -> tuple[Array, Array] | None:
    """What kernels take in place of numbers of 8 or 16 bits, and of what is combined with them;
    None of others, and where few are combined with many.

    Whole numbers are of 32 bits then; floats that are rounded once.
    """
    is_float = once and is_half(self.dtype)
    is_short = self.dtype.kind in "iu" and self.itemsize < 4 and operation in ("max", "min")
    if operation == "put" or not (is_float or is_short):
        return None
    if is_short and self.size > _AS_MANY * max(index.size, source.size):
        return None
    dtype = np.dtype(np.float32 if is_float else np.int32)
    wide = cast_by_kernel(self, dtype, of_any_size=True)
    return wide, cast_by_kernel(source, dtype, of_any_size=True)


def _put_back(self: Array, wide: Array) -> None:
    """Write elements that were combined in a wider dtype, or where they lie in one piece."""
    arrays = family("elementwise.arrays")
    note = note_of(arrays, Part([("same", "", (0,))], [wide], self), at_any_cost=True)
    if note is not None:
        arrays.run(*note)
    else:
        written_by_numpy()
        self[...] = wide.astype(self.dtype)


def combined_by_numpy(function: np.ufunc, target: Array, key: Any, values: Any) -> None:
    """Combine values with the elements at positions, one after the other.

    Raises:
        OperatorError: the target is only to be read, which `ufunc.at` does not look at.
    """
    if not target.flags.writeable:
        raise OperatorError("output array is read-only")
    function.at(target, key, values)


def positions(index: Array, axis: int) -> tuple[Array, ...]:
    """For every element of `index` its own position, but in `axis` the one it names."""
    rank = index.ndim
    grid: list[Any] = [
        np.arange(n).reshape((1,) * dim + (n,) + (1,) * (rank - 1 - dim)) if dim != axis else None
        for dim, n in enumerate(index.shape)
    ]
    grid[axis] = settled(index)
    return tuple(grid)


def one(value: Scalar, dtype: Dtype) -> Array:
    """A number as a source of one value that nobody can change.

    Raises:
        OperatorError: as `number_in` does.
    """
    made = number_in(value, dtype)
    made.setflags(write=False)
    return made


def copied(self: Array) -> Array:
    """A contiguous copy, by native code if it can be: calls that begin so are learned."""
    self = self[...]
    if not self.flags.c_contiguous:
        return in_order(self)
    copies = family("elementwise.copies") if is_whole(self) else None
    found: Array | None = None if copies is None else copies.copied(self)
    return self.copy() if found is None else found


def span(self: Array) -> tuple[int, int]:
    """The least and the largest of whole numbers, of which there are some."""
    self = self[...]
    counting = family("ordering.counting") if self.dtype is _INT64 and is_whole(self) else None
    if counting is None:
        return int(self.min()), int(self.max())
    found: tuple[int, int] = counting.span(self)
    return found
