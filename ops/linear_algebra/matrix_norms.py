"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..kernels import blas, family, of_floats
from ..memory.dims import wrap_dim, wrap_dims
from ..memory.dtype import Array, Dtype, Scalar, dtype_of, numpy_dtype, of_numpy
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import strides_of, view_of
from ..reductions.folding import folded
from ..table.layouts import contiguous
from ..table.out_dtypes import SAFELY, SAME, OutDtype
from ..table.pointwise import as_array, cast
from ..table.promotion import kind, promote
from ..table.refusals import Refusal
from ..table.table import operator
from .decompositions import singular_parts
from .matrix_checks import (
    check_floating,
    check_lapack,
    check_matrix,
    check_square,
    real_dtype,
    refuse_not_finite,
)

__all__ = ["finite_svd", "matrix_norm", "singular_values", "vector_norm"]

_OUT_OF_LINALG_MATRIX_NORM: Final = OutDtype(
    "same", "{name} expected out tensor dtype {result} but got: {out}"
)

_NO_MATRIX_NORM: Final = Refusal(
    "", fails=("h", "linalg.matrix_norm: Low precision dtypes not supported. Got {word}")
)
_NO_CONDITION: Final = Refusal("h", "linalg_svd_cpu")

Dims = Sequence[int] | None
_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)


def _wide(dtype: Dtype) -> Dtype:
    """The real dtype in which sums are made: float32 for 16-bit floats."""
    real = real_dtype(dtype)
    return np.dtype(np.float32) if real.itemsize < 4 else real


def _converted(self: Array, dtype: int | None, name: str) -> Array:
    """The elements in the wanted dtype, which must not be a narrower or a lower one."""
    check_floating(self, name)
    if dtype is None:
        return self
    wanted = numpy_dtype(dtype)
    word = of_numpy(wanted).scalar_name
    if kind(wanted) < 2:
        raise OperatorError(
            f"{name}: dtype should be floating point or complex, but got {word}",
            code="dtype-mismatch",
        )
    if kind(wanted) != kind(self.dtype):
        given, form = ("complex", "complex") if self.dtype.kind == "c" else ("real", "real")
        raise OperatorError(
            f"{name}: dtype should be {form} for {given} inputs, but got {word}",
            code="dtype-mismatch",
        )
    if promote(self.dtype, wanted) != wanted:
        raise OperatorError(
            f"{name}: the dtype of the input ({dtype_of(self).scalar_name}) should be convertible "
            f"without narrowing to the specified dtype ({word})",
            code="dtype-mismatch",
        )
    return cast(self, wanted)


# --------------------------------------------------------------------------- vectors


def _check_identity(
    shape: tuple[int, ...], axes: tuple[int, ...], order: float, whole: bool
) -> None:
    """An empty tensor has no norm of an order below 0, nor a largest element."""
    if order >= 0 and order != math.inf:
        return
    text = f"{order:g}"
    if whole and 0 in shape:
        raise OperatorError(
            f"linalg.vector_norm cannot compute the {text} norm on an empty tensor because the "
            "operation does not have an identity",
            code="shape-mismatch",
        )
    for axis in axes if shape else ():
        if shape[axis] == 0:
            raise OperatorError(
                f"linalg.vector_norm cannot compute the {text} norm on the dimension {axis}"
                "because this dimension is empty and the operation does not have an identity",
                code="shape-mismatch",
            )


def vector_norm(
    self: Array, order: float, dims: Dims, keepdim: bool, dtype: int | None = None
) -> Array:
    """The norm over some dimensions, or all, in the real dtype of the elements."""
    array = _converted(self, dtype, "linalg.vector_norm")
    result_dtype = real_dtype(array.dtype)
    whole = not dims
    axes = wrap_dims(dims, array.ndim)
    if array.size and kind(array.dtype) == 2:
        native = _by_kernels(array, order, axes, keepdim)
        if native is not None:
            return cast(native, result_dtype)
        if order == 2 and array.dtype is _FLOAT32 and len(axes) == array.ndim:
            return _length(array, keepdim)
    _check_identity(array.shape, axes, order, whole)
    sizes = np.abs(array).astype(_wide(array.dtype), copy=False)
    norms = as_array(_of_sizes(sizes, order, axes, keepdim))
    return contiguous(norms.astype(result_dtype, copy=False))


