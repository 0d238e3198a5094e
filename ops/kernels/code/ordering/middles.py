"""The element of a whole array that sorting puts at some place, without putting others in order.

Whole numbers stand for elements in their order.  Bounds that the one asked for lies between are
halved, each time by counting what is not above the middle, until one element alone is left.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run
from ..language.lanes import folded
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel
from .float_bits import with_turned_negatives

__all__ = ["LONGEST", "placed"]

LONGEST: Final = 1 << 21
"""Elements; of more the numbers leave the caches each time."""
_BESIDE: Final = 4
_KINDS: Final = {"f": Kind("float"), "d": Kind("double"), "i": INT32, "l": INT64}


def placed(x: Array, place: int) -> Array | None:
    """The element at a place of the order, of contiguous float32, float64, int32 or int64; -0.0
    lies before 0.0.  None of other dtypes, or if there is a NaN."""
    x = x[...]  # which no other thread can change
    letter = "l" if x.dtype == np.int64 else x.dtype.char
    if letter not in _KINDS or not 0 < x.size <= LONGEST:
        return None
    keys = np.empty(x.size, np.int32 if x.itemsize == 4 else np.int64)
    out, nans = np.empty((), x.dtype), new_flag()
    run(_kernel(letter), 1, 2, x.size, place, x, keys, out, nans)
    return None if nans[0] else out


@cache
def _kernel(letter: str) -> int:
    return kernel("middles", (letter,), lambda target: middles_text(target, letter))


def middles_text(target: Target, letter: str) -> str:
    """The module of a kernel; its range is one unit."""
    code = Code(target)
    words = [(INT64, "size"), (INT64, "place")]
    words += [(POINTER, name) for name in ("x", "keys", "out", "nans")]
    with code.units():
        _Middle(code, _KINDS[letter]).find()
    return code.kernel("middles", words)


class _Middle:
    """The code of a kernel."""

    def __init__(self, code: Code, element: Kind) -> None:
        self.code, self.element = code, element
        self.key = INT32 if element.element in ("float", "i32") else INT64
        self.bits = 32 if self.key is INT32 else 64
        self.size, self.place = (code.argument(INT64, name) for name in ("size", "place"))
        self.zero = code.constant(INT64, 0)

    def find(self) -> None:
        """Write the element, or that there are NaNs."""
        code = self.code
        least, most, missing = self._keys()
        code.store(missing, code.argument(POINTER, "nans"))
        with code.when(missing.equals(0)):
            low, high = code.variable(least), code.variable(most)
            below, until = code.variable(self.zero), code.variable(self.size)
            with code.repeated(lambda: (low.now < high.now) & ((until.now - below.now) > 1)):
                middle = low.now + (high.now - low.now).unsigned_shift(1)
                count = self._count(middle)
                is_far = count > self.place
                until.set(code.choose(is_far, count, until.now))
                below.set(code.choose(is_far, below.now, count))
                high.set(code.choose(is_far, middle, high.now))
                low.set(code.choose(is_far, low.now, middle + 1))
            found = self._first_from(low.now)
            code.store(self._element(found), code.argument(POINTER, "out"))

    def _visit(
        self, each: Callable[[int, Value, Value | None], object], beside: int = _BESIDE
    ) -> None:
        """Go through the keys, some vectors side by side."""
        code = self.code

        def visit(places: list[Value], mask: Value | None) -> None:
            for number, at in enumerate(places):
                address = code.at(code.argument(POINTER, "keys"), at, self.key)
                each(number, code.load_if(self.key.of_lanes(LANES), address, mask), mask)

        code.vectors(self.zero, self.size, beside, visit)

    def _keys(self) -> tuple[Value, Value, Value]:
        """Write the keys; the least and the largest, and how many NaNs there are."""
        code, kind = self.code, self.key.of_lanes(LANES)
        end = 1 << (self.bits - 1)
        low, high = (code.variable(code.constant(kind, each)) for each in (end - 1, -end))
        nans = code.variable(code.constant(kind, 0))

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                source = code.at(code.argument(POINTER, "x"), at, self.element)
                seen = code.load_if(self.element.of_lanes(LANES), source, mask)
                key = self._key(seen)
                if self.element.is_real:
                    nans.set(nans.now + seen.is_nan().converted("zext", kind))
                goal = code.at(code.argument(POINTER, "keys"), at, self.key)
                code.store_if(key, goal, mask)
                _widen(code, low, high, key, mask)

        code.vectors(self.zero, self.size, 2, visit)
        least = folded([low], code.lesser)
        most = folded([high], lambda a, b: code.choose(a > b, a, b))
        return least, most, self._wide(folded([nans], lambda a, b: a + b))

    def _wide(self, count: Value) -> Value:
        return count if self.bits == 64 else count.converted("sext", INT64)

    def _key(self, seen: Value) -> Value:
        if not self.element.is_real:
            return seen
        return with_turned_negatives(seen.bits(self.key.of_lanes(LANES)), self.bits)

    def _element(self, key: Value) -> Value:
        if not self.element.is_real:
            return key
        return with_turned_negatives(key, self.bits).bits(self.element)

    def _count(self, most: Value) -> Value:
        """How many keys are not above one."""
        code, kind = self.code, self.key.of_lanes(LANES)
        limit = code.spread(most)
        totals = [code.variable(code.constant(kind, 0)) for _ in range(_BESIDE)]

        def each(number: int, keys: Value, mask: Value | None) -> None:
            is_in = keys <= limit
            is_in = is_in if mask is None else is_in & mask
            totals[number].set(totals[number].now + is_in.converted("zext", kind))

        self._visit(each)
        return self._wide(folded(totals, lambda a, b: a + b))

    def _first_from(self, least: Value) -> Value:
        """The first key of the order that is not below one."""
        code, kind = self.code, self.key.of_lanes(LANES)
        limit = code.spread(least)
        best = code.variable(code.constant(kind, (1 << (self.bits - 1)) - 1))

        def each(_: int, keys: Value, mask: Value | None) -> None:
            is_in = (keys >= limit) & (keys < best.now)
            best.set(code.choose(is_in if mask is None else is_in & mask, keys, best.now))

        self._visit(each)
        return folded([best], code.lesser)


def _widen(code: Code, low: Variable, high: Variable, key: Value, mask: Value | None) -> None:
    """Bounds that take in what a mask chooses of keys."""
    less, more = key < low.now, key > high.now
    low.set(code.choose(less if mask is None else less & mask, key, low.now))
    high.set(code.choose(more if mask is None else more & mask, key, high.now))
