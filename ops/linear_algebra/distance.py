"""Distances between vectors, and likenesses of them."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any, Final

import numpy as np

from ..arithmetic.elementwise import difference
from ..kernels import family, in_order, is_half, is_ready
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import OperatorError, UnsupportedDtype
from ..reductions.folding import folded
from ..reductions.loss_reduction import floats, reduced, widened
from ..reductions.reduce import sum_over
from ..table.layouts import contiguous
from ..table.pointwise import as_array, binary, cast, checked_broadcast, operand, with_number
from ..table.promotion import common_dtype, kind
from ..table.refusals import Refusal, scalar_types_differ
from ..table.table import operator
from ..table.without_data import rows_of
from .linalg import matmul
from .matrix_norms import vector_norm

__all__ = ["is_by_products", "vector_length"]

Axis = int | tuple[int, ...] | None
_KERNELS: Final = (np.dtype(np.float32), np.dtype(np.float64))
_LARGE: Final = 25
_FLOATS: Final = ("f", "d", "e", "E")
_FEW: Final = 1 << 19
"""Differences of numbers that are computed sooner than a matrix product is prepared."""
_ELEMENTS_AT_ONCE: Final = 1 << 22


def vector_length(x: Array, p: float, axis: Axis, keepdims: bool = False) -> Array:
    """The p-norm along an axis; 16-bit floats are summed in float32."""
    size = np.abs(widened(x))
    if p == 0:
        result: object = np.count_nonzero(size, axis, keepdims=keepdims)
    elif p == 1:
        result = size.sum(axis, keepdims=keepdims)
    elif p == 2:
        result = np.sqrt(np.square(size).sum(axis, keepdims=keepdims))
    elif math.isinf(p) and not size.size:
        result = np.zeros(np.sum(size, axis, keepdims=keepdims).shape)
    elif math.isinf(p):
        result = (size.max if p > 0 else size.min)(axis, keepdims=keepdims)
    else:
        total = np.power(size, size.dtype.type(p)).sum(axis, keepdims=keepdims)
        result = np.power(total, size.dtype.type(1 / p))
    dtype = np.abs(x[..., :0]).dtype if x.ndim else x.dtype
    return contiguous(as_array(result).astype(dtype))


def _check_floats(name: str, x: Array, label: str) -> None:
    if kind(x.dtype) != 2:
        raise OperatorError(
            f"{name} only supports floating-point dtypes, {label} got: {dtype_of(x).scalar_name}",
            code="dtype-mismatch",
        )


def _check_rows(x1: Array, x2: Array, p: float) -> None:
    for label, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise OperatorError(
                f"cdist only supports at least 2D tensors, {label} got: {x.ndim}D",
                code="shape-mismatch",
            )
    if x1.shape[-1] != x2.shape[-1]:
        raise OperatorError(
            "X1 and X2 must have the same number of columns. "
            f"X1: {x1.shape[-1]} X2: {x2.shape[-1]}",
            code="shape-mismatch",
        )
    _check_floats("cdist", x1, "X1")
    _check_floats("cdist", x2, "X2")
    if not p >= 0:
        raise OperatorError("cdist only supports non-negative p values")
    if x1.dtype != x2.dtype:
        raise scalar_types_differ(x1, x2, "x1", "x2")


def _by_products(x1: Array, x2: Array) -> Array:
    """Euclidean distances from one matrix product: fast, but less exact for close vectors."""
    for array in (x1, x2):
        if not array.ndim:
            raise OperatorError("zero-dimensional tensor (at position 0) cannot be concatenated")
    first, second = np.square(x1).sum(-1, keepdims=True), np.square(x2).sum(-1, keepdims=True)
    left = np.concatenate((-2 * x1, first, np.ones_like(first)), -1)
    right = np.concatenate((x2, np.ones_like(second), second), -1)
    if right.ndim < 2:
        raise OperatorError(
            f"tensor.mT is only supported on matrices or batches of matrices. "
            f"Got {right.ndim}-D tensor.",
            code="shape-mismatch",
        )
    squares = matmul(left, np.swapaxes(right, -1, -2))
    return as_array(np.sqrt(np.maximum(squares, 0)))


def _kernels(x1: Array, x2: Array, p: float) -> ModuleType | None:
    """Native code for norms of differences of float32 or float64; None where there is none."""
    known = x1.dtype in _KERNELS and x2.dtype is x1.dtype and x1.size and x2.size
    kernels: Any = family("rows.distances") if known else None
    return None if kernels is None or p not in kernels.FORMS else kernels


def _one_by_one(x1: Array, x2: Array, p: float) -> Array:
    """Distances from differences, as many rows at a time as memory allows."""
    kernels = _kernels(x1, x2, p) if x1.shape[:-2] == x2.shape[:-2] else None
    if kernels is not None:
        found: Array | None = kernels.of_pairs(in_order(x1), x2, kernels.FORMS[p])
        if found is not None:
            return found
    batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    rows, columns = x1.shape[-2], x2.shape[-2]
    result = np.empty((*batch, rows, columns), x1.dtype)
    a_row = math.prod(batch) * columns * x1.shape[-1]
    step = max(1, _ELEMENTS_AT_ONCE // max(a_row, 1))
    for start in range(0, rows, step):
        part = x1[..., start : start + step, None, :] - x2[..., None, :, :]
        result[..., start : start + step, :] = vector_length(part, p, -1)
    return result


def is_by_products(x1: Array, x2: Array, p: float, mode: int) -> bool:
    """Whether the distances of rows are computed by a matrix product (see `cdist`)."""
    many = x1.shape[-2] > _LARGE or x2.shape[-2] > _LARGE
    if p != 2 or not (mode == 1 or (mode == 0 and many)):
        return False
    return not (x1.size * x2.shape[-2] <= _FEW and _kernels(x1, x2, p))


@operator(
    "aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
    face="operator",
    cost="pairs",
    prepared=True,
)
@operator(
    "aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    refuses=Refusal("h", "cdist"),
    out="",
    cost="pairs",
    prepared=True,
    on_slices="matrices",
)
def cdist(x1: Array, x2: Array, p: float, compute_mode: int | None) -> Array:
    """The distance of every row of `x1` to every row of `x2`, as [*, P, R].

    `compute_mode` 1 always computes Euclidean distances by a matrix product, 2 never does, 0 does
    when there are more than 25 rows.
    """
    x1, x2 = x1[...], x2[...]  # which no other thread can change
    _check_rows(x1, x2, p)
    mode = compute_mode or 0
    if mode not in (0, 1, 2):
        raise OperatorError(
            f"possible modes: 0, 1, 2, but was: {mode}",
        )
    checked_broadcast(x1.shape[:-2], x2.shape[:-2], ("x1", "x2"))
    wide1, wide2 = widened(x1), widened(x2)
    if is_by_products(wide1, wide2, p, mode):
        return _by_products(wide1, wide2).astype(x1.dtype, copy=False)
    return _one_by_one(wide1, wide2, p).astype(x1.dtype, copy=False)


@operator("aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", cost="pairs")
def euclidean_dist(x1: Array, x2: Array) -> Array:
    return _by_products(x1, x2)


@operator("aten::_pdist_forward(Tensor self, float p=2.) -> Tensor", face="operator", cost="pairs")
@operator(
    "aten::pdist(Tensor self, float p=2.) -> Tensor",
    autocast_in_graphs="full",
    out="",
    face="function",
    cost="pairs",
    prepared=True,
)
def pdist(self: Array, p: float) -> Array:
    """The distances between each two rows, those of the first row first."""
    self = self[...]  # which no other thread can change
    if self.ndim != 2:
        raise OperatorError(
            f"pdist only supports 2D tensors, got: {self.ndim}D", code="shape-mismatch"
        )
    if kind(self.dtype) != 2:
        raise OperatorError("pdist only supports floating-point dtypes", code="dtype-mismatch")
    if p < 0:
        raise OperatorError("pdist only supports non-negative p values")
    if self.itemsize == 2 and len(self) > 1 and self.size:
        word = dtype_of(self).scalar_name
        raise UnsupportedDtype(f"\"pdist\" not implemented for '{word}'")
    kernels = _kernels(self, self, p) if len(self) > 1 else None
    if kernels is not None:
        found: Array | None = kernels.within(in_order(self), kernels.FORMS[p])
        if found is not None:
            return found
    upper = np.triu_indices(len(self), 1)
    return _one_by_one(self, self, p)[upper]


@operator(
    "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, "
    "bool keepdim=False) -> Tensor",
    out="",
    cost="reads",
    rows=rows_of("x1 x2"),
    prepared=True,
)
def pairwise_distance(x1: Array, x2: Array, p: float, eps: float, keepdim: bool) -> Array:
    """The norm of `x1 - x2 + eps` along the last dimension."""
    x1, x2 = x1[...], x2[...]
    kernels = _kernels(x1, x2, p) if x1.shape == x2.shape and x1.ndim else None
    if kernels is not None:
        found: Array = kernels.side_by_side(in_order(x1), in_order(x2), kernels.FORMS[p], eps)
        return found[..., None] if keepdim else found
    rounded = _apart_natively(x1, x2, eps)
    if rounded is not None:
        return vector_norm(rounded, p, [-1], keepdim)
    apart = with_number(np.add, difference(x1, x2), eps)
    if not apart.ndim:
        result = vector_length(apart.reshape(1), p, -1, keepdim)
        return result.reshape(())
    return vector_length(apart, p, -1, keepdim)


def _apart_natively(x1: Array, x2: Array, eps: float) -> Array | None:
    """`x1 - x2 + eps` of 16-bit floats, rounded step by step; None of others and of strides that no
    kernel goes by."""
    if x1.dtype is not x2.dtype or not is_half(x1.dtype) or not (x1.ndim and x1.size and x2.size):
        return None
    arrays = family("elementwise.arrays")
    apart: Array | None = None if arrays is None else arrays.apply("subtract", (x1, x2))
    if apart is None:
        return None
    made: Array | None = arrays.apply("add", (apart, operand(eps, apart.dtype)))
    return made


def _cosines_natively(x1: Array, x2: Array, axis: int, eps: float) -> Array | None:
    """The same of floats of one dtype by native code; None where there is none.  Lengths are those
    of vectors as they are given, before dimensions are repeated."""
    arrays = family("elementwise.arrays") if x1.ndim == x2.ndim and x1.size and x2.size else None
    if arrays is None or arrays.LETTERS[x1.dtype] not in _FLOATS:
        return None
    if x1.shape[axis] != x2.shape[axis]:
        return None
    if x1.shape == x2.shape and axis == x1.ndim - 1 and is_ready(x1) and is_ready(x2):
        found: Array | None = family("rows.expressions").cosines(x1, x2, eps)
        if found is not None:
            return found
    least, unit = operand(eps, x1.dtype), list[Array]()
    for x in (in_order(x1), in_order(x2)):
        length = arrays.apply("maximum", (vector_norm(x, 2.0, [axis], True), least))
        quotient = None if length is None else arrays.apply("divide", (x, length))
        if quotient is None:
            return None
        unit.append(quotient)
    product = arrays.apply("multiply", tuple(unit))  # None of strides that no kernel goes by
    return None if product is None else folded(product, (axis,), False, "sum")


@operator(
    "aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    prepared=True,
    autocast_in_graphs="full",
    refuses=Refusal(
        "", fails=("qc", "expected common dtype to be floating point, yet common dtype is {word}")
    ),
    out="",
    cost="reads",
)
def cosine_similarity(x1: Array, x2: Array, dim: int, eps: float) -> Array:
    """The cosine of the angle between vectors along `dim`; lengths count as at least `eps`."""
    x1, x2 = x1[...], x2[...]
    dtype = common_dtype(x1, x2)
    if kind(dtype) < 2:
        word = dtype_of(np.empty(0, dtype)).scalar_name
        raise OperatorError(
            f"expected common dtype to be floating point, yet common dtype is {word}",
            code="dtype-mismatch",
        )
    if not eps >= 0:
        raise OperatorError(f"eps must be non-negative, got: {eps:g}")
    shape = checked_broadcast(x1.shape, x2.shape, ("x1", "x2"))
    axis = wrap_dim(dim, len(shape))
    if x1.dtype is x2.dtype:
        one, other = (x.reshape((1,) * (len(shape) - x.ndim) + x.shape) for x in (x1, x2))
        found = _cosines_natively(one, other, axis, eps)
        if found is not None:
            return found
    unit = []
    for x in (x1, x2):
        whole = np.broadcast_to(cast(x, dtype), shape)
        if not shape:
            whole = whole.reshape(1)
        length = vector_length(widened(whole), 2, axis, True).astype(dtype, copy=False)
        unit.append(whole / np.maximum(length, length.dtype.type(eps)))
    result = as_array(widened(as_array(unit[0] * unit[1])).sum(axis))
    return contiguous(result.astype(dtype, copy=False))


@operator(
    "aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    autocast_in_graphs="full",
    cost="reads",
)
def dist(self: Array, other: Array, p: Scalar) -> Array:
    """The norm of the difference, over all elements."""
    apart = difference(self, other)
    if kind(apart.dtype) < 2:
        raise OperatorError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {dtype_of(apart).scalar_name} instead.",
            code="dtype-mismatch",
        )
    return vector_length(apart.reshape(-1), float(p.real), -1)


# --------------------------------------------------------------------------- losses


@operator(
    "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
    "int reduction=1) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    out="",
    cost="reads",
)
def cosine_embedding_loss(
    input1: Array, input2: Array, target: Array, margin: float, reduction: int
) -> Array:
    """`1 - cos` where the target is 1, `cos` above `margin` where it is -1."""
    _check_embedding_shapes(input1, input2, target)
    checked_broadcast(input1.shape, input2.shape, ("input1", "input2"))
    if target.ndim:
        checked_broadcast(input1.shape[:1], target.shape, ("input1", "target"))
    dtype = common_dtype(floats(input1), floats(input2))
    a, b = cast(input1, dtype), cast(input2, dtype)
    axis = [input1.ndim - 1]

    def length(x: Array) -> Array:
        return with_number(np.add, sum_over(x * x, axis, False, None), 1e-12)

    product = sum_over(binary(np.multiply, a, b), axis, False, None)
    cosine = as_array(product / np.sqrt(length(a) * length(b)))
    zero, one = dtype.type(0), dtype.type(1)
    unlike = np.maximum(with_number(np.subtract, cosine, margin), zero)
    like = np.where(target == 1, one - cosine, zero)
    return reduced(like + np.where(target == -1, unlike, zero), reduction, dtype)


def _check_embedding_shapes(input1: Array, input2: Array, target: Array) -> None:
    if target.ndim not in (0, 1):
        raise OperatorError(
            "0D or 1D target tensor expected, multi-target not supported", code="shape-mismatch"
        )
    wanted = target.ndim + 1
    if input1.ndim != wanted or input2.ndim != wanted:
        sizes = ", ".join(f"[{', '.join(map(str, x.shape))}]" for x in (input1, input2, target))
        first, second, last = sizes.replace("], [", "]|[").split("|")
        raise OperatorError(
            f"{target.ndim}D target tensor expects {wanted}D input tensors, but found inputs "
            f"with sizes {first} and {second} and target with size {last}."
            if target.ndim
            else f"0D target tensor expects 1D input tensors, but found inputs with sizes {first} "
            f"and {second}.",
            code="shape-mismatch",
        )


@operator(
    "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., "
    "float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    out="",
    cost="reads",
)
def triplet_margin_loss(
    anchor: Array,
    positive: Array,
    negative: Array,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: int,
) -> Array:
    """How much nearer than by `margin` the negative is than the positive."""
    a_dim, p_dim, n_dim = anchor.ndim, positive.ndim, negative.ndim
    if not a_dim == p_dim == n_dim:
        raise OperatorError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {a_dim}D, positive {p_dim}D, and negative {n_dim}D "
            "inputs",
            code="shape-mismatch",
        )
    near = pairwise_distance(anchor, positive, p, eps, False)
    far = pairwise_distance(anchor, negative, p, eps, False)
    if swap:
        far = as_array(np.minimum(far, pairwise_distance(positive, negative, p, eps, False)))
    lack = difference(with_number(np.add, near, margin), far)
    return reduced(np.maximum(lack, near.dtype.type(0)), reduction)
