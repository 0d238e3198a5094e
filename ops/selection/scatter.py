"""Writing, adding and reducing to positions that index tensors name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..kernels import family, is_ready
from ..memory.counts import check_storage
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import settled
from ..table.pointwise import cast, checked_broadcast, number_in
from ..table.promotion import kind
from ..table.table import operator
from .index import check_scatter, index, index_put, positions

__all__: list[str] = []

Key = tuple[Any, ...]
_FLOAT32: Final = np.dtype(np.float32)
_INT64: Final = np.dtype(np.int64)


# --------------------------------------------------------------------------- combining at positions


_COMBINE: Final[dict[str, Callable[..., Any]]] = {
    **{"sum": np.add.at, "add": np.add.at, "mean": np.add.at, "prod": np.multiply.at},
    **{"multiply": np.multiply.at, "amax": np.maximum.at, "amin": np.minimum.at},
}


def _neutral(reduce: str, dtype: np.dtype[Any]) -> Any:
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


def _combine_at(target: Array, key: Key, values: Any, reduce: str, include_self: bool) -> None:
    """Combine values into the positions of a key, several into one position too.

    16-bit floats are combined in float32.
    """
    if kind(target.dtype) == 2 and target.itemsize < 4:
        wide = target.astype(_FLOAT32)
        _combine_at(wide, key, np.asarray(values).astype(_FLOAT32), reduce, include_self)
        target[...] = wide.astype(target.dtype)
        return
    if not include_self:
        target[key] = _neutral(reduce, target.dtype)
    _COMBINE[reduce](target, key, values)
    if reduce == "mean":
        _divide_by_counts(target, key, include_self)


def _divide_by_counts(target: Array, key: Key, include_self: bool) -> None:
    counts = np.full(target.shape, int(include_self), _INT64)
    np.add.at(counts, key, 1)
    np.maximum(counts, 1, out=counts)
    if kind(target.dtype) < 2:
        target[...] = np.floor_divide(target, counts.astype(target.dtype))
    else:
        target[...] = np.true_divide(target, counts)


def _with_rank(array: Array) -> Array:
    return array if array.ndim else array.reshape(1)


# --------------------------------------------------------------------------- scatter


def _scatter(
    self: Array, dim: int, index: Array, src: Array | Scalar, reduce: str, own: bool
) -> Array:
    axis = check_scatter(self, dim, index, src)
    if not index.size:
        return self
    target, places = _with_rank(self), _with_rank(index)
    if isinstance(src, np.ndarray):
        values = _with_rank(src)[tuple(slice(n) for n in places.shape)]
    else:
        values = number_in(src, self.dtype)
    _combine_at(target, positions(places, axis), values, reduce, own)
    return self


def _check_reduce(reduce: str) -> None:
    if reduce not in ("add", "multiply"):
        raise OperatorError("reduce argument must be either add or multiply.")


def _scatter_combined(
    self: Array, dim: int, index: Array, src: Array | Scalar, reduce: str
) -> Array:
    _check_reduce(reduce)
    return _scatter(self, dim, index, src, reduce, True)


def _scatter_combined_copy(
    self: Array, dim: int, index: Array, src: Array | Scalar, reduce: str
) -> Array:
    return _scatter_combined(self.copy(), dim, index, src, reduce)


operator(
    "aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    "aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) "
    "-> Tensor",
)(_scatter_combined_copy)
operator(
    "aten::scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) "
    "-> Tensor(a!)",
    "aten::scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, "
    "str reduce) -> Tensor(a!)",
)(_scatter_combined)


@operator(
    "aten::scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor(a!)"
)
def scatter_reduce_in_place(
    self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool
) -> Array:
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise OperatorError(
            "reduce argument must be either sum, prod, mean, amax or amin, got " + reduce
        )
    return _scatter(self, dim, index, src, reduce, include_self)


@operator(
    "aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor"
)
def scatter_reduce(
    self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool
) -> Array:
    return scatter_reduce_in_place(self.copy(), dim, index, src, reduce, include_self)


# --------------------------------------------------------------------------- whole slices


def _check_vector(name: str, self: Array, dim: int, index: Array, source: Array) -> int:
    """The dimension that the slices are counted in."""
    axis = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexOutOfRange(
            f"{name}(): Index should have dimension 1 or 0 (got {index.ndim})"
            if name == "index_copy_"
            else f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with "
            f"type: {dtype_of(index).scalar_name} and size: {list(index.shape)}"
        )
    if index.dtype not in (_INT64, np.dtype(np.int32)):
        raise (IndexOutOfRange if name == "index_copy_" else OperatorError)(
            f"{name}(): Expected dtype int32/int64 for index but got: {dtype_of(index).scalar_name}"
        )
    if self.dtype != source.dtype:
        mine, given = dtype_of(self).scalar_name, dtype_of(source).scalar_name
        raise OperatorError(
            f"{name}(): self and source expected to have the same dtype, but got (self) {mine} and "
            f"(source) {given}"
            if name == "index_copy_"
            else f"{name.removesuffix('_')}_(): self ({mine}) and source ({given}) must have the "
            "same scalar type",
            code="dtype-mismatch",
            headline=f"`source` is `{dtype_of(source)}`, `self` is `{dtype_of(self)}`",
            roles={"source": f"must be `{dtype_of(self)}`"},
        )
    _check_slices(name, self, axis, index, source)
    if index.size:
        size = self.shape[axis] if self.ndim else 1
        if index.min() < 0 or index.max() >= size:
            raise IndexOutOfRange(
                f"{name}(): index {int(index.max())} is out of bounds for dimension {axis} with "
                f"size {size}",
                headline=f"`index` leaves dimension {axis}, which has size {size}",
            )
    return axis


def _check_slices(name: str, self: Array, axis: int, index: Array, source: Array) -> None:
    count = source.shape[axis] if source.ndim > axis else 1
    if index.size != count:
        if not source.ndim and name == "index_copy_":
            raise IndexOutOfRange(
                f"{name}(): When source is scalar, index should have one element (got {index.size})"
            )
        if not source.ndim:
            raise IndexOutOfRange(f"Dimension specified as {axis} but tensor has no dimensions")
        raise IndexOutOfRange(
            f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({count}), for dim: {axis}",
            headline=f"{index.size} indices for {count} slices of `source`",
        )
    mine = [n for dim, n in enumerate(self.shape) if dim != axis]
    others = [n for dim, n in enumerate(source.shape) if dim != axis]
    if mine != others and self.ndim and source.ndim:
        headline = f"slices of shape {others} do not fit slices of shape {mine}"
        raise _slices_error(name, self, axis, source, headline)


def _slices_error(name: str, self: Array, axis: int, source: Array, headline: str) -> OperatorError:
    if name != "index_copy_":
        return OperatorError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(self.shape)} source.shape = {list(source.shape)}",
            code="shape-mismatch",
            headline=headline,
        )
    if self.ndim != source.ndim:
        return IndexOutOfRange(
            f"{name}(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({source.ndim}), destination dimensionality "
            f"({self.ndim})",
            headline=headline,
        )
    mine, others = (
        " ".join(str(n) for dim, n in enumerate(each.shape) if dim != axis)
        for each in (self, source)
    )
    return OperatorError(
        f"{name}(): Source/destination tensor must have same slice shapes. Destination slice "
        f"shape: {mine} at dimension {axis} and source slice shape: {others} at dimension "
        f"{axis}.",
        code="shape-mismatch",
        headline=headline,
    )


def _slices(self: Array, axis: int, index: Array) -> tuple[Array, Key]:
    return _with_rank(self), (slice(None),) * axis + (settled(index).reshape(-1),)


@operator(
    "aten::index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) "
    "-> Tensor(a!)"
)
def index_add_in_place(self: Array, dim: int, index: Array, source: Array, alpha: Scalar) -> Array:
    axis = _check_vector("index_add_", self, dim, index, source)
    if alpha != 1:
        source = np.multiply(source, number_in(alpha, source.dtype))
    if axis == 0 and is_ready(source) and self.ndim and self.flags.carray:
        tables = family("tables")
        if tables is not None:
            count = len(self)
            rows = source.reshape(len(source), -1)
            if not tables.add_rows(self.reshape(count, -1), index.reshape(-1), rows):
                raise IndexOutOfRange("index out of range in self")
            return self
    target, key = _slices(self, axis, index)
    _combine_at(target, key, _with_rank(source), "sum", True)
    return self


@operator(
    "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) "
    "-> Tensor"
)
def index_add(self: Array, dim: int, index: Array, source: Array, alpha: Scalar) -> Array:
    return index_add_in_place(self.copy(), dim, index, source, alpha)


@operator("aten::index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)")
def index_copy_in_place(self: Array, dim: int, index: Array, source: Array) -> Array:
    axis = _check_vector("index_copy_", self, dim, index, source)
    target, key = _slices(self, axis, index)
    target[key] = _with_rank(source)
    return self


@operator("aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor")
def index_copy(self: Array, dim: int, index: Array, source: Array) -> Array:
    return index_copy_in_place(self.copy(), dim, index, source)


@operator(
    "aten::index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor(a!)"
)
def index_reduce_in_place(
    self: Array, dim: int, index: Array, source: Array, reduce: str, include_self: bool
) -> Array:
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise OperatorError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    axis = _check_vector("index_reduce", self, dim, index, source)
    if index.size:
        target, key = _slices(self, axis, index)
        _combine_at(target, key, _with_rank(source), reduce, include_self)
    return self


@operator(
    "aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor"
)
def index_reduce(
    self: Array, dim: int, index: Array, source: Array, reduce: str, include_self: bool
) -> Array:
    return index_reduce_in_place(self.copy(), dim, index, source, reduce, include_self)


def _index_fill(self: Array, dim: int, index: Array, value: Array) -> Array:
    axis = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexOutOfRange("Index has to be a vector/scalar")
    if value.ndim:
        raise OperatorError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if index.dtype != _INT64:
        raise IndexOutOfRange("index_fill_(): Expected dtype int64 for index.")
    target, key = _slices(self, axis, index)
    try:
        target[key] = cast(value, self.dtype)
    except IndexError:
        raise IndexOutOfRange(
            "index out of range in self",
            headline=f"`index` leaves dimension {axis} of size {target.shape[axis]}",
        ) from None
    return self


def _fill_number(self: Array, dim: int, index: Array, value: Scalar) -> Array:
    if isinstance(value, complex) and kind(self.dtype) != 3:
        raise OperatorError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported",
            code="dtype-mismatch",
        )
    return _index_fill(self, dim, index, number_in(value, self.dtype))


operator(
    "aten::index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) "
    "-> Tensor(a!)"
)(_fill_number)
operator(
    "aten::index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) "
    "-> Tensor(a!)"
)(_index_fill)


@operator("aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor")
def index_fill(self: Array, dim: int, index: Array, value: Scalar) -> Array:
    return _fill_number(self.copy(), dim, index, value)


@operator("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor")
def index_fill_from(self: Array, dim: int, index: Array, value: Array) -> Array:
    return _index_fill(self.copy(), dim, index, value)


# --------------------------------------------------------------------------- counted through


@operator(
    "aten::put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)"
)
def put_in_place(self: Array, index: Array, source: Array, accumulate: bool) -> Array:
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
        raise OperatorError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}",
            code="shape-mismatch",
        )
    flat = settled(index).reshape(-1)
    wrong = flat[(flat < -self.size) | (flat >= self.size)]
    if wrong.size:
        raise IndexOutOfRange(
            f"out of range: tried to access index {int(wrong[0])} on a tensor of {self.size} "
            "elements."
        )
    if not flat.size:
        return self
    target = _with_rank(self)
    key = np.unravel_index(np.where(flat < 0, flat + self.size, flat), target.shape)
    if accumulate:
        _combine_at(target, key, source.reshape(-1), "sum", True)
    else:
        target[key] = source.reshape(-1)
    return self


@operator("aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor")
def put(self: Array, index: Array, source: Array, accumulate: bool) -> Array:
    return put_in_place(self.copy(), index, source, accumulate)


# --------------------------------------------------------------------------- masks


@operator("aten::masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)")
def masked_scatter_in_place(self: Array, mask: Array, source: Array) -> Array:
    if mask.dtype != np.bool_:
        raise OperatorError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{dtype_of(mask).scalar_name}",
            code="dtype-mismatch",
            headline=f"`mask` must be of bools, it is `{dtype_of(mask)}`",
            roles={"mask": "must be of bools"},
        )
    if self.dtype != source.dtype:
        raise OperatorError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{dtype_of(self).scalar_name} and {dtype_of(source).scalar_name}",
            code="dtype-mismatch",
        )
    shape = checked_broadcast(self.shape, mask.shape, ("self", "mask"))
    if shape != self.shape:
        raise OperatorError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(shape)}",
            code="shape-mismatch",
        )
    where = np.broadcast_to(settled(mask), shape)
    count = int(np.count_nonzero(where))
    if source.size < count:
        raise OperatorError("Number of elements of source < number of ones in mask")
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
    "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor"
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
    "Tensor values) -> Tensor"
)
def masked_index_put(self: Array, mask: Array, indices: Indices, values: Array) -> Array:
    if not self.size:
        return self.copy()
    kept = np.where(mask, values, self.dtype.type(0))
    return index_put(self.copy(), _clamped(self, indices), kept, True)


@operator("aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor")
def nonzero_static(self: Array, size: int, fill_value: int) -> Array:
    """The first `size` positions of elements that are not zero, filled up to that many."""
    if size < 0:
        raise OperatorError("nonzero_static: 'size' must be an non-negative integer")
    check_storage([size, self.ndim])
    found = np.argwhere(settled(self))[:size]
    result = np.full((size, self.ndim), fill_value, _INT64)
    result[: len(found)] = found
    return result
