"""Softmax, its logarithm, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Final

import numpy as np

from ..kernels import (
    Prepared,
    cast_by_kernel,
    family,
    in_order,
    is_real,
    is_whole,
    written_by_numpy,
)
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, numpy_dtype
from ..memory.errors import OperatorError
from ..reductions.folding import folded
from ..reductions.loss_reduction import widened
from ..table.out_dtypes import SAME
from ..table.pointwise import as_array, cast
from ..table.refusals import Refusal
from ..table.table import operator
from ..table.without_data import rows_of
from .activation import check_float, in_float32

__all__ = ["log_softmax", "softmax"]

asarray: Final = np.asarray
_exp: Final = np.exp
_subtract: Final = np.subtract
_multiply: Final = np.multiply
_divide: Final = np.true_divide
_reciprocal: Final = np.reciprocal
_largest: Final[Callable[..., Array]] = np.maximum.reduce
_total: Final[Callable[..., Array]] = np.add.reduce
_float32: Final = np.dtype(np.float32)


def _checked(self: Array, dim: int, dtype: int | None, name: str) -> tuple[Array, int]:
    """The input in its dtype, and the dimension counted from the front.

    Nothing is refused where there is nothing to compute; rows have a kernel of their own.
    """
    if dtype is not None:
        self = cast(self, numpy_dtype(dtype))
    axis = wrap_dim(dim, self.ndim)
    if self.size:
        rows = "lastdim_" if axis >= self.ndim - 1 else ""
        check_float(self, f"{name}_{rows}kernel_impl")
    return self, axis


@operator(
    "aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    first_name="softmax",
    out="",
)
@operator(
    "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    prepared=True,
    autocast_in_graphs="full-on-gpu",
    out_dtype=SAME,
    out_overlap="read-first",
    rows=rows_of("self"),
    on_slices="dims",
)
def softmax(self: Array, dim: int, dtype: int | None) -> Array:
    """`exp(x) / sum(exp(x))` along a dimension; 16-bit floats are computed in float32."""
    return _known_softmax.call(self, dim, dtype)  # type: ignore[no-any-return]


def _any_softmax(self: Array, dim: int, dtype: int | None) -> Array:
    self, axis = _checked(self, dim, dtype, "softmax")
    if self.itemsize == 2 and axis < self.ndim - 1 and self.size:
        return _narrow_softmax(self, axis)
    return _wide_softmax(self, axis)


_known_softmax: Final = Prepared(_any_softmax)


def _by_rows(kernel: Callable[[Array], Array], self: Array) -> Array:
    return kernel(self.reshape(-1, self.shape[-1])).reshape(self.shape)


_SHORT_ROW: Final = 16


def _softmax(self: Array, axis: int) -> Array:
    self = self[...]  # which no other thread can change
    if not self.ndim or not self.size:
        return np.ones_like(self)
    self = in_order(self)
    is_short = self.shape[axis] < _SHORT_ROW and self.size <= 64 and self.dtype is _float32
    few = family("rows.short_rows") if is_short else None
    if few is not None:
        return few.softmax(self, axis)  # type: ignore[no-any-return]
    if axis == self.ndim - 1 and is_real(self):
        rows = family("rows.rows")
        if rows is not None:
            return _by_rows(rows.softmax, self)
    if self.size == self.shape[axis] and self.size > 64:
        row = self.reshape(-1)
        row = row - row[row.argmax(), ...]
        _exp(row, row)
        return _divide(row, asarray(_total(row)), row).reshape(self.shape)  # type: ignore[no-any-return]
    along = _columns_for(self, axis)
    if along is not None:
        return along.took("softmax", self, axis)  # type: ignore[no-any-return]
    arrays = None if is_short else _arrays_for(self)
    if arrays is not None:
        letter, (grown, _, total) = arrays.LETTERS[self.dtype], _powers(arrays, self, axis)
        return arrays.evaluate([("divide", letter, (0, 1))], letter, grown, total)  # type: ignore[no-any-return]
    below = self - _largest(self, axis, None, None, True)
    if is_short:
        # PyTorch adds the elements of a short row one by one and multiplies by the reciprocal.
        wide = below.astype(np.float64)
        few = _exp(wide, wide).astype(_float32)
        total = np.add.accumulate(few, axis).take((-1,), axis)
        return _multiply(few, _reciprocal(total), few)  # type: ignore[no-any-return]
    _exp(below, below)
    return _divide(below, _total(below, axis, None, None, True), below)  # type: ignore[no-any-return]


def _columns_for(self: Array, axis: int) -> ModuleType | None:
    """The kernels of columns, if they are for those of such an array."""
    found = family("rows.columns") if is_real(self) and axis < self.ndim - 1 else None
    return found if found is not None and found.takes(self, axis) else None


def _arrays_for(self: Array) -> ModuleType | None:
    """The kernels of expressions, if they are for such an array."""
    return family("elementwise.arrays") if is_real(self) else None


def _powers(arrays: ModuleType, self: Array, axis: int) -> tuple[Array, Array, Array]:
    """`exp(x - top)`, the top along a dimension, and the sum."""
    letter = arrays.LETTERS[self.dtype]
    top = as_array(folded(self, (axis,), True, "max"))
    steps = [("subtract", letter, (0, 1)), ("exp", letter, (2,))]
    grown = arrays.evaluate(steps, letter, self, top)
    return grown, top, as_array(folded(grown, (axis,), True, "sum"))


_wide_softmax: Final = in_float32(_softmax)

_LANES: Final = 32
"""16-bit floats in PyTorch's widest vectors: what is left over is computed in other steps."""


