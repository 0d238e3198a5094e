"""Short rows in order: each element's place is how many others stand before it.

NaN is larger than all numbers, zeros of both signs are equal, and among equals the first comes
first.  Rows lie along any dimension of a contiguous array.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from .asked_rows import asked_rows

__all__ = ["LONGEST", "in_order", "middle"]

LONGEST: Final = 128
"""Elements of a row."""
_PER_THREAD: Final = 1 << 18
"""Pairs of elements that are worth another thread."""
_COUNTS: Final = ("size", "inner", "low", "high")
_PLACES: Final = ("x", "values", "places")
_WIDTHS: Final = {"float": 4, "double": 8, "i64": 8}


def in_order(
    x: Array, axis: int, low: int, high: int, *, descending: bool
) -> tuple[Array, Array] | None:
    """The elements from `low` on below `high` of every row in order, and where they were.

    None if rows are empty or longer than `LONGEST`, or for other dtypes than float32, float64 and
    int64.
    """
    return _ordered("falling" if descending else "rising", x, axis, low, high)


def middle(x: Array, axis: int, *, skip_nan: bool) -> tuple[Array, Array] | None:
    """The lower of the middle elements of every row in order, and where it was; of rows with NaN
    the first of those, or, if they are skipped, that of the others."""
    return _ordered("nanmedian" if skip_nan else "median", x, axis, 0, 1)


def _ordered(form: str, x: Array, axis: int, low: int, high: int) -> tuple[Array, Array] | None:
    asked = asked_rows(x, axis, low, high, LONGEST)
    if asked is None:
        return None
    x, element, rows, size, inner, values, places = asked
    least = _PER_THREAD // (size * size) + 1
    run(_kernel(form, element), rows, least, size, inner, low, high, x, values, places)
    return values, places


@cache
def _kernel(form: str, element: str) -> int:
    return kernel("short_orders", (form, element), lambda target: _text(target, form, element))


def _text(target: Target, form: str, element: str) -> str:
    made = _Rows(target, form, Kind(element))
    made.rows()
    words = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in _PLACES)]
    return made.code.kernel("short_orders", words)


class _Rows:
    """The code of a kernel: rows `rising` or `falling`, or a `median` of each."""

    def __init__(self, target: Target, form: str, element: Kind) -> None:
        self.code = code = Code(target)
        self.form, self.element = form, element
        self.width = _WIDTHS[element.element]
        self.key = INT32 if self.width == 4 else INT64
        self.size, self.inner, self.low, self.high = (code.argument(INT64, n) for n in _COUNTS)
        self.x, self.values, self.places = (code.argument(POINTER, n) for n in _PLACES)
        self.zero = code.constant(INT64, 0)
        self.kept, self.keys = code.room(element, LONGEST), code.room(self.key, LONGEST)

    def rows(self) -> None:
        """Copy a row, rank its elements, and write those that are asked for where they belong."""
        code = self.code
        with code.units() as row:
            outer, column = code.split(row, self.inner)
            begin = code.at(self.x, outer * self.size * self.inner + column, self.element)
            with code.counted(self.zero, self.size) as i:
                seen = code.load(self.element, code.at(begin, i * self.inner, self.element))
                code.store(seen, code.at(self.kept, i, self.element))
            first, count = self._rank()
            goal = outer * count * self.inner + column

            def write(lines: list[Value], mask: Value | None) -> None:
                for at in lines:
                    self._write(at, mask, first, count, goal)

            code.vectors(self.zero, self.size, 1, write)

    def _rank(self) -> tuple[Value, Value]:
        """Keep whole numbers that are in order as elements are; the first that is asked for, and
        how many are."""
        code = self.code
        nans = code.variable(self.zero)

        def visit(lines: list[Value], mask: Value | None) -> None:
            for at in lines:
                kind = self.element.of_lanes(LANES)
                seen = code.load_if(kind, code.at(self.kept, at, self.element), mask)
                code.store_if(self._keys(seen), code.at(self.keys, at, self.key), mask)
                if self.form.endswith("median") and self.element.is_real:
                    ones = seen.is_nan().converted("zext", INT64.of_lanes(LANES))
                    found = code.call("llvm.vector.reduce.add.v16i64", INT64, [ones])
                    nans.set(nans.now + found)

        code.vectors(self.zero, self.size, 1, visit)
        if not self.form.endswith("median"):
            return self.low, self.high - self.low
        numbers = self.size - nans.now
        half = (numbers - 1) >> 1
        if self.form == "nanmedian":
            first = code.choose(half < 0, self.zero, half)
        else:
            first = code.choose(nans.now > 0, numbers, half)
        return first, code.constant(INT64, 1)

    def _keys(self, seen: Value) -> Value:
        """Whole numbers in the order of elements."""
        code, kind = self.code, self.key.of_lanes(LANES)
        made = seen
        if self.element.is_real:
            bits = (seen + 0.0).bits(kind)  # no -0.0
            most = (1 << 8 * self.width - 1) - 1
            ordered = bits ^ ((bits >> (8 * self.width - 1)) & most)
            made = code.choose(seen.is_nan(), code.constant(kind, most), ordered)
        return made ^ -1 if self.form == "falling" else made

    def _write(
        self, at: Value, mask: Value | None, first: Value, count: Value, goal: Value
    ) -> None:
        """Write elements that begin at a place of the row where they belong in order."""
        code, wide = self.code, INT64.of_lanes(LANES)
        mine = code.load_if(self.key.of_lanes(LANES), code.at(self.keys, at, self.key), mask)
        order = code.order(INT32.of_lanes(LANES))
        ranks = code.variable(code.constant(INT32.of_lanes(LANES), 0))
        with code.counted(self.zero, self.size) as other:
            key = code.spread(code.load(self.key, code.at(self.keys, other, self.key)))
            apart = code.spread((other - at).converted("trunc", INT32))
            before = (key < mine) | (key.equals(mine) & (apart < order))
            ranks.set(ranks.now + before.converted("zext", ranks.now.kind))
        rank = ranks.now.converted("sext", wide) - code.spread(first)
        chosen = rank.below(code.spread(count))
        chosen = chosen if mask is None else chosen & mask
        kind = self.element.of_lanes(LANES)
        seen = code.load_if(kind, code.at(self.kept, at, self.element), mask)
        offsets = rank * code.spread(self.inner)
        value_place = code.at(self.values, goal, self.element)
        code.scattered(seen, value_place, offsets * self.width, chosen)
        places = code.order(wide) + code.spread(at)
        code.scattered(places, code.at(self.places, goal, INT64), offsets * 8, chosen)
