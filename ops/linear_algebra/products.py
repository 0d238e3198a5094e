"""More products: of several matrices, over chosen dimensions, of vectors; powers and covariance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Final

import numpy as np

from ..arithmetic.elementwise import mul, sub
from ..kernels import products
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Dtype, dtype_of
from ..memory.errors import OperatorError
from ..memory.warned import warn_caller
from ..reductions.reduce import sum_over
from ..shapes.shape import diagonal, expand
from ..table.formula import Part
from ..table.out_dtypes import AS_INPUT, SAME, OutDtype
from ..table.pointwise import as_array, cast, checked_broadcast
from ..table.promotion import kind, promote
from ..table.refusals import Refusal, check_kernel, cpp_name, scalar_types_differ
from ..table.table import operator
from .linalg import dot, matmul
from .matrix_checks import check_floating, check_same_dtype

__all__ = ["matrix_power"]

_OUT_OF_INNER: Final = OutDtype(
    "same",
    "tensordot: Expected the output tensor to have dtype {result}, but got an output "
    "tensor with dtype {out}",
)

_FLOAT32: Final = np.dtype(np.float32)
_FEW_OBSERVATIONS: Final = (
    "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
    "observations."
)


def _wide(array: Array) -> Array:
    """16-bit floats as float32, in which their products are summed."""
    if array.dtype.itemsize < 4 and kind(array.dtype) == 2:
        return array.astype(_FLOAT32)
    return array


# --------------------------------------------------------------------------- vectors


@operator(
    "aten::vdot(Tensor self, Tensor other) -> Tensor",
    prepared=True,
    cost="product",
    out_dtype=AS_INPUT,
)
def vdot(self: Array, other: Array) -> Array:
    """The dot product with the first vector conjugated."""
    return dot(np.conj(self) if self.dtype.kind == "c" else self, other)


@operator(
    "aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    prepared=True,
    autocast="lower",
    cost="reads",
    out_dtype=OutDtype("same", "{name}: Expected out of dtype{result} but found {out}"),
)
def linalg_vecdot(x: Array, y: Array, dim: int) -> Array:
    for array in (x, y):
        check_floating(array, "linalg.vecdot")
    check_same_dtype(x, y, "linalg.vecdot", ("x", "y"))
    if x.ndim == 1 and y.ndim == 1:
        return vdot(x, y)
    product = mul(np.conj(x) if x.dtype.kind == "c" else x, y)
    if not product.ndim:
        wrap_dim(dim, 0)
        return product
    return sum_over(product, [dim], False, None)


@operator(
    "aten::inner(Tensor self, Tensor other) -> Tensor",
    prepared=True,
    autocast="lower",
    cost="products-of-rows",
    out_dtype=_OUT_OF_INNER,
    on_slices="products",
)
def inner(self: Array, other: Array) -> Array:
    """The sums of products over the last dimensions."""
    if not self.ndim or not other.ndim:
        return mul(self, other)
    if self.shape[-1] != other.shape[-1]:
        raise OperatorError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self.shape)} and {list(other.shape)}",
            code="shape-mismatch",
            roles={"self": f"ends in {self.shape[-1]}", "other": f"ends in {other.shape[-1]}"},
        )
    return tensordot(self, other, [-1], [-1])


def _crossed(self: Array, other: Array, dim: int) -> Array:
    self, other = self[...], other[...]  # which no other thread can change
    if self.shape != other.shape:
        self, other = np.broadcast_arrays(self, other)
    ahead, behind = [1, 2, 0], [2, 0, 1]
    one = mul(self.take(ahead, dim), other.take(behind, dim))
    return as_array(sub(one, mul(self.take(behind, dim), other.take(ahead, dim)), 1))


def _products_and_differences(result: Array, self: Array, other: Array, dim: int) -> list[Part]:
    if result.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        return []
    axis = wrap_dim(dim, result.ndim)
    a, b = (np.moveaxis(np.broadcast_to(each, result.shape), axis, 0) for each in (self, other))
    made = np.moveaxis(result, axis, 0)
    steps = [("multiply", "", (0, 1)), ("multiply", "", (2, 3)), ("subtract", "", (4, 5))]
    rows = [slice(0, 1), slice(1, 2), slice(2, 3)]
    return [
        Part(steps, [a[ahead], b[behind], a[behind], b[ahead]], made[own])
        for own, ahead, behind in zip(rows, rows[1:] + rows[:1], rows[2:] + rows[:2], strict=True)
    ]


@operator(
    "aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    refuses=Refusal("b", "cross"),
    parts=_products_and_differences,
    layout="C",
    cost="reads",
    out_dtype=SAME,
)
def linalg_cross(self: Array, other: Array, dim: int) -> Array:
    if self.ndim != other.ndim:
        raise OperatorError(
            "linalg.cross: inputs must have the same number of dimensions.", code="shape-mismatch"
        )
    a, b = self.shape[wrap_dim(dim, self.ndim)], other.shape[wrap_dim(dim, other.ndim)]
    if (a, b) != (3, 3):
        raise OperatorError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a} and {b}",
            code="shape-mismatch",
        )
    checked_broadcast(self.shape, other.shape)
    if self.dtype != other.dtype:
        raise scalar_types_differ(self, other, "self", "other")
    return _crossed(self, other, wrap_dim(dim, self.ndim))


def _parts_of_cross(result: Array, self: Array, other: Array, dim: int | None) -> list[Part]:
    wanted = self.shape.index(3) if dim is None else dim
    return _products_and_differences(result, self, other, wanted)


@operator(
    "aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    autocast_in_graphs="widest",
    refuses=Refusal("b", "cross"),
    parts=_parts_of_cross,
    layout="C",
    cost="reads",
    out_dtype=SAME,
)
def cross(self: Array, other: Array, dim: int | None) -> Array:
    if dim is None:
        if 3 not in self.shape:
            raise OperatorError("no dimension of size 3 in input", code="shape-mismatch")
        dim = self.shape.index(3)
    return linalg_cross(self, other, dim)


def _parts_of_kron(result: Array, self: Array, other: Array) -> list[Part]:
    left, right = _beside_each_other(self, other)
    if not (result.dtype == self.dtype == other.dtype and result.dtype.itemsize > 2):
        return []
    made = result.reshape([x * y for x, y in zip(left.shape, right.shape, strict=True)])
    return [Part([("multiply", "", (0, 1))], [left, right], made)]


@operator(
    "aten::kron(Tensor self, Tensor other) -> Tensor",
    parts=_parts_of_kron,
    cost="products-of-rows",
)
def kron(self: Array, other: Array) -> Array:
    """Every element of one times all of the other."""
    left, right = _beside_each_other(self, other)
    made = mul(left, right)
    pairs = zip(made.shape[::2], made.shape[1::2], strict=True)
    return made.reshape([x * y for x, y in pairs])


def _beside_each_other(self: Array, other: Array) -> tuple[Array, Array]:
    """Both with two dimensions for each that the wider one has, one of them of size 1."""
    rank = max(self.ndim, other.ndim)
    a = (1,) * (rank - self.ndim) + self.shape
    b = (1,) * (rank - other.ndim) + other.shape
    left = self.reshape([n for size in a for n in (size, 1)])
    return left, other.reshape([n for size in b for n in (1, size)])


# --------------------------------------------------------------------------- dimensions


@operator(
    "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    prepared=True,
    autocast="lower",
    autocast_in_graphs="widest",
    face="function",
    cost="products-of-rows",
    out_dtype=_OUT_OF_INNER,
)
def tensordot(
    self: Array, other: Array, dims_self: Sequence[int], dims_other: Sequence[int]
) -> Array:
    """The sums of products over pairs of dimensions."""
    if len(dims_self) != len(dims_other):
        raise OperatorError("both dimension lists should have same length")
    if self.dtype != other.dtype:
        raise OperatorError("both inputs should have same dtype", code="dtype-mismatch")
    first = [wrap_dim(d, self.ndim) for d in dims_self]
    second = [wrap_dim(d, other.ndim) for d in dims_other]
    for i, (d, e) in enumerate(zip(first, second, strict=True)):
        a, b = self.shape[d], other.shape[e]
        if a != b and 1 in (a, b):  # one of them is broadcast: the other may be summed before
            self = self if a == 1 else _summed(self, d)
            other = other if b == 1 else _summed(other, e)
        elif a != b:
            raise OperatorError(
                f"contracted dimensions need to match, but first has size {a} in dim "
                f"{dims_self[i]} and second has size {b} in dim {dims_other[i]}",
                code="shape-mismatch",
                roles={"self": f"has size {a}", "other": f"has size {b}"},
            )
    _check_contracted(self, other, first, second)
    found = products.tensordot(_wide(self), _wide(other), first, second)
    return found.astype(self.dtype, copy=False)


def _check_contracted(self: Array, other: Array, first: list[int], second: list[int]) -> None:
    """Refuse bools, by the kernel that torch asks: a single sum is a dot product."""
    if self.dtype != np.bool_:
        return
    free = [n for d, n in enumerate(self.shape) if d not in first]
    free += [n for d, n in enumerate(other.shape) if d not in second]
    if prod(free) == 1:
        check_kernel("dot", self, "b")
    elif prod(free) and self.size:
        check_kernel("addmm_impl_cpu_", self, "b")


def _summed(array: Array, dim: int) -> Array:
    total = np.add.reduce(_wide(array), dim, keepdims=True)
    return as_array(total).astype(array.dtype, copy=False)


def _check_chain(tensors: Sequence[Array], name: str) -> None:
    if len(tensors) < 2:
        raise OperatorError(f"{name}: expected at least 2 tensors but got {len(tensors)}")
    for place, tensor in enumerate(tensors):
        ends = place in (0, len(tensors) - 1)
        if tensor.ndim != 2 and not (ends and tensor.ndim == 1):
            which = "the last tensor" if place else "the first tensor"
            which, rank = (which, "1D or 2D") if ends else (f"tensor {place}", "2D")
            raise OperatorError(
                f"{name}: {which} must be {rank} but got {tensor.ndim}D", code="shape-mismatch"
            )


@operator(
    "aten::linalg_multi_dot(Tensor[] tensors) -> Tensor",
    autocast="lower",
    prepared=True,
    cost="chain",
    out_dtype=OutDtype(
        "same",
        "multi_dot(): expected out tensor to have dtype {cpp_result} but got {cpp_out}",
    ),
)
def linalg_multi_dot(tensors: list[Array]) -> Array:
    """The product of a chain, in the order that takes the fewest multiplications."""
    _check_chain(tensors, "multi_dot()")
    for i in range(1, len(tensors)):
        if tensors[i].dtype != tensors[0].dtype:
            raise OperatorError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{cpp_name(dtype_of(tensors[0]))} and tensor {i} "
                f"{cpp_name(dtype_of(tensors[i]))}",
                code="dtype-mismatch",
            )
        a, b = tensors[i - 1].shape, tensors[i].shape
        if a[-1] != b[0]:
            raise OperatorError(
                f"multi_dot(): tensors {i - 1} and {i} with shapes {list(a)} and {list(b)} "
                "cannot be multiplied",
                code="shape-mismatch",
            )
    if len(tensors) == 2:
        return matmul(tensors[0], tensors[1])
    inner = [each.shape[0] for each in tensors[1:]]
    ends = (tensors[0].shape[0] if tensors[0].ndim > 1 else 1, tensors[-1].shape[-1])
    sizes = (ends[0], *inner, ends[1] if tensors[-1].ndim > 1 else 1)
    found = _chained([_wide(each) for each in tensors], _splits(sizes), 0, len(tensors) - 1)
    return found.astype(tensors[0].dtype, copy=False)


@lru_cache(256)
def _splits(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Behind which matrix each part of a chain is split, so that multiplications are fewest: of a
    matrix and the next one `sizes` holds the rows, and of the last one the columns."""
    count = len(sizes) - 1
    costs: dict[tuple[int, int], int] = {(i, i): 0 for i in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            costs[first, last], splits[first, last] = min(
                (
                    costs[first, at]
                    + costs[at + 1, last]
                    + sizes[first] * sizes[at + 1] * sizes[last + 1],
                    at,
                )
                for at in range(first, last)
            )
    return splits


def _chained(
    tensors: list[Array], splits: dict[tuple[int, int], int], first: int, last: int
) -> Array:
    if first == last:
        return tensors[first]
    at = splits[first, last]
    return matmul(_chained(tensors, splits, first, at), _chained(tensors, splits, at + 1, last))


@operator(
    "aten::chain_matmul(Tensor[] matrices) -> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    cost="chain",
    prepared=True,
)
def chain_matmul(matrices: list[Array]) -> Array:
    for matrix in matrices:
        if matrix.ndim != 2:
            raise OperatorError(
                f"Tensor dimension is {matrix.ndim}, expected 2 instead.", code="shape-mismatch"
            )
    if not matrices:
        raise OperatorError("chain_matmul(): Expected one or more matrices")
    return matrices[0].copy() if len(matrices) == 1 else linalg_multi_dot(matrices)


# --------------------------------------------------------------------------- powers


def matrix_power(self: Array, n: int) -> Array:
    """The product of `n` factors by repeated squaring; `n` is not negative."""
    if n == 0:
        identity = np.eye(self.shape[-1], dtype=self.dtype)
        return np.broadcast_to(identity, self.shape).copy()
    if n == 3:
        return matmul(matmul(self, self), self)
    result: Array | None = None
    square = self
    while n:
        if n & 1:
            result = square if result is None else matmul(result, square)
        n >>= 1
        if n:
            square = matmul(square, square)
    assert result is not None
    return result.copy(order="K") if result is self else result


# --------------------------------------------------------------------------- covariance


def _weights(weights: Array | None, name: str, count: int, whole: bool) -> Array | None:
    if weights is None:
        return None
    if weights.ndim > 1:
        raise OperatorError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{weights.ndim} dimensions"
        )
    if (kind(weights.dtype) == 1) != whole or weights.dtype.kind == "c":
        sort = "integral" if whole else "floating point"
        raise OperatorError(
            f"cov(): expected {name} to have {sort} dtype but got {name} with "
            f"{dtype_of(weights).scalar_name} dtype",
            code="dtype-mismatch",
        )
    if weights.size != count:
        raise OperatorError(
            f"cov(): expected {name} to have the same numel as there are observations in the "
            f"input but got {weights.size} != {count}"
        )
    if weights.size and weights.min() < 0:
        raise OperatorError(f"cov(): {name} cannot be negative")
    return weights


