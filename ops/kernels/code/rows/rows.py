"""Softmax and normalisation over the rows of contiguous matrices of float32 or float64."""

from __future__ import annotations

from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..elementwise.arrays import LETTERS
from .programs import row_kernel

__all__ = [
    *(
        "along",
        "group_norm",
        "layer_norm",
        "log_softmax",
        "logsumexp",
        "moments",
        "rms_norm",
        "softmax",
    ),
    "variance",
]

_PER_THREAD: Final = 1 << 15
"""Elements that are worth another thread: some 10 us of work."""


def along(kernel: int, x: Array, *others: object, number: float = 0.0) -> None:
    """Run a kernel over the rows of x; the other arrays follow."""
    x = x[...]  # which no other thread can change
    least = _PER_THREAD // max(1, x.shape[1]) + 1
    run(kernel, x.shape[0], least, x.shape[1], number, x, *others)


def softmax(x: Array) -> Array:
    """Softmax of every row."""
    out = np.empty_like(x)
    along(row_kernel("softmax", x.dtype.char), x, out)
    return out


def log_softmax(x: Array) -> Array:
    """The logarithm of softmax of every row."""
    out = np.empty_like(x)
    along(row_kernel("log_softmax", x.dtype.char), x, out)
    return out


def logsumexp(x: Array) -> Array:
    """The logarithm of the sum of exponentials of every row."""
    out = np.empty(x.shape[0], x.dtype)
    along(row_kernel("logsumexp", x.dtype.char), x, out)
    return out


def layer_norm(x: Array, weight: Array, bias: Array, eps: float) -> tuple[Array, Array, Array]:
    """Rows normalised (weight and bias are vectors, or empty): result, means, factors, which are
    float32 of 16-bit floats."""
    if weight.size != bias.size or weight.size not in (0, x.shape[1]):
        raise ValueError("weight and bias do not fit the rows")
    letter = LETTERS[x.dtype]
    out, made = np.empty_like(x), np.float64 if letter == "d" else np.float32
    mean, scale = np.empty(x.shape[0], made), np.empty(x.shape[0], made)
    if weight.size:
        vectors = (np.ascontiguousarray(each, made)[...] for each in (weight, bias))
        along(row_kernel("layer_norm", letter), x, out, mean, scale, *vectors, number=eps)
    else:
        along(row_kernel("normalized", letter), x, out, mean, scale, number=eps)
    return out, mean, scale


def group_norm(
    x: Array, weight: Array, bias: Array, eps: float, space: int, groups: int
) -> tuple[Array, Array, Array]:
    """Rows normalised that are some channels of so much `space` each, of which there are so many
    `groups`; weight and bias have a number for each channel: result, means, factors."""
    if weight.size != bias.size or weight.size * space != groups * x.shape[1]:
        raise ValueError("weight and bias do not fit the channels")
    out = np.empty_like(x)
    mean, scale = np.empty(x.shape[0], x.dtype), np.empty(x.shape[0], x.dtype)
    vectors = (np.ascontiguousarray(each, x.dtype)[...] for each in (weight, bias))
    places = out, mean, scale, *vectors
    along(row_kernel("group_norm", x.dtype.char), x, *places, space, groups, number=eps)
    return out, mean, scale


def rms_norm(x: Array, weight: Array, eps: float) -> tuple[object, object]:
    """Rows over the roots of their mean squares, times a vector: result, factors."""
    if weight.size != x.shape[1]:
        raise ValueError("the weight does not fit the rows")
    out, scale = np.empty_like(x), np.empty(x.shape[0], x.dtype)
    along(
        row_kernel("rms_norm", x.dtype.char),
        x,
        out,
        scale,
        np.ascontiguousarray(weight, x.dtype)[...],
        number=eps,
    )
    return out, scale


def moments(x: Array) -> tuple[Array, Array]:
    """Of every row the mean, and the sum of squared distances from it, in float64."""
    mean, squares = np.empty(x.shape[0]), np.empty(x.shape[0])
    along(row_kernel("moments", x.dtype.char), x, mean, squares)
    return mean, squares


def variance(x: Array, freedom: float, *, of_root: bool) -> Array:
    """Of every row the sum of squared distances from its mean over a number, or the root of it."""
    out = np.empty(x.shape[0], x.dtype)
    name = "deviation" if of_root else "variance"
    along(row_kernel(name, x.dtype.char), x, out, number=freedom)
    return out
