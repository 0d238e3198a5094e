"""Sorting, and the largest elements in order."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ..kernels import Prepared, cast_by_kernel, family, in_order, is_half, is_whole
from ..memory.dims import wrap_dim
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..memory.storage import settled
from ..reductions.extremes import check_dim_not_empty
from ..table.inline import native
from ..table.out_dtypes import SAME
from ..table.refusals import check_kernel, check_ordered
from ..table.table import operator
from ..table.without_data import rows_of
from .along import row_starts
from .packed import packed, places_of

__all__ = ["middle_of_short", "placed_in_order", "selected", "sorted_along", "sorted_positions"]

_INT64: Final = np.dtype(np.int64)
_INT32: Final = np.dtype(np.int32)
_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)
_BLOCK: Final = 64
"""Elements of a block, of whose largest ones the bound for the largest of all is taken."""


def sorted_positions(self: Array, axis: int, descending: bool) -> Array:
    """A stable order; NaN counts as the largest."""
    if not self.ndim:
        return np.zeros((), _INT64)
    if self.dtype.isbuiltin != 1:
        self = self.astype(np.float32)
    words = packed(self, axis, descending)
    if words is not None:
        words.sort(-1)
        return places_of(words, axis)
    if self.itemsize < 4:  # whose digits are counted first
        self = settled(self)
    if not descending:
        return self.argsort(axis, kind="stable")
    if axis == self.ndim - 1:
        turned = self[..., ::-1].argsort(axis, kind="stable")
        return (self.shape[axis] - 1 - turned)[..., ::-1].copy()
    turned = np.argsort(np.flip(self, axis), axis, kind="stable")
    return np.flip(self.shape[axis] - 1 - turned, axis).copy()


_MANY: Final = 1024
"""Elements from which NumPy sorts as quickly what lies in short rows of one piece."""
_LEARNED: Final = 4096
"""Elements up to which kernels do that too where somebody learns which they are."""
_SHORT: Final = 512
"""Elements of a row that NumPy puts in order by few vectors; of float64 it has no such words."""
_RANKED_BESIDE: Final = 64
"""Elements of rows along another dimension than the last from which they are turned for that."""
_RANKED: Final = 64
"""Elements of rows that are ranked sooner than their first ones are kept in order."""
_FEW: Final = 32
"""Elements of such a row of which some are found as quickly by ranking all."""


def _ranked(self: Array, axis: int, low: int, high: int, descending: bool) -> object:
    return family("ordering.short_orders").in_order(self, axis, low, high, descending=descending)


def _by_digits(self: Array, axis: int, low: int, high: int, descending: bool) -> object:
    return family("ordering.digit_orders").in_order(self, axis, low, high, descending=descending)


def _middle(self: Array, axis: int, skip_nan: bool) -> object:
    return family("ordering.short_orders").middle(self, axis, skip_nan=skip_nan)


_known_ranked: Final = Prepared(_ranked)
_known_by_digits: Final = Prepared(_by_digits)
_known_middle: Final = Prepared(_middle)


def _is_for_kernels(self: Array, axis: int, count: int) -> bool:
    """Whether `count` elements of each row are best found by kernels, if there are any."""
    size = self.shape[axis] if self.ndim else 0
    if not 0 < count <= size or not is_whole(self) or family("calls.run") is None:
        return False
    is_quick = (
        (axis == self.ndim - 1 or size > _RANKED_BESIDE)
        and size < _SHORT
        and self.dtype is not _FLOAT64
    )
    if not is_quick or count < size <= _FEW or self.size < _MANY:
        return True
    told: bool = self.size <= _LEARNED and family("calls.run").is_told()
    return told


def _some_in_order(
    self: Array, axis: int, low: int, high: int, descending: bool
) -> tuple[Array, Array] | None:
    """The elements from `low` to `high` of rows in order, and their places; None if that is no
    work for a kernel."""
    if not _is_for_kernels(self, axis, high - low):
        return None
    size = self.shape[axis]
    if size > family("ordering.digit_orders").LONGEST:
        return None
    known = _known_ranked if size <= family("ordering.short_orders").LONGEST else _known_by_digits
    found: tuple[Array, Array] | None = known.call(self, axis, low, high, descending)
    return found


def middle_of_short(self: Array, axis: int, *, skip_nan: bool) -> tuple[Array, Array] | None:
    """The medians of short rows, and their places, with a dimension of size 1; None if that is no
    work for a kernel."""
    if not _is_for_kernels(self, axis, 1):
        return None
    found: tuple[Array, Array] | None = _known_middle.call(self, axis, skip_nan)
    return found


def _selected(rows: Array, wanted: str, place: int) -> object:
    return family("ordering.selections").selected(rows, wanted, place)


_known_selected: Final = Prepared(_selected)


def selected(self: Array, axis: int, wanted: str, place: int = 0) -> tuple[Array, Array] | None:
    """The elements at a place of the order of rows, or their medians (see `selected` of
    `kernels/code/ordering/selections.py`), and where they were, with a dimension of size 1; None
    where there is no kernel for them, or rows are short."""
    if self.shape[axis] <= _RANKED or family("ordering.selections") is None:
        return None
    rows = in_order(self if axis == self.ndim - 1 else np.moveaxis(self, axis, -1))
    if self.itemsize < 4:
        rows = cast_by_kernel(rows, _FLOAT32 if is_half(self.dtype) else _INT32)
    found: tuple[Array, Array] | None = _known_selected.call(rows, wanted, place)
    if found is None:
        return None
    shape = (*self.shape[:axis], 1, *self.shape[axis + 1 :])
    values, where = (each.reshape(shape) for each in found)
    return cast_by_kernel(values, self.dtype) if rows.dtype != self.dtype else values, where


def placed_in_order(self: Array, axis: int, place: int) -> tuple[Array, Array]:
    """The element that sorting puts at a place, and where it was, with a dimension of size 1."""
    found = selected(self, axis, "place", place)
    found = found or _some_in_order(self, axis, place, place + 1, False)
    if found is not None:
        return found
    words = packed(self, axis, False)
    if words is None and self.dtype.kind in "fi" and self.itemsize == 8:
        where = _place_of_value(self, axis, place)
    elif words is None:
        where = np.take(sorted_positions(self, axis, False), [place], axis)
    else:
        words.partition(place, -1)
        where = places_of(words[..., place : place + 1], axis)
    return _taken(self, where, axis), where


def _place_of_value(self: Array, axis: int, place: int) -> Array:
    """Where the element is that a stable order puts at a place, with a dimension of size 1: of its
    equals it is as far behind the first one as the place is behind all that is less."""
    rows = self if axis == self.ndim - 1 else in_order(np.moveaxis(self, axis, -1))
    value = np.partition(rows, place, -1)[..., place : place + 1]
    less, same = rows < value, rows == value
    if (value != value).any():  # all numbers are less than NaN
        less |= (value != value) & (rows == rows)
        same |= (value != value) & (rows != rows)
    before = place - np.count_nonzero(less, -1, keepdims=True)
    if not before.any():
        where = same.argmax(-1, keepdims=True)
    else:
        where = (np.cumsum(same, -1) > before).argmax(-1, keepdims=True)
    return np.moveaxis(where, -1, axis)


def sorted_along(self: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    """The elements of rows in a stable order, and their places."""
    self = self[...]  # which no other thread can change
    check_ordered(" Sort", self)
    axis = wrap_dim(dim, self.ndim)
    self = in_order(self)
    wide = _FLOAT32 if is_half(self.dtype) else _INT64 if self.dtype == np.int32 else self.dtype
    given = self if wide is self.dtype else cast_by_kernel(self, wide, of_any_size=True)
    if self.ndim:
        found = _some_in_order(given, axis, 0, self.shape[axis], descending)
        if found is not None:
            values, places = found
            if given is not self:
                values = cast_by_kernel(values, self.dtype, of_any_size=True)
            return values, places
    where = sorted_positions(self if wide is _INT64 else given, axis, descending)
    return _taken(self, where, axis) if self.ndim else self.copy(), where


def _taken(self: Array, where: Array, axis: int) -> Array:
    """The elements at these places along an axis."""
    if self.ndim == 1:
        return self[where]
    if self.size and self.flags.c_contiguous:
        if axis == self.ndim - 1:
            return self.reshape(-1).take(row_starts(self.shape) + where)
        outer, inner = prod(self.shape[:axis]), prod(self.shape[axis + 1 :])
        places = where.reshape(outer, -1, inner) * inner + np.arange(inner)
        if outer > 1:
            places += np.arange(0, self.size, inner * self.shape[axis]).reshape(-1, 1, 1)
        return self.reshape(-1).take(places).reshape(where.shape)
    return np.take_along_axis(self, where, axis)


operator(
    "aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    native=native("small_sort({0}, {1}, {2})", gives="made"),
    prepared=True,
    layout="LL",
    out="values",
    out_dtype=SAME,
    rows=rows_of("self"),
)(sorted_along)


@operator(
    "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) "
    "-> (Tensor values, Tensor indices)",
    prepared=True,
    layout="LL",
    out_dtype=SAME,
    rows=rows_of("self"),
    out="values_stable",
    order="values_stable values",
    on_slices="dims",
)
def sort_stable(
    self: Array, stable: bool | None, dim: int, descending: bool
) -> tuple[Array, Array]:
    return sorted_along(self, dim, descending)


@operator(
    "aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
    native=native("small_argsort({0}, {1}, {2})", gives="made"),
    prepared=True,
    layout="L",
    out="",
    rows=rows_of("self"),
    on_slices="dims",
)
def argsort(self: Array, dim: int, descending: bool) -> Array:
    return sorted_along(self, dim, descending)[1]


@operator(
    "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) "
    "-> Tensor",
    prepared=True,
    layout="L",
    rows=rows_of("self"),
)
def argsort_stable(self: Array, stable: bool, dim: int, descending: bool) -> Array:
    return sorted_along(self, dim, descending)[1]


def _candidates(row: Array, k: int, largest: bool) -> Array | None:
    """The places of what may be among the first `k` of a row of floats; None if there are many.

    The first ones of blocks are so many elements: what comes after the k-th of them is not among
    them.  Of float64, whose places are found in no shorter way, the k-th of all is looked for.
    """
    count, is_long = row.size // _BLOCK, row.dtype == np.float64
    if not (is_long or row.dtype is _FLOAT32) or (count < 2 * k and not is_long):
        return None
    firsts = row
    if count >= 2 * k:
        blocks = row[: count * _BLOCK].reshape(_BLOCK, count)
        firsts = blocks.max(0) if largest else np.fmin.reduce(blocks)  # NaN is the largest
    place = firsts.size - k if largest else k - 1
    bound = np.partition(firsts, place)[place]
    found = np.flatnonzero(~(row < bound) if largest else ~(row > bound))
    return found if found.size < row.size // 4 or is_long else None


def _largest_of_one(row: Array, k: int, largest: bool) -> Array | None:
    """Where the first `k` of a row are in order; None if there is no short way."""
    row = settled(row)
    chosen = _candidates(row, k, largest)
    if chosen is None:
        return None
    return chosen[sorted_positions(row[chosen], 0, largest)[:k]]


def _first_in_order(self: Array, k: int, axis: int, descending: bool) -> Array:
    """The places of the first `k` along an axis in order."""
    words = packed(self, axis, descending)
    if words is None:
        where = sorted_positions(self, axis, descending)
        if axis == self.ndim - 1:
            return where[..., :k].copy()
        return np.take(where, range(k), axis)
    if 0 < k < words.shape[-1]:
        words.partition(k - 1, -1)
        words = words[..., :k].copy()
    words.sort(-1)
    return places_of(words[..., :k], axis)


def _top(self: Array, k: int, axis: int, largest: bool) -> tuple[Array, Array] | None:
    """The first few of long rows by a kernel that keeps them in order while it looks."""
    ranks = family("ordering.ranks") if k else None
    if ranks is None or k > ranks.MOST or not is_whole(self):
        return None
    is_last = axis == self.ndim - 1
    rows = self if is_last else in_order(np.moveaxis(self, axis, -1))
    found: tuple[Array, Array] | None = ranks.top(rows, k, "max" if largest else "min")
    if found is None or is_last:
        return found
    values, places = (in_order(np.moveaxis(each, -1, axis)) for each in found)
    return values, places


_LONG: Final = 8192
"""Elements of a row from which few are looked for among candidates before all are ordered."""


@operator(
    "aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) "
    "-> (Tensor values, Tensor indices)",
    native=native("small_top({0}, {1}, {2}, {3})", gives="made"),
    prepared=True,
    out_dtype=SAME,
    rows=rows_of("self"),
    out="values",
    on_slices="dims",
)
def topk(self: Array, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Array, Array]:
    self = self[...]  # which no other thread can change
    check_ordered(" topk" if self.dtype.kind == "c" else "topk", self, "bc")
    axis = wrap_dim(dim, self.ndim)
    size = self.shape[axis] if self.ndim else 1
    if not 0 <= k <= size:
        raise OperatorError(
            "selected index k out of range",
            code="index-out-of-range",
            headline=f"`k` is {k}, but dimension {axis} has size {size}",
            roles={"k": f"must be 0 to {size}"},
        )
    if not self.ndim:
        return self.copy(), np.zeros((), _INT64)
    self = in_order(self)
    found = None if size > _RANKED else _some_in_order(self, axis, 0, k, largest)
    found = found or _top(self, k, axis, largest)
    if found is not None:
        return found
    if is_half(self.dtype) and k:
        wide = cast_by_kernel(self, _FLOAT32, of_any_size=True)
        values, where = topk(wide, k, dim, largest, sorted)
        return cast_by_kernel(values, self.dtype, of_any_size=True), where
    if size > _LONG and k and self.size == size and axis == self.ndim - 1:
        row = self.reshape(-1)
        only = _largest_of_one(row, k, largest)
        if only is not None:
            where = only.reshape(*self.shape[:-1], k)
            return row.take(where), where
    found = _some_in_order(self, axis, 0, k, largest)
    if found is not None:
        return found
    where = _first_in_order(self, k, axis, largest)
    return _taken(self, where, axis), where


@operator(
    "aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) "
    "-> (Tensor values, Tensor indices)",
    out_overlap="apart",
    out="values",
    on_slices="dims",
    prepared=True,
)
def kthvalue(self: Array, k: int, dim: int, keepdim: bool) -> tuple[Array, Array]:
    self = self[...]  # which no other thread can change
    axis = wrap_dim(dim, self.ndim)
    check_kernel("kthvalue_cpu", self, "bc")
    check_dim_not_empty(self, dim, "kthvalue")
    size = self.shape[axis] if self.ndim else 1
    if not 1 <= k <= size:
        raise OperatorError(f"kthvalue(): selected number k out of range for dimension {axis}")
    if not self.ndim:
        return self.copy(), np.zeros((), _INT64)
    values, where = placed_in_order(self, axis, k - 1)
    return (values, where) if keepdim else (values.squeeze(axis), where.squeeze(axis))