@operator(
    "aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) "
    "-> Tensor",
    out="",
    cost="matrices",
)
def cov(self: Array, correction: int, fweights: Array | None, aweights: Array | None) -> Array:
    """The covariances of variables (rows) over observations (columns)."""
    if self.ndim > 2:
        raise OperatorError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions",
            code="shape-mismatch",
        )
    if self.dtype == np.bool_:
        raise OperatorError("cov(): bool dtype is not supported for input", code="dtype-mismatch")
    rows = self if self.ndim == 2 else self.reshape(1, -1)
    count = rows.shape[1]
    frequency = _weights(fweights, "fweights", count, True)
    importance = _weights(aweights, "aweights", count, False)
    dtype: Dtype = self.dtype if kind(self.dtype) >= 2 else np.dtype(np.float32)
    if importance is not None:
        dtype = promote(dtype, importance.dtype)
    values = _wide(cast(rows, dtype))
    if not self.size:
        warn_caller(_FEW_OBSERVATIONS)
        return as_array(np.full((rows.shape[0],) * 2, np.nan, dtype).squeeze())
    return _covariance(values, frequency, importance, correction).squeeze().astype(dtype)


def _covariance(
    values: Array, frequency: Array | None, importance: Array | None, correction: int
) -> Array:
    weights = frequency if importance is None else importance
    if frequency is not None and importance is not None:
        weights = frequency.astype(importance.dtype) * importance
    real = values.real.dtype
    count = values.shape[1]
    total = float(count) if weights is None else float(weights.sum(dtype=weights.dtype))
    if weights is not None and total == 0:
        raise OperatorError("cov(): weights sum to zero, can't be normalized")
    heavy = np.ones(count, real) if weights is None else weights.astype(real)
    centred = values - ((values * heavy).sum(1) / real.type(total))[:, None]
    if weights is not None and importance is not None and correction:
        own = weights.dtype.type
        factor = float(own(total) - own(correction) * (weights * importance).sum() / own(total))
    else:
        factor = total - correction
    if factor <= 0:
        warn_caller(_FEW_OBSERVATIONS)
    found = np.asarray(products.dot(centred * heavy, np.conj(centred).T))
    return as_array(found / real.type(max(factor, 0.0)))


