"""Order statistics: median, mode, quantile, unique elements."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..kernels import cast_by_kernel, family, in_order, is_half, is_whole, written_by_numpy
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Dtype
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import settled
from ..reductions.extremes import check_dim_not_empty
from ..table.layouts import contiguous
from ..table.out_dtypes import SAME, OutDtype
from ..table.pointwise import as_array, number_as
from ..table.promotion import kind
from ..table.refusals import check_kernel, check_ordered
from ..table.table import operator
from ..table.without_data import always
from .ranking import (
    middle_of_short,
    placed_in_order,
    selected,
    sorted_along,
    sorted_positions,
)
from .unordered import library_order

__all__ = ["is_nan", "sortable"]

_OUT_OF_NANQUANTILE: Final = OutDtype(
    "same", "quantile() out tensor must be same dtype as the input tensor"
)


_FLOAT32: Final = np.dtype(np.float32)
_INT64: Final = np.dtype(np.int64)


def is_nan(self: Array) -> Array:
    """Where the elements are no numbers."""
    return np.isnan(self) if kind(self.dtype) >= 2 else np.zeros(self.shape, np.bool_)


def _has_nan(self: Array) -> bool:
    """Whether any element is no number."""
    if self.dtype.kind == "f" and self.size:
        return bool(np.isnan(self.max()))
    return bool(is_nan(self).any())


def sortable(self: Array) -> Array:
    """The array in a dtype that NumPy can sort."""
    return self if self.dtype.isbuiltin == 1 else self.astype(np.float32)


# --------------------------------------------------------------------------- sort


@operator("aten::msort(Tensor self) -> Tensor", layout="L", out_dtype=SAME)
def msort(self: Array) -> Array:
    check_ordered(" Sort", self)
    return sorted_along(self, 0, False)[0] if self.ndim else self.copy()


# --------------------------------------------------------------------------- median mode


def _of_nothing(dtype: Dtype) -> Array:
    """The median of no elements: NaN, as a processor converts it."""
    if kind(dtype) >= 2 or dtype.kind == "b":
        return number_as(float("nan"), dtype)
    return np.asarray(np.iinfo(dtype).min if dtype in (_INT64, np.int32) else 0, dtype)


_FEW: Final = 64
"""Elements whose median is found as that of a short row."""


def _median(name: str, skip_nan: bool) -> None:
    def along(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
        self = self[...]  # which no other thread can change
        axis = check_dim_not_empty(self, dim, "median")
        check_kernel("median_out", self, "bc")
        if not self.ndim:
            return self.copy(), np.zeros((), _INT64)
        found = selected(self, axis, name) or middle_of_short(self, axis, skip_nan=skip_nan)
        size = self.shape[axis]
        if found is None:
            if kind(self.dtype) >= 2:
                written_by_numpy()  # or not: what is done depends on the elements
            if not _has_nan(self):
                found = placed_in_order(self, axis, (size - 1) // 2)
        if found is not None:
            values, where = found
            return (values, where) if keepdim else (values.squeeze(axis), where.squeeze(axis))
        nans = np.count_nonzero(is_nan(self), axis, keepdims=True)
        order = sorted_positions(self, axis, False)
        middle = np.maximum(size - nans - 1, 0) // 2
        if not skip_nan:  # the first NaN comes right after the numbers
            middle = np.where(nans > 0, size - nans, middle)
        where = np.take_along_axis(order, middle, axis)
        values = np.take_along_axis(self, where, axis)
        return (values, where) if keepdim else (values.squeeze(axis), where.squeeze(axis))

    def of_all(self: Array) -> Array:
        if not self.size:
            return _of_nothing(self.dtype)
        check_kernel("median_cpu", self, "bc")
        flat = self.reshape(-1)
        if flat.size <= _FEW:
            return along(flat, 0, False)[0]
        written_by_numpy()  # or not: what is done depends on the elements
        rest: Array = flat
        if flat.itemsize < 4:
            rest = cast_by_kernel(flat, _FLOAT32 if is_half(flat.dtype) else np.dtype(np.int32))
        middles = family("ordering.middles") if is_whole(rest) else None
        found = None if middles is None else middles.placed(rest, (flat.size - 1) // 2)
        if found is not None:
            return np.asarray(found).astype(flat.dtype, copy=False)
        if rest.dtype.isbuiltin == 1 and not _has_nan(rest):
            middle = (flat.size - 1) // 2
            return np.asarray(np.partition(rest, middle)[middle]).astype(flat.dtype)
        return along(flat, 0, False)[0]

    operator(
        f"aten::{name}(Tensor self) -> Tensor",
        on_slices="dims",
        out_overlap="read-first",
        prepared=True,
    )(of_all)
    operator(
        f"aten::{name}.dim(Tensor self, int dim, bool keepdim=False) "
        "-> (Tensor values, Tensor indices)",
        out="dim_values",
        order="- dim dim_values out",
        out_overlap="read-first",
        prepared=True,
    )(along)


_median("median", False)
_median("nanmedian", True)


_SHORT: Final = 16
"""Rows of so many elements the C++ library sorts by insertion."""


def _inserted(rows: Array) -> Array:
    """The places of short rows' elements sorted by insertion with `<` alone.

    Where an element is NaN that is no order; `mode` counts neighbours of what comes out.
    """
    values = rows.copy()
    order = np.broadcast_to(np.arange(rows.shape[-1]), rows.shape).copy()
    for i in range(1, rows.shape[-1]):
        new, place = values[..., i].copy(), order[..., i].copy()
        moving = np.ones(new.shape, bool)
        first = new < values[..., 0]  # such an element goes to the front past whatever is between
        for j in range(i, 0, -1):
            moving = moving & (first | (new < values[..., j - 1]))
            for array, moved in ((values, new), (order, place)):
                array[..., j - 1], array[..., j] = (
                    np.where(moving, moved, array[..., j - 1]),
                    np.where(moving, array[..., j - 1], array[..., j]),
                )
    return order


def _mode_natively(rows: Array) -> tuple[Array, Array] | None:
    """The most frequent elements of rows, and their places; None where there is no kernel that can
    tell."""
    native = family("ordering.modes") if rows.shape[-1] > 0 and rows.size else None
    if native is None:
        return None
    rows, found = in_order(rows), None
    if rows.shape[-1] <= native.LONGEST:
        found = native.modes(rows)
    elif rows.dtype.isbuiltin == 1:
        found = native.modes_in_order(rows, np.sort(rows, -1))
    return found


@operator(
    "aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    layout="CC",
    out_dtype=OutDtype(
        "same", "expected scalar type '{result}' but got '{out}' for {field} output"
    ),
    out_overlap="apart",
    out="values",
    prepared=True,
    on_slices="dims",
)
def mode(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The most frequent value, the smallest of several, and where it comes last."""
    check_kernel("mode_cpu", self)
    axis = check_dim_not_empty(self, dim, "mode")
    if not self.ndim:
        return self.copy(), np.zeros((), _INT64)
    self = self[...]  # which no other thread can change
    rows = np.moveaxis(self, axis, -1)
    quick = _mode_natively(rows)
    if quick is not None:
        if keepdim:
            shape = (*self.shape[:axis], 1, *self.shape[axis + 1 :])
            return quick[0].reshape(shape), quick[1].reshape(shape)
        return quick
    if rows.shape[-1] <= _SHORT and (rows != rows).any():
        order = _inserted(rows)
    else:
        order = np.moveaxis(sorted_positions(self, axis, False), axis, -1)
    values = np.take_along_axis(rows, order, -1)
    places = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
    starts = places.copy()
    starts[..., 1:][values[..., 1:] == values[..., :-1]] = 0
    counts = places - np.maximum.accumulate(starts, -1)
    best = np.argmax(counts, -1, keepdims=True)
    where = np.take_along_axis(order, best, -1)
    most = np.take_along_axis(values, best, -1)
    if keepdim:
        return np.moveaxis(most, -1, axis), np.moveaxis(where, -1, axis)
    return most[..., 0], where[..., 0]


