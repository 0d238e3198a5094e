"""Counting elements into bins."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ..kernels import Prepared, cast_by_kernel, family, in_order, is_half, is_whole
from ..memory.counts import check_storage
from ..memory.dtype import Array, Dtype, Scalar, dtype_of
from ..memory.errors import OperatorError, UnsupportedDtype
from ..shapes.equal_steps import equal_steps
from ..table.out_dtypes import OutDtype
from ..table.pointwise import number_in
from ..table.promotion import kind
from ..table.refusals import cpp_name
from ..table.table import operator
from ..table.without_data import always
from .places import span
from .searching import search

_OUT_OF_HISTC: Final = OutDtype(
    "same",
    "torch.histogram: input tensor and hist tensor should have the same dtype, but got "
    "input {cpp_result} and hist {cpp_out}",
    others={
        "bin_edges": "torch.histogram: input tensor and bin_edges tensor should have the same "
        "dtype, but got input {cpp_result} and bin_edges {cpp_out} for dimension 0"
    },
)

_INT64: Final = np.dtype(np.int64)
_FLOAT32: Final = np.dtype(np.float32)
_FEW: Final = 1 << 10
"""So many numbers are counted into some bins without asking first how many it takes."""
_FLOATS: Final = (np.dtype(np.float32), np.dtype(np.float64))


def _check_floats(name: str, self: Array) -> None:
    if self.dtype not in _FLOATS:
        raise UnsupportedDtype(
            f"\"{name}\" not implemented for '{dtype_of(self).scalar_name}'",
            headline=f"elements of `{dtype_of(self)}` cannot be counted into bins",
        )


def _counted(self: Array, size: int, weights: Array | None) -> Array:
    """How often each number below `size` occurs, or the sums of weights."""
    self = self[...]  # which no other thread can change
    counting = family("ordering.counting") if self.dtype is _INT64 and is_whole(self) else None
    found: Array | None = None if counting is None else counting.count(self, size, weights)
    if found is None:  # another thread may have written larger numbers meanwhile
        found = np.bincount(self.clip(0, size - 1), weights, size)
    return found.astype(_INT64, copy=False) if weights is None else found


def _tally(self: Array) -> tuple[Array, Array] | None:
    """How often small numbers occur, and the largest of them; None where there is no native code,
    and if others occur."""
    counting = family("ordering.counting")
    return None if counting is None else counting.tally(self)


_known_tally: Final = Prepared(_tally)


def _of_tally(counts: Array, length: int) -> Array:
    """So many counts, of which a tally has the first ones."""
    if length <= counts.size:
        return counts[:length].copy()
    check_storage([length])
    made = np.zeros(length, _INT64)
    made[: counts.size] = counts
    return made


@operator(
    "aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
    data_dependent=always,
)
def bincount(self: Array, weights: Array | None, minlength: int) -> Array:
    """How often each whole number from 0 on occurs, or the sum of its weights."""
    if minlength < 0:
        raise OperatorError("minlength should be >= 0")
    if self.dtype.kind not in "iu":
        raise UnsupportedDtype(
            f"\"bincount_cpu\" not implemented for '{dtype_of(self).scalar_name}'"
        )
    if self.ndim == 1 and not self.size:
        check_storage([minlength])
        return np.zeros(minlength, _INT64)
    if self.dtype is not _INT64 and self.itemsize <= 4:
        self = cast_by_kernel(self, _INT64, of_any_size=True)
    if weights is None and self.dtype is _INT64 and self.size <= _FEW and self.ndim == 1:
        found = _known_tally.call(self) if is_whole(self) else None
        if found is not None:
            return _of_tally(found[0], max(found[1].item() + 1, minlength))
    low, most = span(self) if self.ndim == 1 else (-1, 0)
    if low < 0:
        raise OperatorError("bincount only supports 1-d non-negative integral inputs.")
    if most == 2**63 - 1:
        raise OperatorError(
            f"maximum value of input overflowed, it should be < {most} but got {most}"
        )
    check_storage([max(most + 1, minlength)])
    if weights is None:
        return _counted(self, max(most + 1, minlength), None)
    if weights.shape != self.shape:
        raise OperatorError("weights should be 1-d and have the same length as input")
    sums = _counted(self, max(most + 1, minlength), weights.astype(np.float64))
    return sums.astype(weights.dtype if weights.dtype in _FLOATS else np.float64, copy=False)


def _no_bins(count: int, dim: int) -> OperatorError:
    return OperatorError(
        f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}"
    )


def _as_it_is(values: Array) -> Array:
    return values


def _rounded(dtype: Dtype, values: Array) -> Array:
    """Numbers of float32 as a 16-bit float has them."""
    return cast_by_kernel(cast_by_kernel(values, dtype), _FLOAT32)


@operator(
    "aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    out_dtype=_OUT_OF_HISTC,
)
def histc(self: Array, bins: int, min: Scalar, max: Scalar) -> Array:
    first, last = np.array([min, max])
    if first > last:
        raise OperatorError("torch.histc: max must be larger than min")
    if kind(self.dtype) != 2:
        # the ends are looked for first, and the bins made
        made = {"b": "linspace_cpu", "c": "aminmax_cpu"}
        _check_floats(made.get(self.dtype.kind, "histogram_cpu"), self)
    if bins <= 0:
        raise _no_bins(bins, 0)
    number = self.dtype.type
    low, high = number(min), number(max)
    values: Array = self.reshape(-1)
    step: Callable[[Array], Array] = _as_it_is
    if is_half(self.dtype):  # of which each step is rounded
        values, step = cast_by_kernel(values, _FLOAT32), partial(_rounded, self.dtype)
    if low == high and self.size:
        low, high = number(values.min()), number(values.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise OperatorError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - number(1), high + number(1)
    first, wide, count = (values.dtype.type(each) for each in (low, high - low, number(bins)))
    values = values[(values >= first) & (values <= values.dtype.type(high))]
    places = step(step(step(values - first) * count) / wide).astype(_INT64)
    return np.bincount(np.minimum(places, bins - 1), minlength=bins).astype(self.dtype)


# --------------------------------------------------------------------------- several dimensions


def _outer_edges(points: Array, range: Sequence[float] | None) -> list[tuple[float, float]]:
    """The outermost edges of every dimension."""
    count = points.shape[1]
    if range is not None:
        if len(range) != 2 * count:
            raise OperatorError(
                f"torch.histogramdd: for a {count}-dimensional histogram range should have "
                f"{2 * count} elements, but got {len(range)}"
            )
        pairs = list(zip(range[::2], range[1::2], strict=True))
    elif points.size:
        pairs = list(zip(points.min(0).tolist(), points.max(0).tolist(), strict=True))
    else:
        pairs = [(0.0, 1.0)] * count
    for low, high in pairs:
        if not (np.isfinite(low) and np.isfinite(high)):
            raise OperatorError(
                f"torch.histogramdd: dimension 0's range [{low:g}, {high:g}] is not finite"
            )
        if low > high:
            raise OperatorError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} "
                "for dimension 0"
            )
    for pair in pairs:
        for end in pair:
            number_in(end, points.dtype)
    return [(a - 0.5, b + 0.5) if a == b else (a, b) for a, b in pairs]


def _edges(points: Array, bins: Sequence[int], range: Sequence[float] | None) -> list[Array]:
    if len(bins) != points.shape[1]:
        raise OperatorError(
            f"histogramdd: bin edges should be specified for each dimension: {points.shape[1]}"
        )
    _check_counts(bins)
    return [
        equal_steps(low, high, count + 1, points.dtype)
        for count, (low, high) in zip(bins, _outer_edges(points, range), strict=True)
    ]


def _count(points: Array, edges: Sequence[Array], weight: Array | None, density: bool) -> Array:
    shape = tuple(len(e) - 1 for e in edges)
    if not edges:  # no dimension has a bin
        return np.asarray(points.dtype.type(math.nan if density else 0))
    inside = np.ones(len(points), np.bool_)
    places = np.zeros(len(points), _INT64)
    if len(edges) != points.shape[1]:
        raise OperatorError(
            f"torch.histogramdd: expected {points.shape[1]} sequences of bin edges for a "
            f"{points.shape[1]}-dimensional histogram but got {len(edges)}",
            code="shape-mismatch",
        )
    for column, (row, size) in zip(points.T, zip(edges, shape, strict=True), strict=True):
        inside &= (column >= row[0]) & (column <= row[-1])
        found = np.minimum(search(row, in_order(column), True) - 1, size - 1)
        places = places * size + found
    weights = None if weight is None else weight.reshape(-1)[inside].astype(np.float64)
    total = int(np.prod(shape))
    counts = np.bincount(places[inside], weights, total).reshape(shape).astype(points.dtype)
    if not density:
        return counts
    counts = counts / counts.sum()
    for dim, row in enumerate(edges):
        counts = counts / np.diff(row).reshape(-1, *[1] * (len(shape) - dim - 1))
    return np.asarray(counts)


def _check_bins(self: Array, bins: Sequence[Array]) -> None:
    """Refuse edges of bins that are of another dtype than the points, and what are none."""
    for place, edges in enumerate(bins):
        if edges.dtype != self.dtype:
            raise OperatorError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
                f"got input with dtype {cpp_name(dtype_of(self))} and bins for dimension {place} "
                f"with dtype {cpp_name(dtype_of(edges))}",
                code="dtype-mismatch",
            )
        if edges.ndim != 1:
            raise OperatorError(
                "torch.histogramdd: bins tensor should have one dimension, but got "
                f"{edges.ndim} dimensions in the bins tensor for dimension {place}",
                code="shape-mismatch",
            )
        if not edges.size:
            raise OperatorError(
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements "
                f"in the bins tensor for dimension {place}",
                code="shape-mismatch",
            )


def _check_counts(bins: Sequence[int]) -> None:
    for dim, count in enumerate(bins):
        if count <= 0:
            raise _no_bins(count, dim)


def _check_weight(self: Array, weight: Array | None) -> None:
    if weight is None:
        return
    if weight.dtype != self.dtype:
        raise OperatorError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
            f"should have the same dtype, but got input({cpp_name(dtype_of(self))}), and "
            f"weight({cpp_name(dtype_of(weight))})",
            code="dtype-mismatch",
        )
    if weight.shape != self.shape[:-1]:
        raise OperatorError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            "input tensor excluding its innermost dimension, but got input with shape "
            f"{list(self.shape)} and weight with shape {list(weight.shape)}",
            code="shape-mismatch",
        )


def _points(self: Array) -> Array:
    _check_floats("histogramdd", self)
    if self.ndim < 2:
        raise OperatorError("torch.histogramdd: input tensor should have at least 2 dimensions")
    return self.reshape(math.prod(self.shape[:-1]), self.shape[-1])


_OPTIONS: Final = "float[]? range=None, Tensor? weight=None, bool density=False) "


@operator(
    f"aten::histogramdd(Tensor self, int[] bins, {_OPTIONS}-> (Tensor hist, Tensor[] bin_edges)",
    face="function",
    data_dependent=always,
)
def histogramdd(
    self: Array,
    bins: Sequence[int],
    range: Sequence[float] | None,
    weight: Array | None,
    density: bool,
) -> tuple[Array, list[Array]]:
    points = _points(self)
    if len(bins) != points.shape[1]:
        raise OperatorError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    _check_weight(self, weight)
    edges = _edges(points, bins, range)
    return _count(points, edges, weight, density), edges


@operator(
    f"aten::histogramdd.int_bins(Tensor self, int bins, {_OPTIONS}"
    "-> (Tensor hist, Tensor[] bin_edges)",
    face="function",
    data_dependent=always,
)
def histogramdd_even(
    self: Array, bins: int, range: Sequence[float] | None, weight: Array | None, density: bool
) -> tuple[Array, list[Array]]:
    return histogramdd(self, [bins] * self.shape[-1], range, weight, density)


@operator(
    f"aten::histogramdd.TensorList_bins(Tensor self, Tensor[] bins, {_OPTIONS}"
    "-> (Tensor hist, Tensor[] bin_edges)",
    face="function",
    data_dependent=always,
)
def histogramdd_at(
    self: Array,
    bins: Sequence[Array],
    range: Sequence[float] | None,
    weight: Array | None,
    density: bool,
) -> tuple[Array, list[Array]]:
    points = _points(self)
    _check_bins(self, bins)
    _check_weight(self, weight)
    _check_counts([edges.size - 1 for edges in bins])
    return _count(points, bins, weight, density), list(bins)


@operator(f"aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, {_OPTIONS}-> Tensor[]")
def histogramdd_edges(self: Array, bins: Sequence[int], *options: Any) -> list[Array]:
    return histogramdd(self, bins, *options)[1]


@operator(f"aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, {_OPTIONS}-> Tensor")
def histogramdd_counts(self: Array, bins: Sequence[int], *options: Any) -> Array:
    return histogramdd(self, bins, *options)[0]


@operator(
    "aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, "
    "bool density=False) -> Tensor"
)
def histogramdd_counts_at(
    self: Array, bins: Sequence[Array], weight: Array | None, density: bool
) -> Array:
    return histogramdd_at(self, bins, None, weight, density)[0]


def _in_a_row(weight: Array | None) -> Array | None:
    return None if weight is None else weight.reshape(-1)


@operator(
    "aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, "
    "Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
    order="bins_tensor bins_tensor_out bin_ct bin_ct_out",
    out_dtype=_OUT_OF_HISTC,
)
def histogram(
    self: Array, bins: int, range: Sequence[float] | None, weight: Array | None, density: bool
) -> tuple[Array, Array]:
    _check_floats("histogramdd", self)
    points = self.reshape(-1, 1)
    _check_counts([bins])
    _check_weight(points, _in_a_row(weight))
    edges = _edges(points, [bins], range)
    return _count(points, edges, weight, density), edges[0]


@operator(
    "aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor bin_edges)",
    out_dtype=_OUT_OF_HISTC,
)
def histogram_at(
    self: Array, bins: Array, weight: Array | None, density: bool
) -> tuple[Array, Array]:
    _check_floats("histogramdd", self)
    points = self.reshape(-1, 1)
    _check_bins(self, [bins])
    _check_weight(points, _in_a_row(weight))
    _check_counts([bins.size - 1])
    return _count(points, [bins], weight, density), bins.copy()