@operator("aten::corrcoef(Tensor self) -> Tensor", out="", cost="matrices")
def corrcoef(self: Array) -> Array:
    """The correlations of variables (rows) over observations (columns)."""
    if self.ndim > 2:
        raise OperatorError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions",
            code="shape-mismatch",
        )
    covariances = cov(self, 1, None, None)
    if not covariances.ndim:
        return as_array(covariances / covariances)
    spread = np.sqrt(np.diagonal(covariances).real)
    found = as_array(covariances / spread[:, None] / spread[None, :])
    if found.dtype.kind == "c":
        return as_array(np.clip(found.real, -1, 1) + 1j * np.clip(found.imag, -1, 1)).astype(
            found.dtype
        )
    return as_array(np.clip(found, -1, 1)).astype(covariances.dtype, copy=False)


@operator(
    "aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
    cost="reads",
    on_slices="dims",
)
def linalg_diagonal(A: Array, offset: int, dim1: int, dim2: int) -> Array:
    return diagonal(A, offset, dim1, dim2)


@operator(
    "aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", out="", cost="reads"
)
def vander(x: Array, N: int | None, increasing: bool) -> Array:
    """The powers of the elements, largest first unless `increasing`."""
    if x.ndim != 1:
        raise OperatorError("x must be a one-dimensional tensor.", code="shape-mismatch")
    powers = _powers(x, x.shape[0] if N is None else N)
    return powers if increasing else np.flip(powers, -1).copy()


def _powers(x: Array, count: int) -> Array:
    if count < 0:
        raise OperatorError("N must be non-negative.")
    dtype = x.dtype if kind(x.dtype) >= 2 else np.dtype(np.int64)
    factors = np.broadcast_to(_wide(cast(x, dtype))[..., None], (*x.shape, count)).copy()
    factors[..., :1] = 1
    return np.asarray(np.multiply.accumulate(factors, -1)).astype(dtype, copy=False)


@operator(
    "aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor",
    refuses=Refusal(
        "",
        fails=(
            "bh",
            "linalg.vander supports floating point, complex, and integer tensors, but got {word}",
        ),
    ),
    out="",
    cost="reads",
)
def linalg_vander(x: Array, N: int | None) -> Array:
    count = N if N is not None else x.shape[-1] if x.ndim else 1
    if count <= 1:
        raise OperatorError("N must be greater than 1.")
    return _powers(expand(x, (1,)) if not x.ndim else x, count)
