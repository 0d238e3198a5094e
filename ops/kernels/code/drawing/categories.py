"""Categories that are drawn with replacement: where numbers in [0, 1) fall among running shares."""

from __future__ import annotations

from functools import cache

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run, unforeseen
from ..language.target import Target
from ..language.text import DOUBLE, INT64, POINTER, Code, Kind
from ..loading.objects import kernel
from ..rows.along import ELEMENTS
from .draws import unit_at

__all__ = ["drawn"]

_LEAST = 1 << 12
"""Weights and draws that are worth another thread."""


def drawn(weights: Array, words: Array, count: int) -> Array:
    """So many categories of each row of weights, each by a pair of draws.

    Args:
        weights: float32 or float64 of two dimensions, contiguous, none negative.
        words: contiguous uint64, which no other thread changes.
    """
    unforeseen()
    weights = weights[...]
    rows, size = weights.shape
    out, shares = np.empty((rows, count), np.int64), np.empty_like(weights)
    least = _LEAST // (size + count) + 1
    element = ELEMENTS[weights.dtype.str[1:]]
    run(_kernel(element), rows, least, size, count, weights, words, shares, out)
    return out


@cache
def _kernel(element: str) -> int:
    return kernel("categories_drawn", (element,), lambda target: _text(target, element))


def _text(target: Target, element: str) -> str:
    code, kind = Code(target), Kind(element)
    words = [(INT64, "size"), (INT64, "times")]
    words += [(POINTER, name) for name in ("weights", "draws", "shares", "out")]
    size, times, weights, draws, shares, out = (code.argument(*each) for each in words)
    zero = code.constant(INT64, 0)
    with code.units() as row:
        begin = row * size
        total = code.variable(code.constant(kind, 0.0))
        with code.counted(begin, begin + size) as at:
            total.set(total.now + code.load(kind, code.at(weights, at, kind)))
            code.store(total.now, code.at(shares, at, kind))
        whole, first = total.now, code.at(shares, begin, kind)
        with code.counted(row * times, row * times + times) as at:
            place = unit_at(draws, at)
            low, high = code.variable(zero), code.variable(size - 1)
            with code.repeated(lambda: low.now < high.now):
                middle = (low.now + high.now) >> 1
                share = code.load(kind, code.at(first, middle, kind)) / whole
                wide = share if element == "double" else share.converted("fpext", DOUBLE)
                is_behind = wide < place
                low.set(code.choose(is_behind, middle + 1, low.now))
                high.set(code.choose(is_behind, high.now, middle))
            code.store(low.now, code.at(out, at, INT64))
    return code.kernel("categories_drawn", words)
