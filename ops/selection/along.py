"""Reading, writing and adding at places along a dimension that index tensors name."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ..kernels import is_half, written_by_numpy
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.overlap import check_apart
from ..memory.remembered import remembered
from ..memory.storage import settled
from ..table.out_dtypes import SAME, SELF_AND_RESULT
from ..table.table import operator
from ..table.without_data import rows_of
from .index_errors import check_rows, first_outside, outside_dimension
from .places import (
    beside,
    by_slices,
    combined_by_numpy,
    combined_natively,
    copied,
    one,
    positions,
    taken_natively,
)

__all__ = ["check_index", "check_ranks", "check_scatter", "is_within", "row_starts"]

_INT64: Final = np.dtype(np.int64)
_UINT64: Final = np.dtype(np.uint64)


def is_within(index: Array, size: int) -> bool:
    """Whether whole numbers are all at least 0 and below `size`."""
    if index.dtype is _INT64:  # numbers below 0 are too large ones without a sign
        index = index.view(_UINT64)
        return bool(index.item(index.argmax()) < size)
    low, high = index.argmin(), index.argmax()
    return bool(index.item(low) >= 0 and index.item(high) < size)


def _check_places(index: Array, name: str) -> None:
    if index.dtype is not _INT64 and index.dtype != np.int32:
        both = "int32 or int64" if name == "index_select" else "int32/int64"
        raise OperatorError(
            f"{name}(): Expected dtype {both} for index",
            code="dtype-mismatch",
            headline=f"`index` must be of whole numbers, it is `{dtype_of(index)}`",
            roles={"index": "must be int64"},
        )


def check_index(self: Array, dim: int, index: Array, name: str) -> int:
    axis = wrap_dim(dim, self.ndim)
    if index.size:
        _check_places(index, name)
    size = self.shape[axis] if self.ndim else 1
    if index.size and not is_within(by_slices(index, axis), size):
        if name == "index_select":
            raise IndexOutOfRange(
                "index out of range in self",
                headline=f"`index` leaves dimension {axis}, which has size {size}",
            )
        wrong = first_outside(index.reshape(-1), 0, size)
        assert wrong is not None
        raise outside_dimension(axis, wrong, size)
    return axis


@operator(
    "aten::index_select(Tensor self, int dim, Tensor index) -> Tensor",
    prepared=True,
    out_dtype=SELF_AND_RESULT,
    out_overlap="apart",
    rows=rows_of("self"),
    on_slices="rows",
)
def index_select(self: Array, dim: int, index: Array) -> Array:
    wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexOutOfRange("index_select(): Index is supposed to be a vector")
    if not self.ndim and index.size != 1:
        raise OperatorError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )
    try:
        axis = check_index(self, dim, index, "index_select")
    except IndexOutOfRange:
        check_rows(self, dim, index)
        raise
    if not self.ndim:
        return self.copy()
    places = index if index.ndim else index.reshape(1)
    found = taken_natively(self, axis, places)
    return self.take(places, axis) if found is None else found


def check_ranks(self: Array, index: Array, axis: int, other: str = "input") -> None:
    """Refuse index tensors that do not go with a tensor; `other` is its name in the message."""
    if self.shape == index.shape:
        return
    if max(self.ndim, 1) != max(index.ndim, 1):
        raise OperatorError(
            f"Index tensor must have the same number of dimensions as {other} tensor",
            code="shape-mismatch",
            headline=f"`index` has {index.ndim} dimensions, the {other} tensor {self.ndim}",
            roles={"index": f"must have {self.ndim} dimensions"},
        )
    if other != "input":
        return
    for dim in range(index.ndim if self.ndim else 0):
        if dim != axis and index.shape[dim] > self.shape[dim]:
            raise OperatorError(
                f"Size does not match at dimension {dim} expected index {list(index.shape)} to be "
                f"no larger than self {list(self.shape)} apart from dimension {axis}",
                code="shape-mismatch",
                headline=f"`index` is larger than `self` in dimension {dim}",
            )


def check_scatter(self: Array, dim: int, index: Array, src: object) -> int:
    """The dimension that `scatter` and its kin write along.

    Raises:
        OperatorError: the tensors do not go together.
    """
    axis = wrap_dim(dim, self.ndim)
    if index.size:
        _check_places(index, "scatter")
    source = src if isinstance(src, np.ndarray) else None
    if source is not None and source.dtype != self.dtype:
        raise OperatorError(
            "scatter(): Expected self.dtype to be equal to src.dtype",
            code="dtype-mismatch",
            headline=f"`src` is `{dtype_of(source)}`, `self` is `{dtype_of(self)}`",
            roles={"src": f"must be `{dtype_of(self)}`"},
        )
    if not index.size:
        return axis
    if index.shape == self.shape and (source is None or source.shape == index.shape):
        check_index(self, dim, index, "scatter")
        return axis
    check_ranks(self, index, axis, "self")
    lacks = _lacks_room(self, index, source, axis)
    if source is not None:
        check_ranks(source, index, axis, "src")
    if lacks:
        largest = (
            "" if source is None else f" and to be no larger size than src {list(source.shape)}"
        )
        raise OperatorError(
            f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} "
            f"apart from dimension {axis}{largest}",
            code="shape-mismatch",
            headline="`index` is too large",
        )
    check_index(self, dim, index, "scatter")
    return axis


def _lacks_room(self: Array, index: Array, source: Array | None, axis: int) -> bool:
    """Whether there is no place or no number for some element of `index`; a tensor of no dimensions
    counts as one of one."""
    wanted, shape = index.shape or (1,), self.shape or (1,)
    if any(dim != axis and n > shape[dim] for dim, n in enumerate(wanted)):
        return True
    given = wanted if source is None else source.shape or (1,) * len(wanted)
    return any(n > given[wrap_dim(dim, len(given))] for dim, n in enumerate(wanted))


@operator(
    "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    prepared=True,
    out_dtype=SAME,
    out_overlap="apart",
    rows=rows_of("index self"),
    on_slices="places",
)
def gather(self: Array, dim: int, index: Array, sparse_grad: bool) -> Array:
    axis = wrap_dim(dim, self.ndim)
    if not index.size:  # of any number of dimensions
        return np.empty(index.shape, self.dtype)
    _check_places(index, "gather")
    check_ranks(self, index, axis)
    if self.ndim and index.ndim:
        part = beside(self, axis, index)
        found = None if part is None else taken_natively(part, axis, index)
        if found is not None:
            return found
    check_index(self, dim, index, "gather")
    if not self.ndim or not index.ndim:
        return np.asarray(self.reshape(-1).take(index))
    return np.asarray(self[positions(index, axis)])


@remembered(8 << 20)
def row_starts(shape: tuple[int, ...]) -> Array:
    """The positions in memory of the rows of a contiguous tensor, as a column.

    Remembered: do not write to it.
    """
    *before, length = shape
    return np.arange(0, math.prod(shape), length or 1).reshape(*before, 1)


def _scattered(self: Array, dim: int, index: Array, source: Array | Scalar) -> Array:
    axis = check_scatter(self, dim, index, source)
    if not index.size:
        return self
    check_apart(self, (index, source))
    if isinstance(source, np.ndarray):
        shape = index.shape or (1,)
        part: Any = source
        if source.ndim and source.shape != shape:
            part = source[tuple(slice(n) for n in shape)]
    else:
        part = one(source, self.dtype)
    fits = self.ndim and index.ndim == self.ndim and part.shape in (index.shape, ())
    if fits and combined_natively(self, axis, index, part, "put"):
        return self
    written_by_numpy()
    if self.ndim:
        self[positions(index if index.ndim else index.reshape(1), axis)] = part
    else:
        self[...] = np.reshape(part, -1)[-1]
    return self


@operator(
    "aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    order="value src",
    prepared=True,
    out_dtype=SAME,
    on_slices="places",
)
def scatter(self: Array, dim: int, index: Array, src: Array) -> Array:
    return _scattered(copied(self), dim, index, src)


@operator(
    "aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    prepared=True,
    out_dtype=SAME,
)
def scatter_number(self: Array, dim: int, index: Array, value: Scalar) -> Array:
    return _scattered(copied(self), dim, index, value)


operator(
    "aten::scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
    written="unchecked",
    prepared=True,
)(_scattered)
operator(
    "aten::scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
    prepared=True,
    written="unchecked",
)(_scattered)


def _scatter_added(self: Array, dim: int, index: Array, src: Array) -> Array:
    axis = check_scatter(self, dim, index, src)
    if not index.size:
        return self
    check_apart(self, (index, src))
    if self.ndim == index.ndim == src.ndim:
        part = src if src.shape == index.shape else src[tuple(slice(n) for n in index.shape)]
        if self.ndim and combined_natively(self, axis, index, part, "sum", once=True):
            return self
    written_by_numpy()
    if is_half(self.dtype):
        self[...] = _scatter_added(self.astype(np.float32), dim, index, src.astype(np.float32))
        return self
    if not (self.ndim and index.ndim and src.ndim):
        numbers = src.reshape(-1)[: index.size]
        combined_by_numpy(np.add, self.reshape(-1), settled(index).reshape(-1), numbers)
    else:
        part = src[tuple(slice(n) for n in index.shape)]
        combined_by_numpy(np.add, self, positions(index, axis), part)
    return self


@operator(
    "aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    prepared=True,
    out_dtype=SAME,
    on_slices="places",
)
def scatter_add(self: Array, dim: int, index: Array, src: Array) -> Array:
    return _scatter_added(copied(self), dim, index, src)


operator(
    "aten::scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
    written="unchecked",
    prepared=True,
)(_scatter_added)
