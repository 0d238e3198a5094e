"""Products of matrices by whichever library is quicker for their sizes.

Small ones are OpenBLAS's, which computes them on one thread.  What is larger are our kernels',
whose results do not depend on the number of threads; where there are none it is OpenBLAS's too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from ..memory.dtype import Array
from . import blas, family

__all__ = ["SMALL", "dot", "matmul", "tensordot"]

SMALL: Final = 1 << 13
"""Multiplications: a product that needs fewer is `a.dot(b)`."""
_KNOWN: Final = (np.dtype(np.float32), np.dtype(np.float64))
_SQUARE: Final = 1 << 18
_TURNED: Final = 1 << 15
"""Multiplications from which our kernels are quicker; with several rows and a turned matrix."""


def dot(a: Array, b: Array, bias: Array | None = None) -> Array:
    """`a.dot(b)` of matrices and vectors, and a row added to each of its rows.

    Raises:
        ValueError: the sizes do not fit.
    """
    rows = len(a) if a.ndim == 2 else 1
    work = rows * b.size
    if work >= _TURNED and a.ndim + b.ndim > 2 and a.dtype == b.dtype and a.dtype in _KNOWN:
        is_turned = rows > 1 and b.strides[0] == b.itemsize
        native = family("matrices") if work > _SQUARE or is_turned else None
        if native is not None:
            made: Array = native.multiply(a, b, bias)
            return made
    if a.ndim == b.ndim == 1 and work >= blas.LONGEST and a.dtype == b.dtype and a.dtype in _KNOWN:
        native = family("matrices")
        if native is not None:
            total: Array = native.multiply_vectors(a, b)
            return total
    alone = work < blas.ALONE and len(b) < blas.LONGEST and a.dtype.kind == "f"
    made = a.dot(b) if alone else blas.dot(a, b)
    return made if bias is None else np.add(made, bias, made)


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
    work = a.size * b.shape[-1] if min(a.ndim, b.ndim) > 1 else 0
    if work >= _TURNED and a.dtype == b.dtype and a.dtype in _KNOWN:
        native = family("matrices")
        if native is not None:
            made: Array = native.multiply_batches(a, b)
            return made
    alone = a.size * b.size < blas.ALONE and a.dtype.kind == "f"
    made = np.matmul(a, b) if alone else blas.matmul(a, b)
    return made