def _narrow_softmax(self: Array, axis: int) -> Array:
    """The same of 16-bit floats along a dimension that is not the last one.

    Elements side by side are computed `_LANES` at a time and rounded once; for those that are left
    over the exponentials are rounded too.
    """
    below = cast_by_kernel(in_order(self), _float32)
    is_even = not math.prod(self.shape[axis + 1 :]) % _LANES
    along = _columns_for(below, axis) if is_even else None
    if along is not None:
        return cast_by_kernel(along.took("narrow_softmax", below, axis), self.dtype)
    _exp(below - _largest(below, axis, None, None, True), below)
    totals = _added_in_turn(below, axis)
    rows = self.shape[: axis + 1]
    grown, totals = below.reshape(*rows, -1), totals.reshape(*rows[:-1], 1, -1)
    rest = grown[..., grown.shape[-1] // _LANES * _LANES :]
    rest[...] = rest.astype(self.dtype)
    written_by_numpy()
    made: Array = cast_by_kernel(_divide(grown, totals, grown), self.dtype)
    return made.reshape(self.shape)


def _added_in_turn(values: Array, axis: int) -> Array:
    """Sums along a dimension, added one by one also where its elements lie side by side."""
    if axis < values.ndim - 1 and math.prod(values.shape[axis + 1 :]) == 1:
        return np.add.accumulate(values, axis).take((-1,), axis)
    return _total(values, axis, None, None, True)


@operator(
    "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    first_name="log_softmax",
    out="",
)
@operator(
    "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    prepared=True,
    autocast_in_graphs="full-unless-dtype",
    out_dtype=SAME,
    out_overlap="read-first",
    rows=rows_of("self"),
    on_slices="dims",
)
def log_softmax(self: Array, dim: int, dtype: int | None) -> Array:
    """`log(softmax(x))` along a dimension; 16-bit floats are computed in float32."""
    return _known_log_softmax.call(self, dim, dtype)  # type: ignore[no-any-return]


def _any_log_softmax(self: Array, dim: int, dtype: int | None) -> Array:
    self, axis = _checked(self, dim, dtype, "log_softmax")
    if self.itemsize == 2 and axis == self.ndim - 1 and self.size:
        return _narrow_log_softmax(self)
    return _wide_log_softmax(self, axis)


_known_log_softmax: Final = Prepared(_any_log_softmax)


def _narrow_log_softmax(self: Array) -> Array:
    """The same of rows of 16-bit floats: their sums are rounded, and so are the logarithms."""
    self = in_order(self)
    arrays = family("elementwise.arrays") if is_whole(self) else None
    if arrays is not None and arrays.LETTERS[self.dtype]:
        return _log_softmax_by_kernels(arrays, self)
    wide = self.astype(_float32)
    top = _largest(wide, -1, None, None, True)
    sums = as_array(_total(_exp(wide - top), -1, None, None, True)).astype(self.dtype)
    logs = as_array(np.log(sums)).astype(_float32)
    return as_array(wide - logs - top).astype(self.dtype)


def _log_softmax_by_kernels(arrays: ModuleType, self: Array) -> Array:
    letter = arrays.LETTERS[self.dtype]
    top = folded(self, (self.ndim - 1,), True, "max")
    grown = arrays.evaluate([("subtract", "f", (0, 1)), ("exp", "f", (2,))], "f", self, top)
    sums = cast(as_array(folded(grown, (self.ndim - 1,), True, "sum")), self.dtype)
    logs = arrays.evaluate([("log", letter, (0,))], letter, sums)
    steps = [("subtract", "f", (0, 1)), ("subtract", "f", (3, 2))]
    found: Array = arrays.evaluate(steps, letter, self, logs, top)
    return found


def _log_softmax(self: Array, axis: int) -> Array:
    self = self[...]
    if not self.ndim or not self.size:
        return np.zeros_like(self)
    self = in_order(self)
    if axis == self.ndim - 1 and is_real(self):
        rows = family("rows.rows")
        if rows is not None:
            return _by_rows(rows.log_softmax, self)
    along = _columns_for(self, axis)
    if along is not None:
        return along.took("log_softmax", self, axis)  # type: ignore[no-any-return]
    if self.size == self.shape[axis]:
        row = self.reshape(-1)
        row = row - row[row.argmax(), ...]  # 0-d: without broadcasting it is quicker
        total = asarray(_total(_exp(row)))
        return _subtract(row, np.log(total, total), row).reshape(self.shape)  # type: ignore[no-any-return]
    arrays = _arrays_for(self)
    if arrays is not None:
        letter, (_, top, sums) = arrays.LETTERS[self.dtype], _powers(arrays, self, axis)
        steps = [("subtract", letter, (0, 1)), ("log", letter, (2,)), ("subtract", letter, (3, 4))]
        return arrays.evaluate(steps, letter, self, top, sums)  # type: ignore[no-any-return]
    result = self - _largest(self, axis, None, None, True)
    totals = _added_in_turn(_exp(result), axis)
    return _subtract(result, np.log(totals, totals), result)  # type: ignore[no-any-return]


_wide_log_softmax: Final = in_float32(_log_softmax)


@operator(
    "aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    rows=rows_of("self"),
)
def plain_softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    _refuse_half_to_float(half_to_float)
    return softmax(self, dim, None)


def _refuse_half_to_float(wanted: bool) -> None:
    if wanted:
        raise OperatorError("softmax with half to float conversion is not supported on CPU")


@operator(
    "aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    rows=rows_of("self"),
)
def plain_log_softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    _refuse_half_to_float(half_to_float)
    return log_softmax(self, dim, None)


_BACKWARD: Final = "Tensor grad_output, Tensor output, int dim, ScalarType input_dtype"


@operator(
    f"aten::_softmax_backward_data({_BACKWARD}) -> Tensor",
    refuses=Refusal("biuqc", "softmax_backward_lastdim_kernel_impl"),
    out="",
    layout="C",
)
def softmax_backward(grad_output: Array, output: Array, dim: int, input_dtype: int) -> Array:
    """The gradient of softmax from that of its output."""
    axis = wrap_dim(dim, output.ndim)
    grad_output, output = widened(grad_output), widened(output)
    product = grad_output * output
    total = product.sum(axis, keepdims=True) if output.ndim else product
    return as_array(product - output * total).astype(numpy_dtype(input_dtype), copy=False)


@operator(
    f"aten::_log_softmax_backward_data({_BACKWARD}) -> Tensor",
    refuses=Refusal("biuqc", "log_softmax_backward_lastdim_kernel_impl"),
    layout="C",
)
def log_softmax_backward(grad_output: Array, output: Array, dim: int, input_dtype: int) -> Array:
    """The gradient of log_softmax from that of its output."""
    axis = wrap_dim(dim, output.ndim)
    grad_output, output = widened(grad_output), widened(output)
    total = grad_output.sum(axis, keepdims=True) if output.ndim else grad_output
    return as_array(grad_output - np.exp(output) * total).astype(
        numpy_dtype(input_dtype), copy=False
    )
