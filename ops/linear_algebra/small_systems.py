"""Many small matrices at once, by kernels; None where these do not do it."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..kernels import family, in_order
from ..memory.dtype import Array, Dtype

__all__ = ["identity", "small_cholesky", "small_determinants", "solved_small"]


@lru_cache(64)
def identity(size: int, dtype: Dtype) -> Array:
    """The matrix that changes nothing, which nobody writes to."""
    found = np.eye(size, dtype=dtype)
    found.setflags(write=False)
    return found


def _kernels(a: Array) -> Any:
    """The kernels, if matrices are theirs: square, small, real, and there are some."""
    if a.dtype not in (np.dtype(np.float32), np.dtype(np.float64)) or not a.size:
        return None
    native = family("small_systems")
    is_small = native is not None and a.ndim > 1 and a.shape[-2] == a.shape[-1] <= native.MOST
    return native if is_small else None


def _flat(a: Array) -> Array:
    """The matrices of a batch in one piece, one after the other."""
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
    found = native.solved(_flat(a), _flat(b))
    return None if found is None else found.reshape(*a.shape[:-2], *b.shape[-2:])


def small_determinants(a: Array) -> Array | None:
    """The determinants of square matrices that are not singular."""
    a = a[...]  # which no other thread can change
    native = _kernels(a)
    found = None if native is None else native.determinants(_flat(a))
    return None if found is None else found.reshape(a.shape[:-2])


def small_cholesky(a: Array) -> Array | None:
    """The lower factors of matrices that are positive definite, whose lower halves count."""
    a = a[...]  # which no other thread can change
    native = _kernels(a)
    found = None if native is None else native.cholesky(_flat(a))
    return None if found is None else found.reshape(a.shape)