_FOLDED: Final = {1.0: "sum", math.inf: "max", -math.inf: "min"}


def _by_kernels(array: Array, order: float, axes: tuple[int, ...], keepdim: bool) -> Array | None:
    """The norm of floats in at least float32; None if it is to be had otherwise."""
    if order == 2:
        squares = folded(array, axes, keepdim, "squares", wide=True)
        return None if squares is None else family("elementwise.arrays").apply("sqrt", (squares,))
    operation, arrays = _FOLDED.get(order), family("elementwise.arrays")
    if operation is None or arrays is None:
        return None
    # of few elements, too: sums by kernels have bits of their own
    sizes = arrays.apply("absolute", (array,))
    return None if sizes is None else folded(sizes, axes, keepdim, operation, wide=True)


def _length(array: Array, keepdim: bool) -> Array:
    """The 2-norm of all elements, which are float32; their squares leave its range, as in torch."""
    wide = array.reshape(-1).astype(_FLOAT64)
    result = np.asarray(np.sqrt(_FLOAT32.type(blas.dot(wide, wide))), _FLOAT32)
    return result.reshape((1,) * array.ndim) if keepdim else result


def _of_sizes(sizes: Array, order: float, axes: tuple[int, ...], keepdim: bool) -> object:
    """The norm from absolute values."""
    if order == math.inf:
        return np.max(sizes, axes, keepdims=keepdim)
    if order == -math.inf:
        return np.min(sizes, axes, keepdims=keepdim)
    if order == 0:
        return np.sum(sizes != 0, axes, sizes.dtype, keepdims=keepdim)
    if order == 1:
        return np.sum(sizes, axes, keepdims=keepdim)
    if order == 2:
        return np.sqrt(np.sum(sizes * sizes, axes, keepdims=keepdim))
    real = sizes.dtype.type
    total = np.sum(np.power(sizes, real(order)), axes, keepdims=keepdim)
    return np.power(total, real(1 / order))


@operator(
    "aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    row_fold="length",
    prepared=True,
    cost="reads",
    out_dtype=SAME,
    out_overlap="read-first",
    on_slices="folds",
)
def linalg_vector_norm(
    self: Array, ord: Scalar, dim: Dims, keepdim: bool, dtype: int | None
) -> Array:
    return vector_norm(self, _real_order(ord, "vector"), dim, keepdim, dtype)


def _real_order(order: Scalar, kind: str) -> float:
    if isinstance(order, complex):
        raise OperatorError(
            f"linalg.{kind}_norm: Expected a non-complex scalar as the order of norm."
        )
    return float(order)


@operator(
    "aten::linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    out="",
    cost="matrices",
)
def linalg_powsum(self: Array, ord: Scalar, dim: Dims, keepdim: bool, dtype: int | None) -> Array:
    array = _converted(self, dtype, "linalg._powsum")
    sizes = np.abs(array).astype(_wide(array.dtype), copy=False)
    total = np.sum(
        np.power(sizes, sizes.dtype.type(ord)), wrap_dims(dim, array.ndim), keepdims=keepdim
    )
    return as_array(total).astype(real_dtype(array.dtype), copy=False)


# --------------------------------------------------------------------------- matrices


def singular_values(array: Array) -> Array:
    """The singular values of matrices, largest first; NaN for what is infinite.

    Raises:
        LinAlgError: an element is NaN.
    """
    count = min(array.shape[-2:])
    if not array.size:
        return np.zeros((*array.shape[:-2], count), real_dtype(array.dtype))
    quick = singular_parts(array, "N")
    if quick is not None:
        return quick[1]
    (found,) = finite_svd(array, vectors=False)
    return found.astype(real_dtype(array.dtype), copy=False)


