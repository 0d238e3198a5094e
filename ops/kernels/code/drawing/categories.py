"""Categories that are drawn by weights: whether these can be drawn by, and, with replacement, where
numbers in [0, 1) fall among running shares."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run, unforeseen
from ..language.lanes import folded
from ..language.outcomes import opposite
from ..language.target import Target
from ..language.text import DOUBLE, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from ..rows.along import ELEMENTS
from .draws import unit_at

__all__ = ["are_fit", "drawn"]

_LEAST = 1 << 12
"""Weights and draws that are worth another thread."""


def are_fit(weights: Array) -> bool:
    """Whether no weight is negative, infinite or NaN, and some of each row are not 0.

    Args:
        weights: float32 or float64 of one or two dimensions, contiguous, not without elements.
    """
    unforeseen()
    weights, strange = weights[...], new_flag()
    size = weights.shape[-1]
    address = _looking(ELEMENTS[weights.dtype.str[1:]])
    run(address, weights.size // size, _LEAST // size + 1, size, weights, strange)
    return not strange[0]


@cache
def _looking(element: str) -> int:
    return kernel("weights_looked_at", (element,), lambda target: _looking_text(target, element))


def _looking_text(target: Target, element: str) -> str:
    """The range is one of rows."""
    code, kind = Code(target), Kind(element).of_lanes(LANES)
    words = [(INT64, "size"), (POINTER, "weights"), (POINTER, "strange")]
    size, weights, strange = (code.argument(*each) for each in words)
    none = code.constant(kind, 0.0)
    with code.units() as row:
        worst, best = code.variable(none), code.variable(none)

        def look(places: list[Value], mask: Value | None) -> None:
            for at in places:
                x = code.load_if(kind, code.at(weights, at, Kind(element)), mask)
                is_fit = (x >= 0.0) & (x < math.inf)
                worst.set(code.choose(is_fit, worst.now, 1.0))
                best.set(code.choose(x > 0.0, 1.0, best.now))

        code.vectors(row * size, row * size + size, 1, look)
        is_any, is_one = (
            folded([each], lambda one, other: one + other) > 0.0 for each in (worst, best)
        )
        with code.when(is_any | opposite(is_one)):
            code.store(code.constant(INT64, 1), strange)
    return code.kernel("weights_looked_at", words)


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
