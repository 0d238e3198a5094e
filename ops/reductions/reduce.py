"""Reductions and running totals.

Kernels add up floats in short runs; where there are none, sums of float32 are pairwise along
contiguous memory and in double elsewhere, and 16-bit floats are added up in float32.  Variances are
computed in double.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Final

import numpy as np

from ..kernels import (
    LARGE,
    Prepared,
    by_formula,
    family,
    in_order,
    is_half,
    is_real,
    is_whole,
    written_by_numpy,
)
from ..memory.complex_parts import is_complex
from ..memory.dims import wrap_dim, wrap_dims
from ..memory.dtype import Array, Dtype, Scalar, default_dtype, dtype_of, numpy_dtype
from ..memory.errors import OperatorError
from ..memory.overlap import OutOverlap
from ..memory.warned import warn_caller
from ..table.faces import Face
from ..table.layouts import contiguous
from ..table.out_dtypes import COMPUTED, OutDtype
from ..table.pointwise import as_array, cast, operand
from ..table.promotion import kind
from ..table.record import OnSlices
from ..table.refusals import check_kernel
from ..table.table import operator
from .folding import folded, moments, spread, spread_and_middle

__all__ = [
    *("mean", "refuse_complex_nansum", "sum_input", "sum_over", "total"),
]


Dims = Sequence[int] | None
Kernel = Callable[..., Array]
asarray: Final = np.asarray
_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)
_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)
_FEW: Final = 64
_SHORT: Final = 16
"""So few numbers in a row are added up one by one as well as in pairs."""
_add_over: Final[Kernel] = np.add.reduce
_max_over: Final[Kernel] = np.maximum.reduce
_multiply_over: Final[Kernel] = np.multiply.reduce


# --------------------------------------------------------------------------- sums


def sum_input(self: Array, dtype: int | None) -> Array:
    """The summands in the dtype of their sum: whole numbers and bools add up in int64."""
    if dtype is not None:
        return cast(self, numpy_dtype(dtype))
    return cast(self, _INT64) if kind(self.dtype) < 2 else self


def _summed(self: Array, axes: tuple[int, ...] | None, keepdim: bool, dtype: int | None) -> Array:
    """The sum in a dtype; in their own, or in int64, if none is given."""
    if axes is not None and len(axes) == self.ndim:
        axes = None
    if dtype is None or numpy_dtype(dtype) == self.dtype != _BOOL:
        found = folded(self, axes, keepdim, "sum")
        if found is not None:
            return found if dtype is None else cast(found, numpy_dtype(dtype))
    return _add_up(sum_input(self, dtype), axes, keepdim)


def _add_up(
    self: Array, axes: tuple[int, ...] | None, keepdim: bool, *, wide: bool = False
) -> Array:
    """The sum, in the dtype of the summands; that of 16-bit floats in float32 if it shall be so
    `wide`."""
    dtype, is_plain = self.dtype, self.flags.c_contiguous
    if axes is not None and len(axes) == self.ndim:
        axes = None
    found = folded(self, axes, keepdim, "sum", wide=wide)
    if found is not None:  # small whole numbers wrap around afterwards as on the way
        return cast(found, dtype) if kind(dtype) < 2 and not wide else found
    if wide and is_half(dtype):
        self, dtype = cast(self, _FLOAT32), _FLOAT32
    check_kernel("sum_cpu", self, "qe")
    sums: object = dtype  # NumPy would add up small whole numbers in int64
    if kind(dtype) == 2:
        if dtype.itemsize < 4:
            sums = _FLOAT32
        elif dtype is _FLOAT32 and not _is_pairwise(self, axes):
            sums = _FLOAT64
    result = _add_over(self, axes, sums, None, keepdim)
    summed = asarray(result, dtype)
    return summed if is_plain else contiguous(summed)


def _is_pairwise(self: Array, axes: tuple[int, ...] | None) -> bool:
    """Whether NumPy adds along these axes in pairs: along contiguous memory, or so few numbers
    that it makes no difference."""
    if self.size < _FEW or (axes and _count(self, axes) <= _SHORT):
        return True
    return self.flags.c_contiguous and (axes is None or axes == (self.ndim - 1,))


@operator(
    "aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    prepared=True,
    autocast_in_graphs="full-unless-dtype",
    out_dtype=COMPUTED,
    out_overlap="read-first",
    on_slices="folds",
)
def total(self: Array, dtype: int | None) -> Array:
    if dtype is None and self.dtype is _BOOL and self.size >= LARGE:
        return asarray(np.count_nonzero(self), _INT64)
    return _summed(self, None, False, dtype)


@operator(
    "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    row_fold="sum",
    prepared=True,
    autocast_in_graphs="full-unless-dtype",
    out="IntList_out",
    out_dtype=COMPUTED,
    out_overlap="read-first",
)
def sum_over(self: Array, dim: Dims, keepdim: bool, dtype: int | None) -> Array:
    return _summed(self, wrap_dims(dim, self.ndim), keepdim, dtype)


def refuse_complex_nansum(self: Array) -> None:
    """Raises an OperatorError if the tensor is complex."""
    if kind(self.dtype) == 3:
        raise OperatorError("nansum on CPU does not support complex inputs", code="dtype-mismatch")


@operator(
    "aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    prepared=True,
    out_dtype=COMPUTED,
    out_overlap="read-first",
    on_slices="folds",
)
def nansum(self: Array, dim: Dims, keepdim: bool, dtype: int | None) -> Array:
    refuse_complex_nansum(self)
    if kind(self.dtype) == 2 and dtype is None:
        summed = folded(self, wrap_dims(dim, self.ndim), keepdim, "present")
        if summed is not None:
            return summed
    if kind(self.dtype) >= 2:
        zero, high, low = (operand(each, self.dtype) for each in (0.0, np.inf, -np.inf))
        found = by_formula("without_nan", self, zero, high, low)
        self = np.where(np.isnan(self), zero, self) if found is None else found
    return sum_over(self, dim, keepdim, dtype)


def _count(self: Array, axes: tuple[int, ...]) -> int:
    count = 1
    for axis in axes:
        count *= self.shape[axis]
    return count


def _no_mean(self: Array, dtype: int | None) -> OperatorError:
    what = "Input" if dtype is None else "Optional"
    shown = dtype_of(self).scalar_name
    return OperatorError(
        f"mean(): could not infer output dtype. {what} dtype must be either a floating point or "
        f"complex dtype. Got: {shown}",
        code="dtype-mismatch",
        headline=f"the mean of a `{dtype_of(self)}` tensor needs a `dtype`",
        roles={"self": "must be of floats"},
    )


@operator(
    "aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    prepared=True,
    out="dtype_out",
    order="out dtype_out",
    out_dtype=COMPUTED,
    out_overlap="read-first",
    on_slices="folds",
)
def mean(self: Array, dtype: int | None) -> Array:
    return mean_over(self, None, False, dtype)


@operator(
    "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    row_fold="mean",
    prepared=True,
    out="out",
    out_dtype=COMPUTED,
    out_overlap="read-first",
)
def mean_over(self: Array, dim: Dims, keepdim: bool, dtype: int | None) -> Array:
    return _known_mean.call(self, dim, keepdim, dtype)  # type: ignore[no-any-return]


def _mean(self: Array, dim: Dims, keepdim: bool, dtype: int | None) -> Array:
    if dtype is not None:
        self = cast(self, numpy_dtype(dtype))
    own = self.dtype
    if own is not _FLOAT32 and kind(own) < 2:
        raise _no_mean(self, dtype)
    axes = wrap_dims(dim, self.ndim)
    sums = _add_up(self, axes, keepdim, wide=True)
    count = operand(_count(self, axes), sums.dtype)
    arrays = family("elementwise.arrays") if own.kind != "c" and sums.size else None
    found = None if arrays is None else arrays.apply("divide", (sums, count))
    result = as_array(np.true_divide(sums, count)) if found is None else found
    return result if own is _FLOAT32 else cast(result, own)


_known_mean: Final = Prepared(_mean)


def _freedom(count: int, correction: Scalar | None) -> float:
    return max(count - (1 if correction is None else _real(correction)), 0)


def _warn_of_freedom(name: str, count: int, correction: Scalar | None) -> None:
    if _freedom(count, correction) <= 0:
        warn_caller(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel)."
        )


def _variance(
    self: Array, dim: Dims, correction: Scalar | None, keepdim: bool, name: str
) -> tuple[Array, Array]:
    """The variance and the mean, in double."""
    if kind(self.dtype) < 2:
        both = "std and var" if name in ("std", "var") else name
        raise OperatorError(
            f"{both} only support floating point and complex dtypes",
            code="dtype-mismatch",
            headline=f"the variance of a `{dtype_of(self)}` tensor is not defined",
            roles={"self": "must be of floats"},
        )
    axes = wrap_dims(dim, self.ndim)
    count = _count(self, axes)
    _warn_of_freedom(name, count if self.size else 0, correction)
    found = moments(self, axes)
    if found is None:
        found = _wide_moments(self, axes, count)
    squares, middle = found
    variance = asarray(np.true_divide(squares, operand(_freedom(count, correction), squares.dtype)))
    if count > 1 and not _all_finite(middle):  # the mean is updated element by element
        middle = np.where(_ends_infinite(self, axes).reshape(middle.shape), middle, middle - middle)
    if not keepdim:
        return variance, asarray(middle)
    shape = [1 if axis in axes else size for axis, size in enumerate(self.shape)]
    return variance.reshape(shape), middle.reshape(shape)


def _wide_moments(self: Array, axes: tuple[int, ...], count: int) -> tuple[Array, Array]:
    """The sum of squared distances from the mean, and the mean, in double."""
    wide = self.astype(np.complex128 if is_complex(self.dtype) else _FLOAT64)
    middle = asarray(_add_over(wide, axes, None, None, True))
    middle = asarray(np.true_divide(middle, operand(count, middle.dtype)))
    apart = wide - middle
    squares = np.square(np.abs(apart) if is_complex(wide.dtype) else apart)
    total = asarray(_add_over(squares, axes, None, None, False))
    return total, middle.reshape(total.shape)


def _all_finite(numbers: Array) -> bool:
    if numbers.dtype.kind == "f" and 0 < numbers.size < _FEW:
        return all(map(math.isfinite, numbers.reshape(-1).tolist()))
    return bool(np.isfinite(numbers).all())


def _ends_infinite(self: Array, axes: tuple[int, ...]) -> Array:
    """Where nothing but the last of the elements along some axes may be infinite."""
    rest = [axis for axis in range(self.ndim) if axis not in axes]
    rows = self.transpose(*rest, *axes).reshape(*(self.shape[axis] for axis in rest), -1)
    return np.asarray(np.isfinite(rows[..., :-1]).all(-1))


def _real(number: Scalar) -> float:
    return number.real if isinstance(number, complex) else number


def _real_dtype(self: Array) -> Dtype:
    return dtype_of(self).to_real().numpy if is_complex(self.dtype) else self.dtype


def _spread(
    self: Array, dim: Dims, correction: Scalar | None, keepdim: bool, of_root: bool
) -> Array:
    """The variance or the root of it, in the tensor's own dtype."""
    name = "std" if of_root else "var"
    if self.dtype is _FLOAT32 or self.dtype is _FLOAT64:
        axes = wrap_dims(dim, self.ndim)
        freedom = float(_freedom(_count(self, axes), correction))
        if freedom > 0:
            found = spread(self, axes, freedom, keepdim=keepdim, of_root=of_root)
            if found is not None:
                return found
    both = _both(self, dim, correction, keepdim, of_root) if is_half(self.dtype) else None
    if both is not None:
        return both[0]
    variance, _ = _variance(self, dim, correction, keepdim, name)
    written_by_numpy()
    return asarray(np.sqrt(variance) if of_root else variance).astype(_real_dtype(self))