# --------------------------------------------------------------------------- quantile


_INTERPOLATIONS: Final = ("linear", "lower", "higher", "midpoint", "nearest")


def _check_quantile(name: str, self: Array, q: Array, interpolation: str) -> None:
    if not self.size:
        raise OperatorError("quantile() input tensor must be non-empty")
    if q.ndim > 1:
        raise OperatorError(f"{name}() q must be a scalar or 1D tensor")
    if self.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise OperatorError(
            "quantile() input tensor must be either float or double dtype", code="dtype-mismatch"
        )
    if self.dtype != q.dtype:
        raise OperatorError(
            f"{name}() q tensor must be same dtype as the input tensor", code="dtype-mismatch"
        )
    if interpolation not in _INTERPOLATIONS:
        raise OperatorError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if not np.all((q >= 0) & (q <= 1)):
        raise OperatorError(f"{name}() q values must be in the range [0, 1]")


def _between(below: Array, above: Array, weight: Array) -> Array:
    """`below` to `above` by a weight, from the nearer end."""
    step = above - below
    return as_array(np.where(weight < 0.5, below + weight * step, above - step * (1 - weight)))


def _quantile(
    name: str, self: Array, q: Array, dim: int | None, keepdim: bool, interpolation: str
) -> Array:
    _check_quantile(name, self, q, interpolation)
    axis = 0 if dim is None else wrap_dim(dim, self.ndim)
    rows: Array
    if dim is None or not self.ndim:
        rows, rest = self.reshape(-1), (1,) * self.ndim
    else:
        rows = np.moveaxis(self, axis, -1)
        rest = tuple(1 if d == axis else n for d, n in enumerate(self.shape))
    rows = np.sort(rows, -1)
    nans = np.count_nonzero(np.isnan(rows), -1, keepdims=True)
    size = rows.shape[-1]
    ranks = q.reshape(-1) * (size - nans - 1 if name == "nanquantile" else size - 1)
    ranks = np.maximum(ranks, 0).astype(self.dtype)
    if name == "quantile":
        ranks = np.where(nans > 0, self.dtype.type(size - 1), ranks)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[interpolation](ranks)
    low = np.floor(ranks)
    below = np.take_along_axis(rows, low.astype(_INT64), -1)
    result = below
    if interpolation in ("linear", "midpoint"):
        above = np.take_along_axis(rows, np.ceil(ranks).astype(_INT64), -1)
        weight = ranks - low if interpolation == "linear" else np.full_like(ranks, 0.5)
        result = _between(below, above, weight)
    result = contiguous(result.astype(self.dtype, copy=False))
    result = np.moveaxis(result.reshape(*rest, -1) if keepdim else result, -1, 0)
    return result if q.ndim else result[0, ...]


