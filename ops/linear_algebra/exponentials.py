"""Exponentials of matrices."""

from __future__ import annotations

from functools import lru_cache
from math import factorial
from typing import Final, NamedTuple

import numpy as np

from ..memory.dtype import Array, Dtype
from ..table.table import operator
from .linalg import matmul
from .matrix_checks import check_floating, check_square, real_dtype


class _Series(NamedTuple):
    """Taylor's series up to a degree, in blocks of so many powers, and the norm of matrices up to
    which what it leaves out is below their precision."""

    degree: int
    block: int
    largest: float


_OF_FLOAT32: Final = (_Series(9, 3, 0.86), _Series(16, 4, 2.6))
"""The longer one needs fewer squarings, each of which may double the error."""
_OF_FLOAT64: Final = (_Series(16, 4, 0.83),)


@operator(
    "aten::linalg_matrix_exp(Tensor self) -> Tensor",
    cost="matrices",
    on_slices="matrices",
)
@operator(
    "aten::matrix_exp(Tensor self) -> Tensor",
    first_name="linalg_matrix_exp",
    out="",
    cost="matrices",
)
def matrix_exp(self: Array) -> Array:
    """Higham, Functions of Matrices (2008), section 10.3: the series of A / 2^s, squared s times.

    The polynomial is Paterson's and Stockmeyer's (1973), with as many products as two roots of its
    degree.
    """
    check_square(self, "linalg.matrix_exp")
    check_floating(self, "matrix_exp")
    if not self.size:
        return self.copy()
    x = self.astype(np.float64) if self.dtype.char not in "fdFD" else self[...]
    sizes = np.abs(x).sum(-2).max(-1)
    sizes = np.where(np.isfinite(sizes), sizes, 0.0)
    most, choices = sizes.max(), _OF_FLOAT32 if x.dtype.char in "fF" else _OF_FLOAT64
    series = next((each for each in choices if most <= each.largest), choices[-1])
    steps = np.ceil(np.log2(np.maximum(sizes / series.largest, 1.0))).astype(np.int64)
    count = int(steps.max())
    if count:
        x = x * np.ldexp(1.0, -steps).astype(real_dtype(x.dtype))[..., None, None]
    total = _polynomial(x, series)
    for step in range(count):
        square = matmul(total, total)
        chosen = steps > step
        total = square if chosen.all() else np.where(chosen[..., None, None], square, total)
    return total.astype(self.dtype, copy=False)


@lru_cache(8)
def _coefficients(series: _Series, dtype: Dtype) -> Array:
    """What the powers of a block are multiplied with [blocks, powers], the next block's first one
    for the last block alone."""
    degree, block, _ = series
    made = np.zeros((degree // block, block + 1))
    for power in range(degree):
        made[divmod(power, block)] = 1 / factorial(power)
    made[-1, -1] = 1 / factorial(degree)
    return made.astype(dtype)


def _polynomial(x: Array, series: _Series) -> Array:
    blocks = series.degree // series.block
    powers = np.empty((series.block + 1, *x.shape), x.dtype)
    powers[0] = np.eye(x.shape[-1], dtype=x.dtype)
    powers[1] = x
    for power in range(2, series.block + 1):
        powers[power] = matmul(powers[power // 2], powers[power - power // 2])
    flat = powers.reshape(series.block + 1, -1)
    parts = matmul(_coefficients(series, x.dtype), flat).reshape(blocks, *x.shape)
    total: Array = parts[-1]
    for part in parts[-2::-1]:
        total = matmul(powers[-1], total)
        total += part
    return total