def finite_svd(array: Array, *, vectors: bool) -> tuple[Array, ...]:
    """The singular values of matrices, between their vectors if these are wanted; NaN for matrices
    with infinite elements, which LAPACK may never come to an end with.

    Raises:
        LinAlgError: an element is NaN.
    """
    is_finite = np.asarray(np.isfinite(array).all((-2, -1)))
    within = array
    if not is_finite.all():
        refuse_not_finite(as_array(np.isnan(array).any((-2, -1))))
        within = np.where(is_finite[..., None, None], array, 0)
    quick = singular_parts(within, "S" if vectors else "N")
    if quick is not None:
        parts: tuple[Array, ...] = quick if vectors else quick[1:2]
    else:
        made = blas.svd(within, False, vectors)
        parts = tuple(made) if vectors else (made,)
    if within is not array:
        for part in parts:
            part[~is_finite] = np.nan
    return parts


def _matrix_dims(self: Array, dim: Sequence[int]) -> tuple[int, int]:
    check_matrix(self, "linalg.matrix_norm")
    if len(dim) != 2:
        raise OperatorError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {_listed(dim)}")
    first, second = (wrap_dim(d, self.ndim) for d in dim)
    if first == second:
        raise OperatorError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    return first, second


def _listed(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


def _without(first: int, second: int) -> int:
    """Where `second` is once `first` is gone."""
    return second - (first < second)


def _spread(values: Array, dims: tuple[int, int], keepdim: bool) -> Array:
    return np.expand_dims(values, tuple(sorted(dims))) if keepdim else values


def _spread_last(values: Array, dims: tuple[int, int], keepdim: bool) -> Array:
    """`_spread` of what was computed of the last dimensions, which the kept ones were before."""
    if not keepdim or not values.size:
        return _spread(values, dims, keepdim)
    steps = [step * values.itemsize for step in strides_of(values)]
    sizes = (*values.shape, 1, 1)
    kept = view_of(values, sizes, (*steps, values.itemsize, values.itemsize))
    return np.moveaxis(kept, (-2, -1), dims)


def matrix_norm(
    self: Array, order: float | str, dim: Sequence[int], keepdim: bool, dtype: int | None = None
) -> Array:
    """The norm of the matrices that two dimensions hold.

    Raises:
        OperatorError: an order that matrices have no norm of.
    """
    check_floating(self, "linalg.matrix_norm")
    dims = _matrix_dims(self, dim)
    if isinstance(order, str):
        if order == "fro":
            return vector_norm(self, 2.0, dims, keepdim, dtype)
        if order != "nuc":
            raise OperatorError(f"linalg.matrix_norm: Order {order} not supported.")
    elif abs(order) not in (1, 2, math.inf):
        raise OperatorError(f"linalg.matrix_norm: Order {order:g} not supported.")
    array = _converted(self, dtype, "linalg.matrix_norm")
    if isinstance(order, str) or abs(order) == 2:
        check_lapack(array, "linalg_svd_cpu")
        values = singular_values(np.moveaxis(array, dims, (-2, -1)))
        operation = "sum" if isinstance(order, str) else "max" if order > 0 else "min"
        result = folded(values, (-1 + values.ndim,), False, operation) if values.size else None
        if result is None:
            result = (
                np.sum(values, -1) if isinstance(order, str) else _extreme(values, -1, order > 0)
            )
        return _spread_last(as_array(result), dims, keepdim)
    columns, rows = dims if abs(order) == 1 else dims[::-1]
    sums = vector_norm(array, 1.0, [columns], False)
    result = _extreme(sums, _without(columns, rows), order > 0)
    return _spread(as_array(result), dims, keepdim)


def _extreme(values: Array, axis: int, largest: bool) -> Array:
    if values.shape[axis] == 0:
        if largest:
            return as_array(np.sum(values, axis))
        raise IndexOutOfRange(f"amin(): Expected reduction dim {axis} to have non-zero size.")
    return as_array(np.max(values, axis) if largest else np.min(values, axis))


@operator(
    "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    prepared=True,
    cost="matrices",
    out_dtype=_OUT_OF_LINALG_MATRIX_NORM,
    out_layout="C",
)
def linalg_matrix_norm(
    self: Array, ord: Scalar, dim: Sequence[int], keepdim: bool, dtype: int | None
) -> Array:
    return matrix_norm(self, _real_order(ord, "matrix"), dim, keepdim, dtype)


def _real(number: Scalar) -> int | float:
    return number.real if isinstance(number, complex) else number


@operator(
    'aten::linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], '
    "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    prepared=True,
    cost="matrices",
    out_dtype=_OUT_OF_LINALG_MATRIX_NORM,
    out_layout="C",
)
def linalg_matrix_norm_named(
    self: Array, ord: str, dim: Sequence[int], keepdim: bool, dtype: int | None
) -> Array:
    return matrix_norm(self, ord, dim, keepdim, dtype)


def _norm(
    self: Array, order: float | str | None, dim: Dims, keepdim: bool, dtype: int | None
) -> Array:
    if dim is not None and len(dim) not in (1, 2):
        raise OperatorError(
            "linalg.norm: If dim is specified, it must be of length 1 or 2. "
            f"Got [{', '.join(map(str, dim))}]"
        )
    if dim is None and order is not None and self.ndim not in (1, 2):
        raise OperatorError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
            f"Got {self.ndim}D."
        )
    if order is None:
        return vector_norm(self, 2.0, dim, keepdim, dtype)
    if isinstance(order, str) or (len(dim) if dim is not None else self.ndim) == 2:
        return matrix_norm(self, order, (0, 1) if dim is None else dim, keepdim, dtype)
    return vector_norm(self, order, dim, keepdim, dtype)