def _declare_quantile(name: str) -> None:
    tail = 'int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor'

    def of_tensor(
        self: Array, q: Array, dim: int | None, keepdim: bool, interpolation: str
    ) -> Array:
        return _quantile(name, self, q, dim, keepdim, interpolation)

    def of_number(
        self: Array, q: float, dim: int | None, keepdim: bool, interpolation: str
    ) -> Array:
        if not 0 <= q <= 1:
            raise OperatorError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        wanted = self.dtype if kind(self.dtype) == 2 else np.dtype(np.float32)
        return _quantile(name, self, np.asarray(q, wanted), dim, keepdim, interpolation)

    operator(
        f"aten::{name}(Tensor self, Tensor q, {tail}",
        autocast="full",
        out_dtype=_OUT_OF_NANQUANTILE,
        out_layout="C",
        out_overlap="read-first",
    )(of_tensor)
    operator(
        f"aten::{name}.scalar(Tensor self, float q, {tail}",
        autocast="full",
        out_dtype=_OUT_OF_NANQUANTILE,
        out_layout="C",
        out_overlap="read-first",
    )(of_number)


_declare_quantile("quantile")
_declare_quantile("nanquantile")


# --------------------------------------------------------------------------- unique


_NONE: Final = np.zeros(0, _INT64)