_known_variance: Final = Prepared(_spread)


def _both(
    self: Array, dim: Dims, correction: Scalar | None, keepdim: bool, of_root: bool
) -> tuple[Array, Array] | None:
    """The variance, or the root of it, and the mean by native code; None if there is none."""
    if not (self.dtype is _FLOAT32 or self.dtype is _FLOAT64 or is_half(self.dtype)):
        return None
    axes = wrap_dims(dim, self.ndim)
    freedom = float(_freedom(_count(self, axes), correction))
    if not self.size or freedom <= 0:
        return None
    return spread_and_middle(self, axes, freedom, keepdim=keepdim, of_root=of_root)


def _spread_and_mean(
    self: Array, dim: Dims, correction: Scalar | None, keepdim: bool, of_root: bool
) -> tuple[Array, Array]:
    """The same of any dtype, in the tensor's own."""
    found = _both(self, dim, correction, keepdim, of_root)
    if found is not None:
        return found
    name = "std_mean" if of_root else "var_mean"
    variance, middle = _variance(self, dim, correction, keepdim, name)
    written_by_numpy()
    spread = asarray(np.sqrt(variance)) if of_root else variance
    return spread.astype(_real_dtype(self)), middle.astype(self.dtype)


_known_both: Final = Prepared(_spread_and_mean)


