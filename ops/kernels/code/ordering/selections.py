"""Of each row the element that sorting puts at some place, without putting others in order.

Whole numbers stand for elements in their order: zeros of both signs are one, NaN is the largest.
Bounds that the one asked for lies between are halved, each time by counting what is not above the
middle, until one element or equal ones are left; of these a stable order tells which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Final, Literal

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.lanes import folded
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from .float_bits import with_turned_negatives

__all__ = ["LONGEST", "Wanted", "selected"]

LONGEST: Final = 1 << 21
"""Elements of a row; of more the numbers leave the caches each time."""
_BESIDE: Final = 4
_PER_THREAD: Final = 1 << 12
"""Elements that are worth another thread."""
_KINDS: Final = {"f": Kind("float"), "d": Kind("double"), "i": INT32, "l": INT64}

Wanted = Literal["place", "median", "nanmedian"]


def selected(x: Array, wanted: Wanted, place: int = 0) -> tuple[Array, Array] | None:
    """The elements at a `place` of the order of rows, or the medians, and where they are, with a
    dimension of size 1; `x` is a contiguous array of float32, float64, int32 or int64.  Of rows
    with NaN the first one is the median, unless it is that of the others (`nanmedian`).

    None of other dtypes and sizes.
    """
    x = x[...]  # which no other thread can change
    letter = "l" if x.dtype == np.int64 else x.dtype.char
    size = x.shape[-1]
    if letter not in _KINDS or not x.size or size > LONGEST:
        return None
    values, found = (np.empty((*x.shape[:-1], 1), dtype) for dtype in (x.dtype, np.int64))
    least = _PER_THREAD // size + 1
    run(_kernel(letter, wanted), found.size, least, size, place, x, values, found)
    return values, found


@cache
def _kernel(letter: str, wanted: Wanted) -> int:
    text = partial(selections_text, letter=letter, wanted=wanted)
    return kernel("selections", (letter, wanted), text)


def selections_text(target: Target, letter: str, wanted: Wanted) -> str:
    """The module of a kernel; its range is one of rows."""
    code = Code(target)
    with code.units() as row:
        _Row(code, _KINDS[letter], row).find(wanted)
    words = [
        (INT64, "size"),
        (INT64, "place"),
        *((POINTER, name) for name in ("x", "values", "found")),
    ]
    return code.kernel("selections", words)


class _Row:
    """The code of a kernel for one row."""

    def __init__(self, code: Code, element: Kind, row: Value) -> None:
        self.code, self.element, self.row = code, element, row
        self.key = INT32 if element.element in ("float", "i32") else INT64
        self.bits = 32 if self.key is INT32 else 64
        self.keys = self.key.of_lanes(LANES)
        self.most = (1 << (self.bits - 1)) - 1
        self.size, self.zero = code.argument(INT64, "size"), code.constant(INT64, 0)
        self.begin = code.at(code.argument(POINTER, "x"), row * self.size, element)

    def find(self, wanted: Wanted) -> None:
        """Write where the element is."""
        code = self.code
        least, most, missing = self._ends()
        place = self._place(wanted, missing)
        low, high = code.variable(least), code.variable(most)
        below, until = code.variable(self.zero), code.variable(self.size)
        with code.repeated(lambda: (low.now < high.now) & ((until.now - below.now) > 1)):
            middle = low.now + (high.now - low.now).unsigned_shift(1)
            count = self._count(partial(_is_within, code.spread(middle)))
            is_far = count > place
            until.set(code.choose(is_far, count, until.now))
            below.set(code.choose(is_far, below.now, count))
            high.set(code.choose(is_far, middle, high.now))
            low.set(code.choose(is_far, low.now, middle + 1))
        self._write((low.now, high.now), place - below.now)

    def _place(self, wanted: Wanted, missing: Value) -> Value:
        """Which place of the row is asked for."""
        code, two = self.code, self.code.constant(INT64, 2)
        if wanted == "place":
            return code.argument(INT64, "place")
        known = self.size - missing
        if wanted == "median":
            return code.choose(missing > 0, known, (self.size - 1) / two)
        return code.choose(known > 0, (known - 1) / two, self.zero)

    def _seen(self, at: Value, mask: Value | None) -> Value:
        """The keys of a vector."""
        code = self.code
        seen = code.load_if(
            self.element.of_lanes(LANES), code.at(self.begin, at, self.element), mask
        )
        if not self.element.is_real:
            return seen
        keys = with_turned_negatives((seen + 0.0).bits(self.keys), self.bits)
        return code.choose(seen.is_nan(), self.most, keys)

    def _visit(self, each: Callable[[int, Value, Value | None], None], beside: int) -> None:
        def visit(places: list[Value], mask: Value | None) -> None:
            for number, at in enumerate(places):
                each(number, self._seen(at, mask), mask)

        self.code.vectors(self.zero, self.size, beside, visit)

    def _ends(self) -> tuple[Value, Value, Value]:
        """The least and the largest key, and how many NaNs there are."""
        code = self.code
        low = code.variable(code.constant(self.keys, self.most))
        high = code.variable(code.constant(self.keys, -self.most - 1))
        nans = code.variable(code.constant(self.keys, 0))

        def each(_: int, keys: Value, mask: Value | None) -> None:
            less, more = keys < low.now, keys > high.now
            low.set(code.choose(less if mask is None else less & mask, keys, low.now))
            high.set(code.choose(more if mask is None else more & mask, keys, high.now))
            if self.element.is_real:
                is_nan = keys.equals(self.most)
                is_nan = is_nan if mask is None else is_nan & mask
                nans.set(nans.now + is_nan.converted("zext", self.keys))

        self._visit(each, 2)
        least = folded([low], code.lesser)
        most = folded([high], lambda a, b: code.choose(a > b, a, b))
        return least, most, self._wide(folded([nans], lambda a, b: a + b))

    def _wide(self, count: Value) -> Value:
        return count if self.bits == 64 else count.converted("sext", INT64)

    def _count(self, holds: Callable[[Value], Value]) -> Value:
        """Of how many keys something holds."""
        code = self.code
        totals = [code.variable(code.constant(self.keys, 0)) for _ in range(_BESIDE)]

        def each(number: int, keys: Value, mask: Value | None) -> None:
            is_in = holds(keys) if mask is None else holds(keys) & mask
            totals[number].set(totals[number].now + is_in.converted("zext", self.keys))

        self._visit(each, _BESIDE)
        return self._wide(folded(totals, lambda a, b: a + b))

    def _write(self, ends: tuple[Value, Value], number: Value) -> None:
        """Write one of the elements whose keys are from one to another, and its place; `number`
        says how many of them come before it."""
        code, left, at = self.code, self.code.variable(number), self.code.variable(self.zero)
        goals = [
            code.at(code.argument(POINTER, name), self.row, kind)
            for name, kind in (("found", INT64), ("values", self.element))
        ]
        low, high = (code.spread(each) for each in ends)
        with code.repeated(lambda: at.now < self.size):
            begin = at.now
            keys = self._seen(begin, code.first(self.size - begin))
            is_in = (keys >= low) & (keys <= high) & code.first(self.size - begin)
            bits = is_in.bits(Kind("i16")).converted("zext", INT64)
            count = code.call("llvm.ctpop.i64", INT64, [bits])
            before = left.now
            with code.when(before < count):
                place = begin + self._one_of(bits, before)
                code.store(place, goals[0])
                code.store(
                    code.load(self.element, code.at(self.begin, place, self.element)), goals[1]
                )
            left.set(before - count)
            is_found = before < count
            at.set(code.choose(is_found, self.size, begin + LANES))

    def _one_of(self, bits: Value, before: Value) -> Value:
        """Which bit of a word is set that has so many before it."""
        code, word = self.code, self.code.variable(bits)
        with code.counted(self.zero, before):
            word.set(word.now & (word.now - 1))
        return code.call("llvm.cttz.i64", INT64, [word.now, code.constant(Kind("i1"), 1)])


def _is_within(limit: Value, keys: Value) -> Value:
    """Whether keys are not above a limit."""
    return keys <= limit