def _unique(self: Array, return_inverse: bool, return_counts: bool) -> tuple[Array, Array, Array]:
    check_kernel("unique", self)
    flat = settled(sortable(self).reshape(-1))
    found = _counted_through(flat, return_inverse)
    values, inverse, counts = _in_runs(flat, return_inverse) if found is None else found
    return (
        values.astype(self.dtype, copy=False),
        inverse.reshape(self.shape) if return_inverse else _NONE.copy(),
        counts if return_counts else _NONE.copy(),
    )


def _in_runs(flat: Array, return_inverse: bool) -> tuple[Array, Array, Array]:
    """The values, in order, where each element is among them, if asked for, and how many there are
    of each; what is no number differs from itself."""
    if return_inverse:
        order = np.ascontiguousarray(sorted_positions(flat, 0, False))
        return _runs_of_line(flat[order], True, order)
    values, inverse, counts = _runs_of_line(_sorted(flat), False)
    if flat.dtype.kind == "f":
        at = int(values.searchsorted(0))
        if at < values.size and not values[at]:  # the first of zeros of both signs
            values[at] = flat[np.argmax(flat == 0)]
    return values, inverse, counts


def _sorted(flat: Array) -> Array:
    """A line in order, where equal elements need not keep theirs."""
    return np.sort(flat, kind="stable" if flat.itemsize < 4 else None)


def _runs_of_line(
    line: Array, return_inverse: bool, order: Array | None = None
) -> tuple[Array, Array, Array]:
    """The first elements of runs of equal neighbours, the run of each element, which stood as the
    order says, and the runs' lengths."""
    native = family("ordering.runs") if line.size else None
    line = np.ascontiguousarray(line) if native is not None else line
    found = native and native.runs(line, order, with_inverse=return_inverse)
    if found:
        made: tuple[Array, Array, Array] = found
        return made
    starts, inverse, counts = _runs(line[:, None])
    if order is not None:
        back = np.empty_like(inverse)
        back[order] = inverse
        inverse = back
    return line[starts], inverse, counts


def _counted_through(flat: Array, return_inverse: bool) -> tuple[Array, Array, Array] | None:
    """The same of whole numbers between bounds that are not far apart; None of others."""
    is_known = flat.dtype is _INT64 or (flat.dtype.kind in "iu" and flat.itemsize <= 4)
    counting = family("ordering.counting") if is_known and flat.size >= _MANY else None
    if counting is None:
        return None
    if flat.dtype is not _INT64:
        flat = cast_by_kernel(flat, _INT64, of_any_size=True)
    low, high = counting.span(flat)
    if high - low >= flat.size:
        return None
    above = flat - low
    counts = counting.count(above, high - low + 1)
    places = np.flatnonzero(counts)
    inverse = _NONE
    if return_inverse:
        ranks = np.empty(counts.size, _INT64)
        ranks[places] = np.arange(places.size)
        inverse = ranks[above]
    return places + low, inverse, counts[places]


_MANY: Final = 64
"""Whole numbers that are counted sooner than they are sorted."""


@operator(
    "aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
    data_dependent=always,
)
def unique_with_inverse(self: Array, sorted: bool, return_inverse: bool) -> tuple[Array, Array]:
    return _unique(self, return_inverse, False)[:2]


@operator(
    "aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, "
    "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    data_dependent=always,
)
def unique(
    self: Array, sorted: bool, return_inverse: bool, return_counts: bool
) -> tuple[Array, Array, Array]:
    return _unique(self, return_inverse, return_counts)