def _of_variance(known: Prepared, of_root: bool) -> Callable[..., object]:
    def forward(self: Array, dim: Dims, correction: Scalar | None, keepdim: bool) -> object:
        return known.call(self, dim, correction, keepdim, of_root)

    return forward


def _declare_spread(name: str, forward: Callable[..., object], result: str) -> None:
    """Declare a forward that takes dimensions, a correction and whether they are kept."""

    def of_all(self: Array, unbiased: bool) -> object:
        return forward(self, None, int(unbiased), False)

    def over(self: Array, dim: Dims, unbiased: bool, keepdim: bool) -> object:
        return forward(self, dim, int(unbiased), keepdim)

    is_one = result == "Tensor"
    face: Face = "" if is_one else "function"
    overlap: OutOverlap = "read-first" if is_one else ""
    layout = "C" if is_one else "CC"
    slices: OnSlices = "folds" if is_one else ""
    operator(
        f"aten::{name}.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
        f"bool keepdim=False) -> {result}",
        prepared=True,
        order="- dim correction",
        layout=layout,
        out_overlap=overlap,
        face=face,
        on_slices=slices,
    )(forward)
    operator(
        f"aten::{name}(Tensor self, bool unbiased=True) -> {result}",
        prepared=True,
        out="",
        out_overlap=overlap,
        face=face,
        traced="correction",
    )(of_all)
    operator(
        f"aten::{name}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) "
        f"-> {result}",
        prepared=True,
        layout=layout,
        out="out" if is_one else "",
        out_overlap=overlap,
        face=face,
    )(over)


