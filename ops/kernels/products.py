"""Products of matrices.

Those of float32 and float64 are our kernels', whose results do not depend on the number of threads;
where there are none, and for other dtypes, they are OpenBLAS's, which computes small ones on one
thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from ..memory.dtype import Array
from . import Prepared, blas, cast_by_kernel, family, in_order

__all__ = ["dot", "matmul", "of_halves", "of_wholes", "tensordot", "wide_matmul"]

_KNOWN: Final = (np.dtype(np.float32), np.dtype(np.float64))
_HALF: Final = "bfloat16"
_LEAST: Final = 1 << 15
"""Multiplications from which products of bfloat16 are our kernels'."""
_LEAST_WHOLE: Final = 1 << 10
"""Multiplications of whole numbers from which that is quicker than NumPy's way."""


def _multiplied(a: Array, b: Array, bias: Array | None) -> object:
    return family("products.matrices").multiply(a, b, bias)


def _multiplied_batches(a: Array, b: Array) -> object:
    return family("products.matrices").multiply_batches(a, b)


def _multiplied_vectors(a: Array, b: Array) -> object:
    a, b = in_order(a[...]), in_order(b[...])  # which no other thread can change
    return family("products.matrices").multiply_vectors(a, b)


_products: Final = Prepared(_multiplied)
_vectors: Final = Prepared(_multiplied_vectors)
_batches: Final = Prepared(_multiplied_batches)


def _is_ours(a: Array, b: Array) -> bool:
    """Whether there is something to multiply, and kernels do it."""
    if a.dtype != b.dtype or a.dtype not in _KNOWN or not (a.size and b.size):
        return False
    return family("products.matrices") is not None


def dot(a: Array, b: Array, bias: Array | None = None) -> Array:
    """`a.dot(b)` of matrices and vectors, and a row added to each of its rows.

    Raises:
        ValueError: the sizes do not fit.
    """
    if a.ndim and b.ndim and _is_ours(a, b):
        are_vectors = a.ndim == b.ndim == 1
        made: Array = _vectors.call(a, b) if are_vectors else _products.call(a, b, bias)
        return made
    work = (len(a) if a.ndim == 2 else 1) * b.size
    alone = work < blas.ALONE and len(b) < blas.LONGEST and a.dtype.kind == "f"
    made = a.dot(b) if alone else blas.dot(a, b)
    return made if bias is None else np.add(made, bias, made)


def of_halves(a: Array, b: Array, bias: Array | None = None) -> Array | None:
    """`a @ b + bias` of matrices of bfloat16, or batches of them that have no bias, rounded once.

    None if they are small, of another dtype, or there are no kernels.

    Raises:
        ValueError: the sizes do not fit.
    """
    sums = _sums_of_halves(a, b, bias)
    return None if sums is None else family("products.pairs").rounded(sums, a.dtype)


def wide_matmul(a: Array, b: Array) -> Array:
    """`a @ b` of batches of matrices of 16-bit floats, in float32.

    Raises:
        ValueError: the sizes do not fit.
    """
    sums: Array | None = _sums_of_halves(a, b, None)
    if sums is not None:
        return sums
    return matmul(*(cast_by_kernel(each, np.dtype(np.float32)) for each in (a, b)))


def _sums_of_halves(a: Array, b: Array, bias: Array | None) -> Array | None:
    """`of_halves` in float32."""
    work = a.size * b.shape[-1] if min(a.ndim, b.ndim) > 1 else 0
    if work < _LEAST or not a.dtype.name == b.dtype.name == _HALF:
        return None
    native = family("products.matrices")
    if native is None:
        return None
    made: Array | None = None
    if a.ndim == b.ndim == 2:
        bias = None if bias is None else cast_by_kernel(bias, np.dtype(np.float32))
        made = native.multiply(a, b, bias)
    elif bias is None:
        made = native.multiply_batches(a, b)
    return made


def of_wholes(a: Array, b: Array) -> Array:
    """`a @ b` of vectors, matrices or batches of whole numbers, which wrap around.

    Raises:
        ValueError: the sizes do not fit.
    """
    work = a.size * b.shape[-1] if min(a.ndim, b.ndim) > 1 else 0
    native = family("products.whole_products") if work >= _LEAST_WHOLE else None
    made: Array | None = native and native.multiplied(a, b)
    return np.asarray(blas.matmul(a, b)) if made is None else made


def tensordot(a: Array, b: Array, first: Sequence[int], second: Sequence[int]) -> Array:
    """The sums of products over pairs of dimensions, those of b after those of a in the result.

    Raises:
        ValueError: the sizes do not fit.
    """
    rows = [d for d in range(a.ndim) if d not in first]
    columns = [d for d in range(b.ndim) if d not in second]
    depth = prod(a.shape[d] for d in first)
    shape = [*(a.shape[d] for d in rows), *(b.shape[d] for d in columns)]
    height = prod(shape[: len(rows)])
    left = a.transpose([*rows, *first]).reshape(height, depth)
    right = b.transpose([*second, *columns]).reshape(depth, prod(shape[len(rows) :]))
    return np.asarray(dot(left, right)).reshape(shape)


def matmul(a: Array, b: Array) -> Array:
    """`a @ b` of batches of matrices.

    Raises:
        ValueError: the sizes do not fit.
    """
    if min(a.ndim, b.ndim) > 1 and _is_ours(a, b):
        made: Array = _batches.call(a, b)
        return made
    alone = a.size * b.size < blas.ALONE and a.dtype.kind == "f"
    made = np.matmul(a, b) if alone else blas.matmul(a, b)
    return made