@operator(
    "aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    prepared=True,
    cost="matrices",
    out_dtype=_OUT_OF_LINALG_MATRIX_NORM,
    out_layout="C",
)
def linalg_norm(
    self: Array, ord: Scalar | None, dim: Dims, keepdim: bool, dtype: int | None
) -> Array:
    kind = "matrix" if (self.ndim if dim is None else len(dim)) == 2 else "vector"
    return _norm(self, None if ord is None else _real_order(ord, kind), dim, keepdim, dtype)


@operator(
    "aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    cost="matrices",
    out_dtype=_OUT_OF_LINALG_MATRIX_NORM,
    out_layout="C",
)
def linalg_norm_named(self: Array, ord: str, dim: Dims, keepdim: bool, dtype: int | None) -> Array:
    return _norm(self, ord, dim, keepdim, dtype)


# --------------------------------------------------------------------------- the old names


def _order(p: Scalar | None) -> float:
    return 2.0 if p is None else float(_real(p))


def _check_floating(dtype: Dtype, what: str) -> None:
    """Raise for whole numbers and bools, as the old names do."""
    if kind(dtype) < 2:
        raise OperatorError(
            f"norm(): {what} should be either floating point or complex. "
            f"Got {of_numpy(dtype).scalar_name} instead.",
            code="dtype-mismatch",
            headline=f"`norm` takes floats or complex numbers, not `{of_numpy(dtype)}`",
        )


@operator(
    "aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
    prepared=True,
    order="dtype_out out ScalarOpt_dtype ScalarOpt_dtype_out Scalar_out",
    cost="reads",
    out_overlap="read-first",
    on_slices="folds",
)
def norm(self: Array, p: Scalar) -> Array:
    _check_floating(self.dtype, "input dtype")
    return vector_norm(self, _order(p), None, False)


@operator(
    "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
    row_fold="length",
    prepared=True,
    out="out",
    cost="reads",
    out_overlap="read-first",
)
def norm_over(self: Array, p: Scalar | None, dim: Dims, keepdim: bool) -> Array:
    _check_floating(self.dtype, "input dtype")
    return vector_norm(self, _order(p), dim, keepdim)


@operator(
    "aten::native_norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, "
    "ScalarType? dtype) -> Tensor",
    face="function",
    order="out ScalarOpt_dim_dtype_out - ScalarOpt_dim_dtype",
    cost="reads",
)
@operator(
    "aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, "
    "ScalarType dtype) -> Tensor",
    out="dtype_out",
    cost="reads",
    out_dtype=SAME,
    out_overlap="read-first",
)
def norm_over_as(
    self: Array, p: Scalar | None, dim: Dims, keepdim: bool, dtype: int | None
) -> Array:
    return vector_norm(self, _order(p), dim, keepdim, dtype)


@operator(
    "aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
    cost="reads",
    out_overlap="read-first",
)
def norm_as(self: Array, p: Scalar | None, dtype: int) -> Array:
    _check_floating(numpy_dtype(dtype), "the desired output dtype")
    return vector_norm(self, _order(p), None, False, dtype)