for _root, _name in enumerate(("var", "std")):
    _declare_spread(_name, _of_variance(_known_variance, bool(_root)), "Tensor")
    _declare_spread(f"{_name}_mean", _of_variance(_known_both, bool(_root)), "(Tensor, Tensor)")


@operator(
    "aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    prepared=True,
    autocast="full",
    autocast_in_graphs="full-unless-dtype",
    order="int_out out",
    out_dtype=COMPUTED,
    out_overlap="read-first",
    on_slices="dims",
)
def prod(self: Array, dtype: int | None) -> Array:
    values = sum_input(self, dtype)
    found = folded(values, None, False, "product")
    if found is not None:
        return cast(found, values.dtype)
    return as_array(_multiply_over(values, None, values.dtype))


@operator(
    "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    prepared=True,
    autocast="full",
    autocast_in_graphs="full-unless-dtype",
    out="int_out",
    out_dtype=COMPUTED,
    layout="C",
    out_overlap="read-first",
)
def prod_over(self: Array, dim: int, keepdim: bool, dtype: int | None) -> Array:
    axis = wrap_dim(dim, self.ndim)
    values = sum_input(self, dtype)
    found = folded(values, (axis,), keepdim, "product")
    if found is not None:
        return cast(found, values.dtype)
    return as_array(
        _multiply_over(values, axis if self.ndim else None, values.dtype, None, keepdim)
    )


@operator(
    "aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    prepared=True,
    autocast_in_graphs="full",
    out_dtype=OutDtype(
        "floating",
        "{name}(): Expected floating point type for result tensor, but got: {out}",
    ),
    layout="C",
    out_overlap="read-first",
    on_slices="dims",
)
def logsumexp(self: Array, dim: Dims, keepdim: bool) -> Array:
    return _known_logsumexp.call(self, dim, keepdim)  # type: ignore[no-any-return]