def _check_unique_dim(self: Array, dim: int) -> int:
    if not self.ndim:
        raise IndexOutOfRange(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = wrap_dim(dim, self.ndim)
    empty = self.shape.count(0)
    if not self.shape[axis] and empty > 1:
        raise OperatorError(
            "Number of zero sized dimensions is more than one, so unique cannot be applied "
        )
    if self.shape[axis] and empty:
        raise OperatorError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return axis


def _rows(self: Array, axis: int) -> Array:
    """The slices along a dimension as the rows of a matrix."""
    moved = np.moveaxis(self, axis, 0)
    return moved.reshape(moved.shape[0], math.prod(moved.shape[1:]))


def _slices(rows: Array, like: Array, axis: int) -> Array:
    """Rows as slices along that dimension, which is stored outermost."""
    shape = (len(rows), *like.shape[:axis], *like.shape[axis + 1 :])
    if not rows.size:
        return contiguous(np.empty(like.shape, like.dtype))
    return np.moveaxis(rows.reshape(shape), 0, axis)


@operator(
    "aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, "
    "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    face="operator",
    data_dependent=always,
)
def unique_dim(
    self: Array, dim: int, sorted: bool, return_inverse: bool, return_counts: bool
) -> tuple[Array, Array, Array]:
    check_kernel("unique_dim", self)
    axis = _check_unique_dim(self, dim)
    slices = _rows(self, axis)
    rows = sortable(slices)
    order = _order_of_rows(rows) if rows.size else np.arange(rows.shape[0])
    found, inverse, counts = _runs(rows[order])
    back = np.empty_like(inverse)
    back[order] = inverse
    return _slices(slices[order[found]], self, axis), back, counts


def _order_of_rows(rows: Array) -> Array:
    """The order of rows by their first elements, then the next ones, and so on."""
    if rows.dtype.kind == "f" and _has_nan(rows):
        told = rows.tolist()
        return np.array(library_order(len(told), lambda a, b: _is_less(told[a], told[b])), np.int64)
    if len(rows) > rows.shape[1]:
        return np.lexsort(rows.T[::-1])
    if rows.dtype.kind == "f":
        rows = rows + rows.dtype.type(0)  # zeros of both signs are equal
    words = np.ascontiguousarray(rows).view(f"u{rows.itemsize}")
    top = words.dtype.type(1 << (8 * rows.itemsize - 1))
    if rows.dtype.kind == "f":
        words = np.where(words & top, ~words, words | top)
    elif rows.dtype.kind == "i":
        words = words ^ top
    keys = words.astype(words.dtype.newbyteorder(">")).view(f"V{words[0].nbytes}")
    return keys.reshape(-1).argsort(kind="stable")


def _is_less(one: list[float], other: list[float]) -> bool:
    """Whether the first two numbers that are not equal, or are none, tell so."""
    for a, b in zip(one, other, strict=True):
        if a < b:
            return True
        if a > b:
            return False
    return False


def _runs(rows: Array) -> tuple[Array, Array, Array]:
    """Where runs of equal rows begin, the run each row belongs to, and the runs' lengths."""
    if not len(rows):
        return _NONE.copy(), _NONE.copy(), _NONE.copy()
    starts = np.ones(len(rows), np.bool_)
    starts[1:] = np.any(rows[1:] != rows[:-1], 1)
    found = np.flatnonzero(starts)
    counts = np.diff(np.append(found, len(rows)))
    return found, np.cumsum(starts) - 1, counts


@operator(
    "aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> (Tensor, Tensor, Tensor)",
    data_dependent=always,
)
def unique_consecutive(
    self: Array, return_inverse: bool, return_counts: bool, dim: int | None
) -> tuple[Array, Array, Array]:
    if dim is not None:
        return unique_dim_consecutive(self, dim, return_inverse, return_counts)
    check_kernel("unique", self)
    values, inverse, counts = _runs_of_line(self[...].reshape(-1), return_inverse)
    return (
        values,
        inverse.reshape(self.shape) if return_inverse else _NONE.copy(),
        counts if return_counts else _NONE.copy(),
    )


@operator(
    "aten::unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, "
    "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    face="operator",
    data_dependent=always,
)
def unique_dim_consecutive(
    self: Array, dim: int, return_inverse: bool, return_counts: bool
) -> tuple[Array, Array, Array]:
    check_kernel("unique_dim", self)
    axis = _check_unique_dim(self, dim)
    rows = _rows(self, axis)
    found, inverse, counts = _runs(rows)
    return _slices(rows[found], self, axis), inverse, counts
