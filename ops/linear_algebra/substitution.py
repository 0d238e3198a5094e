"""Systems of equations with triangular matrices."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ..kernels import blas, family, in_order
from ..kernels.lapack import is_left_out
from ..memory.dtype import Array
from .decompositions import solved_triangles
from .small_systems import FEW, over_batch, shared_batch, small_triangles

__all__ = ["solve_triangular"]

_KERNELS: Final = (np.dtype(np.float32), np.dtype(np.float64))


def solve_triangular(a: Array, b: Array, upper: bool, unit: bool = False) -> Array:
    """X of A X = B for triangular matrices; batches broadcast.

    Rows are solved in blocks; what the known ones take from the others is a product of matrices.
    """
    if a.dtype in _KERNELS and a.size and b.size:
        is_lapack = _is_for_lapack(a, b)
        is_alone = is_lapack and prod(b.shape[:-2]) < FEW
        quick = None if is_alone else small_triangles(a, b, upper, unit)
        if quick is None and is_lapack:
            quick = solved_triangles(a, b, upper, unit)
        if quick is None:
            quick = _of_one_block(a, b, upper, unit)
        if quick is not None:
            return quick
    size = a.shape[-1]
    batch = shared_batch(a, b)
    x = np.empty((*batch, *b.shape[-2:]), np.result_type(a, b))
    x[...] = b
    starts = range(0, size, _BLOCK)
    for start in reversed(starts) if upper else starts:
        own = slice(start, min(start + _BLOCK, size))
        known = slice(own.stop, None) if upper else slice(None, start)
        if size > _BLOCK:
            x[..., own, :] -= blas.matmul(a[..., own, known], x[..., known, :])
        x[..., own, :] = _block_solved(a[..., own, own], x[..., own, :], upper, unit)
    return x


def _is_for_lapack(a: Array, b: Array) -> bool:
    """Whether LAPACK is quicker than what takes the rows of one block."""
    return a.shape[-1] >= _LONG or (a.shape[-1] > _TINY and b.shape[-1] < _WIDE)


_LONG: Final = 64
"""Rows from which LAPACK is quicker for any number of columns."""
_WIDE: Final = 16
"""Columns that fill the vectors of our own kernel."""
_TINY: Final = 8
"""Rows up to which it never is."""
_BLOCK: Final = 64
"""Rows that are solved one by one."""


def _of_one_block(a: Array, b: Array, upper: bool, unit: bool) -> Array | None:
    """The same of systems of one dtype and batch whose rows are one block, by kernels alone, so
    that calls are learned; None of others.  Without LAPACK's library rows are never too many."""
    fits = a.dtype == b.dtype and a.shape[:-2] == b.shape[:-2] and b.shape[-2] == a.shape[-1]
    if not fits or a.shape[-2] != a.shape[-1] or not (a.shape[-1] <= _BLOCK or is_left_out()):
        return None
    triangles, copies = family("decompositions.triangles"), family("elementwise.copies")
    made: Array | None = None
    if triangles is not None and copies is not None:
        made = copies.copied(in_order(b[...]))
    if made is None:
        return None
    flat = made.reshape(-1, *b.shape[-2:])
    triangles.solve(in_order(a[...]).reshape(-1, *a.shape[-2:]), flat, upper, unit)
    return in_order(flat.reshape(b.shape).swapaxes(-1, -2)).swapaxes(-1, -2)  # by columns


def _block_solved(a: Array, x: Array, upper: bool, unit: bool) -> Array:
    triangles = family("decompositions.triangles") if x.size and x.dtype.kind == "f" else None
    if triangles is not None:
        made = np.ascontiguousarray(x).reshape(-1, *x.shape[-2:])
        matrices = over_batch(a, x.shape[:-2]).astype(x.dtype, "C", copy=False)
        triangles.solve(matrices.reshape(-1, *a.shape[-2:]), made, upper, unit)
        return made.reshape(x.shape)
    size = a.shape[-1]
    for i in reversed(range(size)) if upper else range(size):
        known = slice(i + 1, None) if upper else slice(None, i)
        x[..., i, :] -= (blas.matmul(a[..., i, None, known], x[..., known, :]))[..., 0, :]
        if not unit:
            x[..., i, :] /= a[..., i, i, None]
    return x