operator("aten::native_norm(Tensor self, Scalar p=2) -> Tensor", face="function", cost="reads")(
    norm
)


@operator(
    "aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    autocast_in_graphs="full",
    out="out",
    face="function",
    cost="reads",
)
def frobenius_norm(self: Array, dim: Sequence[int], keepdim: bool) -> Array:
    if len(dim) > 2:
        raise OperatorError(
            f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead."
        )
    return vector_norm(self, 2.0, dim, keepdim)


@operator(
    "aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
    autocast_in_graphs="full",
    refuses=_NO_MATRIX_NORM,
    face="function",
    cost="matrices",
    out_layout="C",
)
def nuclear_norm(self: Array, keepdim: bool) -> Array:
    if self.ndim != 2:
        raise OperatorError(
            f"Expected a tensor with 2 dimensions, but got a tensor with {self.ndim} dimension"
            f"{'' if self.ndim == 1 else 's'} instead."
        )
    return matrix_norm(self, "nuc", (-2, -1), keepdim)


@operator(
    "aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
    autocast_in_graphs="full",
    refuses=_NO_MATRIX_NORM,
    face="function",
    cost="matrices",
    out_layout="C",
)
def nuclear_norm_over(self: Array, dim: Sequence[int], keepdim: bool) -> Array:
    if len(dim) != 2:
        raise OperatorError("nuclear norm requires a 'dim' argument of size 2")
    return matrix_norm(self, "nuc", dim, keepdim)


@operator(
    "aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    prepared=True,
    autocast="full",
    cost="matrices",
    out_dtype=SAME,
    on_slices="matrices",
)
def linalg_svdvals(A: Array, driver: str | None) -> Array:
    check_floating(A, "linalg.svd")
    check_matrix(A, "linalg.svd")
    check_lapack(A, "linalg_svd_cpu")
    return singular_values(A)


# --------------------------------------------------------------------------- condition numbers


def _cond_by_inverse(self: Array, order: float | str) -> Array:
    check_square(self, f"linalg.cond(ord={order if isinstance(order, str) else f'{order:g}'})")
    norm = matrix_norm(self, order, (-2, -1), False)
    singular = blas.det(self) == 0 if self.size else np.zeros(self.shape[:-2], bool)
    regular = np.where(singular[..., None, None], np.eye(self.shape[-1], dtype=self.dtype), self)
    of_inverse = matrix_norm(blas.inv(regular), order, (-2, -1), False)
    product = np.where(singular, np.inf, norm * of_inverse)
    return as_array(product).astype(real_dtype(self.dtype))


@operator(
    "aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
    prepared=True,
    autocast="full",
    refuses=_NO_CONDITION,
    cost="matrices",
    out_dtype=SAFELY,
)
def linalg_cond(self: Array, p: Scalar | None) -> Array:
    check_matrix(self, "linalg.cond")
    check_floating(self, "linalg.cond")
    order = _order(p)
    if abs(order) not in (1, 2, math.inf):
        raise OperatorError(f"linalg.cond got an invalid norm type: {order:g}")
    if not self.size:
        return np.zeros(self.shape[:-2], real_dtype(self.dtype))
    if abs(order) != 2:
        return _cond_by_inverse(self, order)
    values = singular_values(self)
    first, last = values[..., :1], values[..., -1:]
    pair = (first, last) if order == 2 else (last, first)
    made = of_floats("divide", *pair)
    return as_array(np.divide(*pair) if made is None else made)[..., 0]


@operator(
    "aten::linalg_cond.p_str(Tensor self, str p) -> Tensor",
    autocast="full",
    refuses=_NO_CONDITION,
    cost="matrices",
    out_dtype=SAFELY,
)
def linalg_cond_named(self: Array, p: str) -> Array:
    check_matrix(self, "linalg.cond")
    check_floating(self, "linalg.cond")
    if p not in ("fro", "nuc"):
        raise OperatorError(f"linalg.cond got an invalid norm type: {p}")
    if not self.size:
        return np.zeros(self.shape[:-2], real_dtype(self.dtype))
    return _cond_by_inverse(self, p)
