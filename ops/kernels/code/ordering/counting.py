"""Whole numbers: the least and the largest of them, and how often each occurs."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run, unforeseen
from ..elementwise.arrays import LETTERS
from ..functions.formulas import KINDS
from ..language.lanes import folded
from ..language.target import Target
from ..language.text import DOUBLE, INT64, LANES, POINTER, Code, Value
from ..loading.objects import kernel

__all__ = ["TALLIED", "clear", "count", "has_zero", "span", "tally"]

TALLIED: Final = 1 << 10
"""Bins of a tally."""
_PART: Final = 1 << 14
_WHOLE: Final = INT64.of_lanes(LANES)


def span(x: Array) -> tuple[int, int]:
    """The least and the largest of the int64 numbers of a contiguous array that is not empty."""
    x = x[...]  # which no other thread can change
    unforeseen()
    parts = -(-x.size // _PART)
    ends = np.empty((2, parts), np.int64)
    run(_kernel("span"), parts, 4, x.size, parts, x, ends)
    if parts == 1:
        return int(ends[0, 0]), int(ends[1, 0])
    return int(ends[0].min()), int(ends[1].max())


def count(x: Array, size: int, weights: Array | None = None) -> Array | None:
    """How often each number below `size` occurs in a contiguous int64 array, as int64; or the sums
    of float64 weights, of which there are as many.  None if there is another number.

    Raises:
        ValueError: there are fewer weights.
    """
    unforeseen()
    x, outside = x[...], new_flag()
    more = [] if weights is None else [weights]
    if weights is not None and weights.size != x.size:
        raise ValueError("weights and numbers differ in length")
    counts = np.zeros(size, np.float64 if more else np.int64)
    counting = _kernel("weigh" if more else "count")
    run(counting, 1, 2, x.size, size, x, counts, outside, *more)
    return None if outside[0] else counts


def tally(x: Array) -> tuple[object, object] | None:
    """How often each number below `TALLIED` occurs in a contiguous int64 array, and the largest of
    them, both int64; None if there is another number."""
    x = x[...]
    counts, most, outside = np.empty(TALLIED, np.int64), np.empty((), np.int64), new_flag()
    run(_kernel("tally"), 1, 2, x.size, TALLIED, x, counts, outside, most)
    return None if outside[0] else (counts, most)


def has_zero(x: Array) -> bool | None:
    """Whether one of the whole numbers of a contiguous array is 0; None for unusual dtypes."""
    x = x[...]
    letter = LETTERS[x.dtype]
    if letter not in _WHOLE_LETTERS:
        return None
    found = new_flag()
    run(_zeros(letter), x.size, _PART, x, found)
    return bool(found[0])


_WHOLE_LETTERS: Final = frozenset("bhilB")


@cache
def _zeros(letter: str) -> int:
    return kernel("zeros", (letter,), lambda target: zeros_text(target, letter))


def zeros_text(target: Target, letter: str) -> str:
    """The module of a kernel that notes whether there is a zero; its range is one of elements."""
    code, one = Code(target), KINDS[letter]
    x, found = code.argument(POINTER, "x"), code.argument(POINTER, "found")

    def visit(places: list[Value], mask: Value | None) -> None:
        for at in places:
            seen = code.load_if(one.of_lanes(LANES), code.at(x, at, one), mask)
            is_zero = seen.equals(0) if mask is None else seen.equals(0) & mask
            with code.when(code.any_of(is_zero), rarely=True):
                code.store(code.constant(INT64, 1), found)

    code.vectors(code.argument(INT64, "start"), code.argument(INT64, "stop"), 1, visit)
    return code.kernel("zeros", [(POINTER, "x"), (POINTER, "found")])


@cache
def _kernel(form: str) -> int:
    return kernel("counting", (form,), lambda target: counting_text(target, form))


def counting_text(target: Target, form: str) -> str:
    """The module of a kernel: the "span" of parts of an array, or to "count", "tally" or "weigh" it
    all."""
    code = Code(target)
    names = ["x", "ends"] if form == "span" else ["x", "counts", "outside"]
    names += {"weigh": ["weights"], "tally": ["most"]}.get(form, [])
    if form == "span":
        _span(code)
    else:
        _count(code, form)
    words = [(INT64, "count"), (INT64, "size"), *((POINTER, name) for name in names)]
    return code.kernel("counting", words)


def _span(code: Code) -> None:
    total, parts = code.argument(INT64, "count"), code.argument(INT64, "size")
    x, ends = code.argument(POINTER, "x"), code.argument(POINTER, "ends")
    with code.units() as part:
        first = part * _PART
        start = code.load(INT64, code.at(x, first, INT64))
        low, high = code.variable(code.spread(start)), code.variable(code.spread(start))

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                seen = code.load_if(_WHOLE, code.at(x, at, INT64), mask)
                if mask is not None:
                    seen = code.choose(mask, seen, low.now)
                low.set(code.lesser(seen, low.now))
                high.set(code.choose(seen > high.now, seen, high.now))

        code.vectors(first, code.lesser(first + _PART, total), 2, visit)
        least = folded([low], code.lesser)
        most = folded([high], lambda a, b: code.choose(a > b, a, b))
        code.store(least, code.at(ends, part, INT64))
        code.store(most, code.at(ends, parts + part, INT64))


def _count(code: Code, form: str) -> None:
    total, size = code.argument(INT64, "count"), code.argument(INT64, "size")
    is_weighed, most = form == "weigh", code.variable(code.constant(INT64, 0))
    kind = DOUBLE if is_weighed else INT64
    if form == "tally":
        clear(code, code.argument(POINTER, "counts"), size, 2)
    with code.counted(code.constant(INT64, 0), total) as at:
        place = code.load(INT64, code.at(code.argument(POINTER, "x"), at, INT64))
        is_there = place.below(size)
        with code.when(is_there):
            goal = code.at(code.argument(POINTER, "counts"), place, kind)
            more: Value | int = 1
            if is_weighed:
                more = code.load(DOUBLE, code.at(code.argument(POINTER, "weights"), at, DOUBLE))
            code.store(code.load(kind, goal) + more, goal)
            if form == "tally":
                most.set(code.choose(place > most.now, place, most.now))
        with code.when(is_there.equals(0), rarely=True):
            code.store(code.constant(INT64, 1), code.argument(POINTER, "outside"))
    if form == "tally":
        code.store(most.now, code.argument(POINTER, "most"))


def clear(code: Code, start: Value, count: Value, beside: int) -> None:
    """Write zeros to so many int64 from an address on, several vectors side by side."""
    zeros = code.constant(_WHOLE, 0)

    def visit(places: list[Value], mask: Value | None) -> None:
        for at in places:
            code.store_if(zeros, code.at(start, at, INT64), mask)

    code.vectors(code.constant(INT64, 0), count, beside, visit)
