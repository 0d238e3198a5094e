"""Whole numbers, orders and chances out of the draws of a generator."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import cast_by_kernel, family, is_half, move
from ..memory.dtype import Array, Dtype
from ..memory.errors import OperatorError
from .random import Generator, default_generator, from_libm

__all__ = [
    *("chances", "chances_each", "check_range", "exponential", "fill_by_chance"),
    *("permutation", "unbounded", "whole_numbers"),
]

F: Final = np.float32
D: Final = np.float64


def whole_numbers(g: Generator | None, count: int, low: int, high: int) -> Array:
    """`count` whole numbers in [low, high), as int64.

    Raises:
        OperatorError: the range is empty.
    """
    check_range(low, high)
    generator = g or default_generator
    span = high - low
    native = family("drawing.draws") if count and span < 1 << 28 else None
    if native is not None:
        made: Array = native.whole_numbers(generator.words(count), low, span)
        return made
    draws = generator.words(count) if span < 1 << 28 else generator.long_words(count)
    if span < 1 << 63:
        return (draws % np.uint64(span)).astype(np.int64) + low
    return ((draws % np.uint64(span)) + np.uint64(low % (1 << 64))).astype(np.int64)


def check_range(low: int, high: int) -> None:
    """Refuse a range in which there is no whole number."""
    if low >= high:
        raise OperatorError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}",
            headline=f"there is no whole number from {low} to below {high}",
        )


def permutation(g: Generator | None, count: int) -> Array:
    """The numbers below `count` in random order."""
    steps = max(count - 1, 0)
    draws = (g or default_generator).words(steps)
    native = family("drawing.draws") if steps else None
    if native is not None:
        made: Array = native.in_random_order(draws, count)
        return made
    order = np.arange(count)
    jumps = (draws % np.arange(count, count - steps, -1).astype(np.uint64)).tolist()
    shuffled = order.tolist()
    for i, jump in enumerate(jumps):  # every swap depends on those before
        j = i + jump
        shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
    return np.array(shuffled, np.int64)


def unbounded(g: Generator | None, count: int, dtype: Dtype) -> Array:
    """Numbers over the whole range of a dtype: all of an int, all whole ones a float can hold."""
    generator = g or default_generator
    if dtype == np.int64:
        return (generator.long_words(count) % np.uint64(1 << 63)).astype(np.int64)
    if dtype == D:
        return (generator.long_words(count) % np.uint64((1 << 53) + 1)).astype(D)
    if dtype == F:
        return (generator.words(count) % np.uint64((1 << 24) + 1)).astype(F)
    if dtype == np.bool_:
        return (generator.words(count) & np.uint64(1)).astype(bool)
    if dtype.kind in "iu":
        return (generator.words(count) % np.uint64(np.iinfo(dtype).max + 1)).astype(dtype)
    limit = (1 << 11 if dtype == np.float16 else 1 << 8) + 1
    return (generator.words(count) % np.uint64(limit)).astype(F).astype(dtype)


# --------------------------------------------------------------------------- chances


def fill_by_chance(array: Array, g: Generator | None, p: float) -> bool:
    """Whether native code filled contiguous floats of 32 or 16 bits with 1 with probability `p`,
    else 0."""
    is_whole = array.flags.c_contiguous and array.flags.writeable
    is_whole = is_whole and (array.dtype == F or is_half(array.dtype))
    native = family("drawing.draws") if is_whole and array.size else None
    if native is None:
        return False
    _check_chance(p)
    made = array if array.itemsize == 4 else np.empty(array.shape, F)
    native.chances((g or default_generator).words(2 * array.size), p, made)
    if made is not array:
        move(cast_by_kernel(made, array.dtype), array)
    return True


def chances(g: Generator | None, count: int, p: float) -> Array:
    """`count` bools, true with probability `p`."""
    _check_chance(p)
    return np.less((g or default_generator).doubles(count), p)


def _check_chance(p: float) -> None:
    if not 0 <= p <= 1:
        raise OperatorError(
            f"bernoulli_ expects p to be in [0, 1], but got p={p:g}",
            headline=f"`p` is a probability, {p:g} is not",
        )


def chances_each(g: Generator | None, p: Array) -> Array:
    """Bools, each true with its own probability."""
    generator = g or default_generator
    if p.dtype == D:
        return np.asarray(np.less(generator.doubles(p.size).reshape(p.shape), p))
    return np.asarray(np.less(generator.floats(p.size).reshape(p.shape), p.astype(F)))


def exponential(g: Generator | None, count: int, rate: float) -> Array:
    """`count` exponential numbers, in double."""
    native = family("drawing.draws") if count else None
    if native is not None and native.is_possible():
        made: Array = native.exponentials((g or default_generator).words(2 * count), rate)
        return made
    return -1.0 / rate * from_libm("log1p", -(g or default_generator).doubles(count))
