"""Rows of float32 tables that indices name: taken, or summed in bags.

Each index is looked at once, where it is used, so that no other thread can change it in between.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from ...memory.dtype import Array
from .objects import kernel
from .run import run
from .target import Target
from .text import FLOAT, FLOATS, INT64, POINTER, Code, Value

__all__ = ["bags", "rows"]

_LEAST: Final = 1 << 15
"""Elements that are worth another thread."""
_BESIDE: Final = 4
"""Vectors of a row that are worked on side by side."""


def rows(table: Array, index: Array) -> Any | None:
    """The rows [count, width] of a table that int64 [count] names; None if one is not there."""
    table, index = table[...], index[...]  # which no other thread can change
    height, width = table.shape
    out, outside = np.empty((index.size, width), np.float32), np.zeros(1, np.int64)
    least = _LEAST // max(1, width) + 1
    run(_taking(), index.size, least, height, width, table, index, out, outside)
    return None if outside[0] else out


def bags(
    table: Array, index: Array, starts: Array, mean: bool, extra: bool = False
) -> tuple[object, object, object] | None:
    """The sums or means of bags of rows, the bag of each index, and how many each bag has.

    `index` and `starts` are int64; bag b holds the indices from `starts[b]` on, the last one all
    that are left.  An `extra` start is looked at, but begins no bag.  None if an index is no row,
    or if bags do not begin at 0 one after the other.
    """
    table, index, starts = table[...], index[...], starts[...]
    height, width = table.shape
    count = starts.size - extra
    out = np.empty((count, width), np.float32)
    bag_of, sizes, wrong = np.empty_like(index), np.empty(count, np.int64), np.zeros(1, np.int64)
    each = max(1, index.size * width // max(1, len(out)))
    run(
        *(_summing(mean), count, _LEAST // each + 1, height, width, index.size, count, int(extra)),
        *(table, index, starts, out, bag_of, sizes, wrong),
    )
    return None if wrong[0] else (out, bag_of, sizes)


@cache
def _taking() -> int:
    return kernel("take_rows", (), _take_rows)


@cache
def _summing(mean: bool) -> int:
    form = "means" if mean else "sums"
    return kernel("sum_bags", (form,), lambda target: _sum_bags(target, mean))


def _take_rows(target: Target) -> str:
    code = Code(target)
    height, width = code.argument(INT64, "height"), code.argument(INT64, "width")
    table, index, out, outside = (
        code.argument(POINTER, name) for name in ("table", "index", "out", "outside")
    )
    with code.units() as i:
        place = code.load(INT64, code.at(index, i, INT64))
        is_there = place.below(height)
        with code.when(is_there):
            row, goal = code.at(table, place * width, FLOAT), code.at(out, i * width, FLOAT)

            def copy(places: list[Value], mask: Value | None) -> None:
                for at in places:
                    seen = code.load_if(FLOATS, code.at(row, at, FLOAT), mask)
                    code.store_if(seen, code.at(goal, at, FLOAT), mask)

            code.vectors(code.constant(INT64, 0), width, _BESIDE, copy)
        with code.when(is_there.equals(0)):
            code.store(code.constant(INT64, 1), outside)
    counts = [(INT64, name) for name in ("height", "width")]
    places = [(POINTER, name) for name in ("table", "index", "out", "outside")]
    return code.kernel("take_rows", [*counts, *places])


def _sum_bags(target: Target, mean: bool) -> str:
    code = Code(target)
    counts = [(INT64, name) for name in ("height", "width", "count", "bags", "extra")]
    places = [(POINTER, n) for n in ("table", "index", "starts", "out", "bag_of", "sizes", "wrong")]
    height, width, count, bags, extra = (code.argument(*each) for each in counts)
    table, index, starts, out, bag_of, sizes, wrong = (code.argument(*each) for each in places)
    zero = code.constant(INT64, 0)
    with code.units() as bag:
        first = code.load(INT64, code.at(starts, bag, INT64))
        is_last = (bag + 1).equals(bags)
        is_open = is_last & extra.equals(0)
        after = code.load(INT64, code.at(starts, code.choose(is_open, bag, bag + 1), INT64))
        last = code.choose(is_last, count, after)
        begins = code.choose(bag.equals(0), first.equals(0), first >= 0)
        fits = begins & (first <= last) & (last <= count) & (after <= count)
        with code.when(fits.equals(0)):
            code.store(code.constant(INT64, 1), wrong)
        first, last = code.choose(fits, first, zero), code.choose(fits, last, zero)
        size = last - first
        code.store(size, code.at(sizes, bag, INT64))
        with code.counted(first, last) as i:
            code.store(bag, code.at(bag_of, i, INT64))
            with code.when(code.load(INT64, code.at(index, i, INT64)).below(height).equals(0)):
                code.store(code.constant(INT64, 1), wrong)

        def part(columns: list[Value], mask: Value | None) -> None:
            sums = [code.variable(code.constant(FLOATS, 0.0)) for _ in columns]
            with code.counted(first, last) as i:
                place = code.load(INT64, code.at(index, i, INT64))
                row = code.at(table, code.choose(place.below(height), place, 0) * width, FLOAT)
                for column, total in zip(columns, sums, strict=True):
                    total.set(total.now + code.load_if(FLOATS, code.at(row, column, FLOAT), mask))
            divisor = code.choose(size > 0, size, 1).converted("sitofp", FLOAT)
            for column, total in zip(columns, sums, strict=True):
                made = total.now / code.spread(divisor) if mean else total.now
                code.store_if(made, code.at(out, bag * width + column, FLOAT), mask)

        code.vectors(zero, width, _BESIDE, part)
    return code.kernel("sum_bags", [*counts, *places])
