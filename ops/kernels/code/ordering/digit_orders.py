"""Rows in order by the digits of words, from the last digit on: a stable order in few passes.

NaN is larger than all numbers, zeros of both signs are equal, and among equals the first comes
first.  Rows lie along any dimension of a contiguous array.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel
from .asked_rows import asked_rows
from .float_bits import with_turned_negatives

__all__ = ["LONGEST", "in_order"]

LONGEST: Final = 1 << 22
"""Elements of a row; the words of longer ones take much memory."""
_PER_THREAD: Final = 1 << 13
"""Elements that are worth another thread."""
_DIGITS: Final = 256
_WIDE: Final = INT64.of_lanes(LANES)
_COUNTS: Final = ("size", "inner", "low", "high")
_PLACES: Final = ("x", "values", "places", "digits")


def in_order(
    x: Array, axis: int, low: int, high: int, *, descending: bool
) -> tuple[Array, Array] | None:
    """The elements from `low` on below `high` of every row in order, and where they were.

    None if rows are empty or longer than `LONGEST`, or for other dtypes than float32, float64 and
    int64.
    """
    asked = asked_rows(x, axis, low, high, LONGEST)
    if asked is None:
        return None
    x, element, rows, size, inner, values, places = asked
    words = np.empty((rows, 2 * _words_of(element), size), np.int64)
    form, least = "falling" if descending else "rising", _PER_THREAD // size + 1
    run(_kernel(form, element), rows, least, size, inner, low, high, x, values, places, words)
    return values, places


def _words_of(element: str) -> int:
    """Words of an element: its digits, and where it was; of 32 bits both are one word."""
    return 1 if element == "float" else 2


@cache
def _kernel(form: str, element: str) -> int:
    return kernel("digit_orders", (form, element), lambda target: _text(target, form, element))


def _text(target: Target, form: str, element: str) -> str:
    made = _Rows(target, form, Kind(element))
    made.rows()
    words = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in _PLACES)]
    return made.code.kernel("digit_orders", words)


class _Rows:
    """The code of a kernel: rows `rising` or `falling`."""

    def __init__(self, target: Target, form: str, element: Kind) -> None:
        self.code = code = Code(target)
        self.is_falling, self.element = form == "falling", element
        self.is_single = _words_of(element.element) == 1
        self.first_bit, self.count = (32, 4) if self.is_single else (0, 8)
        self.size, self.inner, self.low, self.high = (code.argument(INT64, n) for n in _COUNTS)
        self.x, self.values, self.places, self.digits = (code.argument(POINTER, n) for n in _PLACES)
        self.zero = code.constant(INT64, 0)
        self.tallies = code.room(INT64, self.count * _DIGITS)

    def rows(self) -> None:
        """Make a row's words, count their digits, order them by each, and write what is asked."""
        code = self.code
        with code.units() as row:
            outer, column = code.split(row, self.inner)
            begin = code.at(self.x, outer * self.size * self.inner + column, self.element)
            words = self.size * (1 if self.is_single else 2)
            here = code.at(self.digits, row * words * 2, INT64)
            source, goal = code.variable(here), code.variable(code.at(here, words, INT64))
            self._make(begin, here)
            self._tally(here)
            for digit in range(self.count):
                self._order(digit, source, goal)
            self._write(begin, source.now, outer * (self.high - self.low) * self.inner + column)

    def _make(self, begin: Value, here: Value) -> None:
        """The words of a row, 16 at a time where its elements lie side by side."""
        code = self.code

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                kind = self.element.of_lanes(LANES)
                offsets = (code.order(_WIDE) + code.spread(at)) * code.spread(self._step())
                seen = code.variable(code.constant(kind, 0))
                with code.when(self.inner.equals(1)):
                    seen.set(code.load_if(kind, code.at(begin, at, self.element), mask))
                with code.when(self.inner.differs(1)):
                    seen.set(code.gathered(kind, begin, offsets, mask))
                place = code.order(_WIDE) + code.spread(at)
                key = self._key(seen.now)
                if self.is_single:
                    word = (key.converted("zext", _WIDE) << 32) | place
                    code.store_if(word, code.at(here, at, INT64), mask)
                else:
                    code.store_if(key, code.at(here, at, INT64), mask)
                    code.store_if(place, code.at(here, self.size + at, INT64), mask)

        code.vectors(self.zero, self.size, 1, visit)

    def _step(self) -> Value:
        """Bytes between two elements of a row."""
        return self.inner * (4 if self.is_single else 8)

    def _key(self, seen: Value) -> Value:
        """Whole numbers whose digits are in the order of elements."""
        code, kind = self.code, (INT32 if self.is_single else INT64).of_lanes(LANES)
        sign = -(1 << (31 if self.is_single else 63))
        made = seen
        if self.element.is_real:
            bits = (seen + 0.0).bits(kind)  # no -0.0
            most = -1 - sign
            made = with_turned_negatives(bits, 32 if self.is_single else 64)
            made = code.choose(seen.is_nan(), code.constant(kind, most), made)
        return made ^ (-1 - sign if self.is_falling else sign)

    def _digit(self, word: Value, digit: int) -> Value:
        return (word >> (digit * 8 + self.first_bit)) & (_DIGITS - 1)

    def _tally(self, here: Value) -> None:
        """How often each value of each digit comes."""
        code = self.code

        def clear(places: list[Value], mask: Value | None) -> None:
            for at in places:
                place = code.at(self.tallies, at, INT64)
                code.store_if(code.constant(_WIDE, 0), place, mask)

        code.vectors(self.zero, code.constant(INT64, self.count * _DIGITS), 1, clear)
        with code.counted(self.zero, self.size) as at:
            word = code.load(INT64, code.at(here, at, INT64))
            for digit in range(self.count):
                value = self._digit(word, digit)
                place = code.at(self.tallies, value + digit * _DIGITS, INT64)
                code.store(code.load(INT64, place) + 1, place)

    def _order(self, digit: int, source: Variable, goal: Variable) -> None:
        """Order words by one digit, unless it is the same in all of them."""
        code = self.code
        tallies = code.at(self.tallies, code.constant(INT64, digit * _DIGITS), INT64)
        begin, end = source.now, goal.now
        first = self._digit(code.load(INT64, begin), digit)
        same = code.load(INT64, code.at(tallies, first, INT64))
        with code.when(same.differs(self.size)):
            before = code.variable(self.zero)
            with code.counted(self.zero, code.constant(INT64, _DIGITS)) as value:
                place = code.at(tallies, value, INT64)
                count, so_far = code.load(INT64, place), before.now
                code.store(so_far, place)
                before.set(so_far + count)
            with code.counted(self.zero, self.size) as at:
                word = code.load(INT64, code.at(begin, at, INT64))
                place = code.at(tallies, self._digit(word, digit), INT64)
                rank = code.load(INT64, place)
                code.store(rank + 1, place)
                code.store(word, code.at(end, rank, INT64))
                if not self.is_single:
                    was = code.load(INT64, code.at(begin, self.size + at, INT64))
                    code.store(was, code.at(end, self.size + rank, INT64))
            source.set(end)
            goal.set(begin)

    def _write(self, begin: Value, words: Value, goal: Value) -> None:
        """Write the elements that are asked for, and where they were."""
        code = self.code
        with code.counted(self.low, self.high) as rank:
            at = rank if self.is_single else rank + self.size
            place = code.load(INT64, code.at(words, at, INT64))
            place = place & 0xFFFFFFFF if self.is_single else place
            seen = code.load(self.element, code.at(begin, place * self.inner, self.element))
            to = goal + (rank - self.low) * self.inner
            code.store(seen, code.at(self.values, to, self.element))
            code.store(place, code.at(self.places, to, INT64))