def _any_logsumexp(self: Array, dim: Dims, keepdim: bool) -> Array:
    self = self[...]  # which no other thread can change
    axes = wrap_dims(dim, self.ndim)
    if kind(self.dtype) < 2:
        self = self.astype(default_dtype.float)
    if not self.size:
        return as_array(np.log(_add_over(np.exp(self), axes, None, None, keepdim)))
    if is_half(self.dtype) or (kind(self.dtype) == 2 and axes == (self.ndim - 1,)):
        self = in_order(self)
    if axes == (self.ndim - 1,) and is_real(self):
        kernels = family("rows.rows")
        if kernels is not None:
            found = kernels.logsumexp(self.reshape(-1, self.shape[-1]))
            return asarray(found.reshape((*self.shape[:-1], *(1,) * keepdim)))
    is_float = kind(self.dtype) == 2 and is_whole(self)
    arrays = family("elementwise.arrays") if axes and is_float else None
    if arrays is not None and arrays.LETTERS[self.dtype]:
        return _logsumexp_by_kernels(arrays, self, axes, keepdim)
    if self.dtype is _FLOAT32:
        return _plain_logsumexp(self, axes, keepdim)
    top = np.max(self.real, axes, keepdims=True)
    top = np.where(np.isinf(top), top.dtype.type(0), top)
    if self.itemsize == 2:
        return _narrow_logsumexp(self, top, axes, keepdim)
    inner = np.log(_add_over(np.exp(self - top), axes, None, None, keepdim))
    return asarray(inner + top.reshape(np.shape(inner))).astype(self.dtype, copy=False)


_known_logsumexp: Final = Prepared(_any_logsumexp)


def _narrow_logsumexp(self: Array, top: Array, axes: tuple[int, ...], keepdim: bool) -> Array:
    """That of 16-bit floats, each step of which is rounded."""
    grown = as_array(np.exp(self - top)).astype(_FLOAT32)
    sums = as_array(_add_over(grown, axes, None, None, keepdim)).astype(self.dtype)
    return as_array(np.log(sums) + top.reshape(sums.shape)).astype(self.dtype, copy=False)


def _logsumexp_by_kernels(
    arrays: ModuleType, self: Array, axes: tuple[int, ...], keepdim: bool
) -> Array:
    """The same in few passes; each step of 16-bit floats is rounded, but for the sum."""
    own = arrays.LETTERS[self.dtype]
    wide = "f" if is_half(self.dtype) else own
    largest = folded(self, axes, True, "max")
    steps = [("isinf", own, (0,)), ("choose", own, (2, 1, 0))]
    top = arrays.evaluate(steps, own, largest, 0)
    grown = arrays.evaluate([("subtract", own, (0, 1)), ("exp", own, (2,))], wide, self, top)
    sums = cast(as_array(folded(grown, axes, keepdim, "sum")), self.dtype)
    steps = [("log", own, (0,)), ("add", own, (2, 1))]
    found: Array = arrays.evaluate(steps, own, sums, top.reshape(sums.shape))
    return found


def _plain_logsumexp(self: Array, axes: tuple[int, ...], keepdim: bool) -> Array:
    top = asarray(_max_over(self, axes, None, None, True))
    np.copyto(top, operand(0, _FLOAT32), where=np.isinf(top))
    apart = asarray(self - top)
    np.exp(apart, apart)
    result = asarray(_add_over(apart, axes, None, None, keepdim))
    np.log(result, result)
    result += top if keepdim else top.reshape(result.shape)
    return result


@operator("aten::trace(Tensor self) -> Tensor", prepared=True, autocast="full")
def trace(self: Array) -> Array:
    check_kernel("trace", self, "buqe")
    if self.ndim != 2:
        raise OperatorError(
            f"trace: expected a matrix, but got tensor with dim {self.ndim}", code="shape-mismatch"
        )
    return total(in_order(self.diagonal()), None)  # added in double, as by torch
