"""Kernels over the rows of contiguous float32 matrices: softmax, normalisation, sums.

Sums are taken in blocks: within a block in float32, several at a time, over the blocks in double.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..threads import share
from .bits import bits_of, float_of
from .compile import compiled, inlined, summing
from .maths import exp32

__all__ = [
    "affine",
    "column_sums",
    "layer_norm",
    "log_softmax",
    "logsumexp",
    "row_sums",
    "softmax",
    "squares",
    "total",
]

F = np.float32
BLOCK = 1024
_PER_THREAD = 1 << 17


@summing
def _block_sum(x: Any) -> Any:
    total = F(0)
    for i in range(x.size):
        total += x[i]
    return total


@summing
def _block_squares(x: Any, mean: Any) -> Any:
    total = F(0)
    for i in range(x.size):
        apart = x[i] - mean
        total += apart * apart
    return total


@inlined
def _sum(x: Any) -> Any:
    total = 0.0
    for start in range(0, x.size, BLOCK):
        total += _block_sum(x[start : start + BLOCK])
    return total


@inlined
def _squares(x: Any, mean: float) -> Any:
    """The sum of squared distances from the mean."""
    near = F(mean)
    total = 0.0
    for start in range(0, x.size, BLOCK):
        total += _block_squares(x[start : start + BLOCK], near)
    if not np.isfinite(total):  # a square was too large for float32
        total = 0.0
        for i in range(x.size):
            apart = np.float64(x[i]) - mean
            total += apart * apart
        return total
    # the mean was rounded: take out what that adds
    return max(total - x.size * (mean - near) * (mean - near), 0.0)


_LOW = np.int32(0x7FFFFFFF)


@inlined
def _largest(x: Any) -> Any:
    """The maximum, compared as whole numbers of the same order, which vectorises."""
    best = np.int32(-2147483648)
    for i in range(x.size):
        bits = bits_of(x[i])
        key = np.int32(bits ^ (np.int32(bits >> np.int32(31)) & _LOW))
        best = max(best, key)
    return float_of(np.int32(best ^ (np.int32(best >> np.int32(31)) & _LOW)))


@compiled
def _softmax_rows(start: int, stop: int, x: Any, out: Any) -> None:
    for r in range(start, stop):
        row, made = x[r], out[r]
        top = _largest(row)
        for i in range(row.size):
            made[i] = exp32(row[i] - top)
        scale = F(1.0 / _sum(made))
        for i in range(row.size):
            made[i] *= scale


@compiled
def _log_softmax_rows(start: int, stop: int, x: Any, out: Any) -> None:
    for r in range(start, stop):
        row, made = x[r], out[r]
        top = _largest(row)
        for i in range(row.size):
            made[i] = exp32(row[i] - top)
        shift = F(np.log(_sum(made)))
        for i in range(row.size):
            made[i] = row[i] - top - shift


@compiled
def _logsumexp_rows(start: int, stop: int, x: Any, out: Any) -> None:
    made = np.empty(min(BLOCK, x.shape[1]), F)
    for r in range(start, stop):
        row = x[r]
        top = _largest(row)
        shift = F(0) if np.isinf(top) else top
        total = 0.0
        for begin in range(0, row.size, BLOCK):
            count = min(BLOCK, row.size - begin)
            part = row[begin : begin + count]
            for i in range(part.size):
                made[i] = exp32(part[i] - shift)
            total += _block_sum(made[:count])
        out[r] = F(np.log(total) + shift)


@compiled
def _layer_norm_rows(
    start: int,
    stop: int,
    x: Any,
    weight: Any,
    bias: Any,
    eps: float,
    out: Any,
    mean: Any,
    scale: Any,
) -> None:
    for r in range(start, stop):
        row, made = x[r], out[r]
        middle = _sum(row) / row.size
        factor = F(1.0 / np.sqrt(_squares(row, middle) / row.size + eps))
        near = F(middle)
        mean[r] = near
        scale[r] = factor
        if weight.size:
            for i in range(row.size):
                made[i] = (row[i] - near) * factor * weight[i] + bias[i]
        else:
            for i in range(row.size):
                made[i] = (row[i] - near) * factor


@compiled
def _sum_rows(start: int, stop: int, x: Any, out: Any) -> None:
    for r in range(start, stop):
        out[r] = _sum(x[r])


@compiled
def _square_rows(start: int, stop: int, x: Any, mean: Any, out: Any) -> None:
    for r in range(start, stop):
        out[r] = _squares(x[r], mean[r])


@compiled
def _affine_rows(start: int, stop: int, x: Any, factor: Any, term: Any, out: Any) -> None:
    for r in range(start, stop):
        row, made = x[r], out[r]
        a, b = factor[r % factor.size], term[r % factor.size]
        for i in range(row.size):
            made[i] = row[i] * a + b


_TALL = 32


@compiled
def _sum_columns(start: int, stop: int, x: Any, out: Any) -> None:
    """Sums over the middle dimension of (outer, rows, columns), for a range of columns."""
    part = np.empty(stop - start, F)
    for n in range(x.shape[0]):
        found = out[n, start:stop]
        found[:] = 0.0
        for first in range(0, x.shape[1], _TALL):
            part[:] = F(0)
            for r in range(first, min(first + _TALL, x.shape[1])):
                row = x[n, r, start:stop]
                for i in range(row.size):
                    part[i] += row[i]
            for i in range(part.size):
                found[i] += part[i]


# --------------------------------------------------------------------------- called by operators


def _least(x: Any) -> int:
    return _PER_THREAD // max(1, int(x.shape[1])) + 1


def softmax(x: Any) -> Any:
    """Softmax of every row."""
    out = np.empty_like(x)
    share(_softmax_rows, x.shape[0], _least(x), x, out)
    return out


def log_softmax(x: Any) -> Any:
    """The logarithm of softmax of every row."""
    out = np.empty_like(x)
    share(_log_softmax_rows, x.shape[0], _least(x), x, out)
    return out


def logsumexp(x: Any) -> Any:
    """The logarithm of the sum of exponentials of every row."""
    out = np.empty(x.shape[0], F)
    share(_logsumexp_rows, x.shape[0], _least(x), x, out)
    return out


def layer_norm(x: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """Rows normalised (weight and bias are vectors, or empty): result, means, factors."""
    if weight.size != bias.size or weight.size not in (0, x.shape[1]):
        raise ValueError("weight and bias do not fit the rows")
    out = np.empty_like(x)
    mean, scale = np.empty(x.shape[0], F), np.empty(x.shape[0], F)
    share(_layer_norm_rows, x.shape[0], _least(x), x, weight, bias, eps, out, mean, scale)
    return out, mean, scale


def affine(x: Any, factor: Any, term: Any) -> Any:
    """Each row times a factor plus a term, which repeat over the rows."""
    if not factor.size == term.size > 0:
        raise ValueError("factors and terms do not fit each other")
    out = np.empty_like(x)
    share(_affine_rows, x.shape[0], _least(x), x, factor, term, out)
    return out


def row_sums(x: Any) -> Any:
    """The sum of every row, in double."""
    out = np.empty(x.shape[0], np.float64)
    share(_sum_rows, x.shape[0], _least(x), x, out)
    return out


def column_sums(x: Any) -> Any:
    """Sums over the middle one of three dimensions, in double."""
    out = np.empty((x.shape[0], x.shape[2]), np.float64)
    share(_sum_columns, x.shape[2], max(16, _PER_THREAD // max(1, x.shape[0] * x.shape[1])), x, out)
    return out


_PIECE = 1 << 15


def _pieces(x: Any) -> tuple[Any, Any]:
    """A vector as rows of equal length, and what is left."""
    count = x.size // _PIECE * _PIECE
    return x[:count].reshape(-1, _PIECE), x[count:].reshape(1, -1)


def total(x: Any) -> float:
    """The sum of a vector, in double."""
    rows, rest = _pieces(x)
    return float(row_sums(rows).sum() + row_sums(rest)[0])


def squares(x: Any, mean: float) -> float:
    """The sum of squared distances of a vector's elements from their mean, in double."""
    found = 0.0
    for rows in _pieces(x):
        out = np.empty(rows.shape[0], np.float64)
        share(_square_rows, rows.shape[0], _least(rows), rows, np.full(rows.shape[0], mean), out)
        found += float(out.sum())
    return found
