"""Many small matrices at once, by kernels; None where these do not do it."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from types import ModuleType
from typing import Final

import numpy as np

from ..kernels import family, in_order
from ..kernels.lapack import can
from ..memory.dtype import Array, Dtype

__all__ = [
    *(
        "FEW",
        "MOST",
        "identity",
        "over_batch",
        "shared_batch",
        "small_cholesky",
        "small_determinants",
    ),
    *("flat", "small_factors", "small_log_determinants", "small_triangles", "solved_small"),
]


MOST: Final = 16
"""Rows of a small matrix, at most, but for triangles."""


FEW: Final = 4
"""So many matrices are worth vectors of 16, however many rows they have."""


@lru_cache(64)
def identity(size: int, dtype: Dtype) -> Array:
    """The matrix that changes nothing, which nobody writes to."""
    found = np.eye(size, dtype=dtype)
    found.setflags(write=False)
    return found


def _kernels(a: Array) -> ModuleType | None:
    """The kernels, if matrices are theirs: square, small, real, and there are some."""
    if a.dtype not in (np.dtype(np.float32), np.dtype(np.float64)) or not a.size:
        return None
    native = family("decompositions.small_systems")
    is_small = native is not None and a.ndim > 1 and a.shape[-2] == a.shape[-1] <= native.MOST
    return native if is_small else None


def _is_alone(a: Array) -> bool:
    """Whether matrices are so few, and so large, that LAPACK is quicker where it is there."""
    return a.shape[-1] > MOST // 2 and prod(a.shape[:-2]) < FEW and can(a)


def flat(a: Array) -> Array:
    """The matrices of a batch, one after the other."""
    if a.ndim < 4:
        return a if a.ndim == 3 else a[None]
    return in_order(a).reshape(prod(a.shape[:-2]), *a.shape[-2:])


def solved_small(a: Array, b: Array) -> Array | None:
    """X of A X = B of square matrices that are not singular; B may be one matrix for all."""
    a, b = a[...], b[...]  # which no other thread can change
    native = _kernels(a)
    is_one = b.ndim == 2
    if native is None or a.dtype != b.dtype or not (is_one or b.shape[:-2] == a.shape[:-2]):
        return None
    if not 0 < b.shape[-1] <= native.MOST or b.shape[-2] != a.shape[-1]:
        return None
    found = native.solved(flat(a), flat(b))
    return None if found is None else found.reshape(*a.shape[:-2], *b.shape[-2:])


def small_determinants(a: Array) -> Array | None:
    """The determinants of square matrices that are not singular."""
    a = a[...]  # which no other thread can change
    native = _kernels(a)
    found = None if native is None else native.determinants(flat(a))
    return None if found is None else found.reshape(a.shape[:-2])


def small_log_determinants(a: Array) -> tuple[Array, Array] | None:
    """Signs of the determinants of square matrices that are not singular, and their logarithms."""
    a = a[...]  # which no other thread can change
    native = _kernels(a)
    found = None if native is None else native.log_determinants(flat(a))
    if found is None:
        return None
    sign, size = (each.reshape(a.shape[:-2]) for each in found)
    return sign, size


def small_factors(a: Array) -> tuple[Array, Array] | None:
    """L and U in one, and the rows exchanged (from 1), of square matrices that are not singular."""
    a = a[...]  # which no other thread can change
    native = None if _is_alone(a) else _kernels(a)
    found = None if native is None else native.factored(flat(a))
    return None if found is None else (found[0].reshape(a.shape), found[1].reshape(a.shape[:-1]))


def shared_batch(a: Array, b: Array) -> tuple[int, ...]:
    """The shape of the batch that two batches of matrices broadcast to."""
    batch = a.shape[:-2]
    return batch if batch == b.shape[:-2] else np.broadcast_shapes(batch, b.shape[:-2])


def over_batch(a: Array, batch: tuple[int, ...]) -> Array:
    """Matrices as those of a batch that they broadcast to."""
    return a if a.shape[:-2] == batch else np.broadcast_to(a, (*batch, *a.shape[-2:]))


def small_triangles(a: Array, b: Array, upper: bool, unit: bool) -> Array | None:
    """X of A X = B of triangular matrices of float32 or float64; batches broadcast."""
    a, b = a[...], b[...]  # which no other thread can change
    native = family("decompositions.small_systems")
    if native is None or a.dtype != b.dtype or not a.shape[-2] == a.shape[-1] == b.shape[-2]:
        return None
    batch = shared_batch(a, b)
    if not native.holds(prod(batch), *b.shape[-2:]):
        return None
    pair = flat(over_batch(a, batch)), flat(over_batch(b, batch))
    found = native.substituted(*pair, upper, unit)
    return found.reshape(*batch, *b.shape[-2:])  # type: ignore[no-any-return]


def small_cholesky(a: Array) -> Array | None:
    """The lower factors of matrices that are positive definite, whose lower halves count."""
    a = a[...]  # which no other thread can change
    native = None if _is_alone(a) else _kernels(a)
    found = None if native is None else native.cholesky(flat(a))
    return None if found is None else found.reshape(a.shape)
