"""Writing, adding and reducing to positions that index tensors name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..arithmetic.chosen import chosen_places, put_chosen
from ..kernels import family, written_by_numpy
from ..memory.counts import check_storage
from ..memory.determinism import alert_not_deterministic
from ..memory.dtype import Array, Dtype, Scalar, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.overlap import check_apart
from ..memory.storage import settled
from ..memory.warned import warn_caller_once
from ..shapes.shape import expand
from ..table.direct import note_of
from ..table.formula import Part
from ..table.out_dtypes import SAME, OutDtype
from ..table.pointwise import checked_broadcast, number_in
from ..table.promotion import kind
from ..table.refusals import check_kernel
from ..table.table import operator
from .along import check_scatter
from .index import index, index_put
from .index_errors import first_outside, no_such_element
from .places import by_slices, combined_by_numpy, combined_natively, copied, one, positions

__all__ = ["combine_along", "with_rank"]

Key = tuple[Any, ...]
_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)
_INT64: Final = np.dtype(np.int64)


# --------------------------------------------------------------------------- combining at positions


_COMBINE: Final[dict[str, np.ufunc]] = {
    **{"sum": np.add, "add": np.add, "mean": np.add, "prod": np.multiply},
    **{"multiply": np.multiply, "amax": np.maximum, "amin": np.minimum},
}


def _neutral(reduce: str, dtype: Dtype) -> object:
    """The number that combining with changes nothing."""
    if reduce in ("sum", "add", "mean"):
        return 0
    if reduce in ("prod", "multiply"):
        return 1
    low = reduce == "amax"
    if kind(dtype) == 2:
        return -np.inf if low else np.inf
    if dtype.kind == "b":
        return not low
    limits = np.iinfo(dtype)
    return limits.min if low else limits.max


def combine_at(
    target: Array,
    key: Key,
    values: object,
    reduce: str,
    include_self: bool,
    rounds_each: bool = False,
) -> None:
    """Combine values into the positions of a key, several into one position too.

    16-bit floats are combined in float32 and rounded once, before a mean is divided; or, if it
    `rounds_each`, after each of them.
    """
    if not include_self:
        target[key] = _neutral(reduce, target.dtype)
    if kind(target.dtype) == 2 and target.itemsize < 4 and not rounds_each:
        wide = target.astype(_FLOAT32)
        combined_by_numpy(_COMBINE[reduce], wide, key, np.asarray(values).astype(_FLOAT32))
        target[...] = wide.astype(target.dtype)
    else:
        combined_by_numpy(_COMBINE[reduce], target, key, values)
    if reduce == "mean":
        counts = np.full(target.shape, int(include_self), _INT64)
        np.add.at(counts, key, 1)
        _divide(target, counts)


def _divide(target: Array, counts: Array) -> None:
    np.maximum(counts, 1, out=counts)
    if kind(target.dtype) < 2:
        target[...] = np.floor_divide(target, counts.astype(target.dtype))
    elif target.itemsize < 4:
        target[...] = target / counts.astype(target.dtype)
    else:
        target[...] = np.true_divide(target, counts)


_NATIVE: Final = {
    **{"sum": "sum", "add": "sum", "mean": "sum", "prod": "product", "multiply": "product"},
    **{"amax": "max", "amin": "min"},
}
"""What native code calls it."""


def combine_along(
    target: Array,
    axis: int,
    index: Array,
    values: Array | Scalar,
    reduce: str,
    include_self: bool,
    rounds_each: bool = False,
) -> None:
    """`combine_at` places along a dimension: one for each value or, in a vector, for each slice."""
    if not isinstance(values, np.ndarray):
        values = one(values, target.dtype)
    if not _combined(target, axis, index, values, reduce, include_self, not rounds_each):
        written_by_numpy()
        by_slice = index.ndim < np.ndim(values)
        key = (slice(None),) * axis + (index,) if by_slice else positions(index, axis)
        combine_at(target, key, values, reduce, include_self, rounds_each)


def _combined(
    target: Array, axis: int, index: Array, values: Array, reduce: str, own: bool, once: bool
) -> bool:
    """Whether native code has done it; `own` says if what was there counts, `once` how 16-bit
    floats are rounded."""
    if not own:
        neutral = np.array(_neutral(reduce, target.dtype), target.dtype)
        neutral.setflags(write=False)
        if not combined_natively(target, axis, index, neutral, "put"):
            return False
    if not combined_natively(target, axis, index, values, _NATIVE[reduce], once=once):
        return False
    if reduce == "mean":
        named = by_slices(index, axis)
        by_slice = named.ndim == 1 < target.ndim
        shape = target.shape[axis : axis + 1] if by_slice else target.shape
        counts = _begun(shape, int(own))
        combined_natively(counts, 0 if by_slice else axis, named, _ONE, "sum")
        if by_slice:
            counts = counts.reshape(-1, *[1] * (target.ndim - axis - 1))
        if not _divided_natively(target, counts):
            written_by_numpy()
            _divide(target, counts)
    return True


_ONE: Final = np.ones((), _INT64)
_ONE.setflags(write=False)


def _begun(shape: tuple[int, ...], count: int) -> Array:
    """Counts that begin with a number."""
    begun = np.full(shape, count, _INT64)
    begun.setflags(write=False)
    return copied(begun)


def _divided_natively(target: Array, counts: Array) -> bool:
    """Whether native code has divided floats by counts, where those are not 0."""
    arrays = family("elementwise.arrays") if target.dtype in (_FLOAT32, _FLOAT64) else None
    if arrays is None:
        return False
    steps = [("maximum", "l", (1, 2)), ("divide", "d", (0, 3)), ("same", "", (4,))]
    note = note_of(arrays, Part(steps, [target, counts, 1], target), at_any_cost=True)
    if note is not None:
        arrays.run(*note)
    return note is not None


def with_rank(array: Array) -> Array:
    """The array; a scalar as one of one dimension."""
    return array if array.ndim else array.reshape(1)


# --------------------------------------------------------------------------- scatter


def _scatter(
    self: Array, dim: int, index: Array, src: Array | Scalar, reduce: str, own: bool
) -> Array:
    axis = check_scatter(self, dim, index, src)
    if not index.size:
        return self
    check_apart(self, (index, src))
    target, places = with_rank(self), with_rank(index)
    if isinstance(src, np.ndarray):
        values = with_rank(src)
        if values.shape != places.shape:
            values = values[tuple(slice(n) for n in places.shape)]
    else:
        values = one(src, self.dtype)
    combine_along(target, axis, places, values, reduce, own)
    return self


def _check_reduce(reduce: str) -> None:
    if reduce not in ("add", "multiply"):
        raise OperatorError("reduce argument must be either add or multiply.")


def _scatter_combined(
    self: Array, dim: int, index: Array, src: Array | Scalar, reduce: str
) -> Array:
    _check_reduce(reduce)
    if isinstance(src, np.ndarray):
        warn_caller_once(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
            "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
            "reduction options."
        )
    return _scatter(self, dim, index, src, reduce, True)


def _scatter_combined_copy(
    self: Array, dim: int, index: Array, src: Array | Scalar, reduce: str
) -> Array:
    return _scatter_combined(copied(self), dim, index, src, reduce)


operator(
    "aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    "aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) "
    "-> Tensor",
    prepared=True,
    out_dtype=SAME,
)(_scatter_combined_copy)
operator(
    "aten::scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) "
    "-> Tensor(a!)",
    "aten::scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, "
    "str reduce) -> Tensor(a!)",
    prepared=True,
    written="unchecked",
)(_scatter_combined)


@operator(
    "aten::scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor(a!)",
    prepared=True,
    written="unchecked",
)
def scatter_reduce_in_place(
    self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool
) -> Array:
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise OperatorError(
            "reduce argument must be either sum, prod, mean, amax or amin, got " + reduce
        )
    if reduce == "mean":
        check_kernel("scatter_gather_tensor_cpu_reduce_mean", self, "b")
    return _scatter(self, dim, index, src, reduce, include_self)


@operator(
    "aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor",
    prepared=True,
    out_dtype=SAME,
    on_slices="places",
)
def scatter_reduce(
    self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool
) -> Array:
    return scatter_reduce_in_place(copied(self), dim, index, src, reduce, include_self)


# --------------------------------------------------------------------------- counted through


@operator(
    "aten::put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)",
    written="unchecked",
)
def put_in_place(self: Array, index: Array, source: Array, accumulate: bool) -> Array:
    if not accumulate:
        alert_not_deterministic("put_")
    if index.dtype != _INT64:
        raise OperatorError(
            f"put_(): Expected a long tensor for index, but got {dtype_of(index).scalar_name}"
        )
    if self.dtype != source.dtype:
        raise OperatorError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{dtype_of(self).scalar_name} and source.dtype = {dtype_of(source).scalar_name}",
            code="dtype-mismatch",
        )
    if index.size != source.size:
        raise IndexOutOfRange(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}",
        )
    check_apart(self, (index, source))
    flat = settled(index).reshape(-1)
    if flat.size and not self.size:
        raise IndexOutOfRange("put_(): Tried to put elements into an empty tensor")
    wrong = first_outside(flat, -self.size, self.size)
    if wrong is not None:
        raise no_such_element(wrong, self.size)
    if not flat.size:
        return self
    target, values = with_rank(self), source.reshape(-1)
    places = np.where(flat < 0, flat + self.size, flat) if flat.min() < 0 else flat
    if target.flags.carray:
        whole = target.reshape(-1)
        if combined_natively(whole, 0, places, values, "sum" if accumulate else "put"):
            return self
    key = np.unravel_index(places, target.shape)
    if accumulate:
        combine_at(target, key, values, "sum", True, rounds_each=True)
    else:
        target[key] = values
    return self


@operator(
    "aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    layout="L",
)
def put(self: Array, index: Array, source: Array, accumulate: bool) -> Array:
    return put_in_place(self.copy(), index, source, accumulate)


# --------------------------------------------------------------------------- masks


@operator(
    "aten::masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)",
    written="itself",
)
def masked_scatter_in_place(self: Array, mask: Array, source: Array) -> Array:
    if self.dtype != source.dtype:
        raise OperatorError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{dtype_of(self).scalar_name} and {dtype_of(source).scalar_name}",
            code="dtype-mismatch",
        )
    if mask.shape != self.shape:
        mask = expand(mask, list(self.shape), False)
    if mask.dtype != np.bool_:
        raise OperatorError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{dtype_of(mask).scalar_name}",
            code="dtype-mismatch",
            headline=f"`mask` must be of bools, it is `{dtype_of(mask)}`",
            roles={"mask": "must be of bools"},
        )
    lacking = "Number of elements of source < number of ones in mask"
    if put_chosen(self, mask, source, lacking):
        return self
    where = settled(mask)
    count = int(np.count_nonzero(where))
    if source.size < count:
        raise OperatorError(lacking)
    self[where] = source.reshape(-1)[:count]
    return self


@operator("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor")
def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    shape = checked_broadcast(mask.shape, self.shape, ("mask", "self"))
    return masked_scatter_in_place(np.broadcast_to(self, shape).copy(), mask, source)


Indices = Sequence[Array | None]


def _clamped(self: Array, indices: Indices) -> list[Array | None]:
    return [
        each if each is None else np.clip(each, 0, self.shape[dim] - 1)
        for dim, each in enumerate(indices)
    ]


@operator(
    "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) "
    "-> Tensor",
    out="",
)
def masked_index(self: Array, mask: Array, indices: Indices, fill: Scalar) -> Array:
    """The elements at some positions, and a number where the mask does not hold."""
    if not self.size:
        shape = index(np.zeros([max(n, 1) for n in self.shape]), _zeroed(indices)).shape
        return np.full(shape, number_in(fill, self.dtype))
    found = index(self, _clamped(self, indices))
    found[np.broadcast_to(~mask, found.shape)] = number_in(fill, self.dtype)
    return found


def _zeroed(indices: Indices) -> list[Array | None]:
    return [each if each is None else np.zeros_like(each) for each in indices]


@operator(
    "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, "
    "Tensor values) -> Tensor",
    out="",
    layout="L",
)
def masked_index_put(self: Array, mask: Array, indices: Indices, values: Array) -> Array:
    if not self.size:
        return self.copy()
    kept = np.where(mask, values, self.dtype.type(0))
    return index_put(self.copy(), _clamped(self, indices), kept, True)


@operator(
    "aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
    out_dtype=OutDtype(
        "same",
        "nonzero_static: Expected out tensor to have scalar type {result} but got scalar type{out}",
    ),
)
def nonzero_static(self: Array, size: int, fill_value: int) -> Array:
    """The first `size` positions of elements that are not zero, filled up to that many."""
    if size < 0:
        raise OperatorError("nonzero_static: 'size' must be an non-negative integer")
    check_storage([size, self.ndim])
    found = chosen_places(self).T[:size] if self.ndim else np.argwhere(settled(self))[:size]
    result = np.full((size, self.ndim), fill_value, _INT64)
    result[: len(found)] = found
    return result
