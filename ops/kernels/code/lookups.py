"""Rows of float32 tables that indices name: taken, or summed in bags.

Each index is looked at once, where it is used, so that no other thread can change it in between.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from .objects import kernel
from .run import run
from .target import Target
from .text import FLOAT, FLOATS, INT64, POINTER, Code, Value

__all__ = ["bags", "rows"]

_LEAST: Final = 1 << 15
"""Elements that are worth another thread."""
_BESIDE: Final = 4
"""Vectors of a row that are worked on side by side."""


def rows(table: Any, index: Any) -> Any | None:
    """The rows [count, width] of a table that int64 [count] names; None if one is not there."""
    table, index = table[...], index[...]  # which no other thread can change
    height, width = table.shape
    out, outside = np.empty((index.size, width), np.float32), np.zeros(1, np.int64)
    least = _LEAST // max(1, width) + 1
    run(_taking(), index.size, least, height, width, table, index, out, outside)
    return None if outside[0] else out


def bags(table: Any, index: Any, begins: Any, mean: bool) -> Any:
    """The sums or means of bags of rows; bag b holds the indices from `begins[b]` on.

    `index` and `begins` are int64.  An index that is no row counts as the first.
    """
    table, index, begins = table[...], index[...], begins[...]
    height, width = table.shape
    out = np.empty((begins.size - 1, width), np.float32)
    each = max(1, index.size * width // max(1, len(out)))
    summing = _summing(mean)
    run(
        *(summing, len(out), _LEAST // each + 1, height, width, index.size),
        *(table, index, begins, out),
    )
    return out


@cache
def _taking() -> int:
    return kernel("take_rows", (), _take_rows)


@cache
def _summing(mean: bool) -> int:
    form = "means" if mean else "sums"
    return kernel("sum_bags", (form,), lambda target: _sum_bags(target, mean))


def _take_rows(target: Target) -> str:
    code = Code(target)
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    height, width = code.argument(INT64, "height"), code.argument(INT64, "width")
    table, index, out, outside = (
        code.argument(POINTER, name) for name in ("table", "index", "out", "outside")
    )
    with code.counted(start, stop) as i:
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
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    height, width, count = (code.argument(INT64, name) for name in ("height", "width", "count"))
    table, index, begins, out = (
        code.argument(POINTER, name) for name in ("table", "index", "begins", "out")
    )
    with code.counted(start, stop) as bag:
        ends = [code.load(INT64, code.at(begins, each, INT64)) for each in (bag, bag + 1)]
        first, last = (_within(end, count) for end in ends)

        def part(columns: list[Value], mask: Value | None) -> None:
            sums = [code.variable(code.constant(FLOATS, 0.0)) for _ in columns]
            with code.counted(first, last) as i:
                place = code.load(INT64, code.at(index, i, INT64))
                row = code.at(table, code.choose(place.below(height), place, 0) * width, FLOAT)
                for column, total in zip(columns, sums, strict=True):
                    total.set(total.now + code.load_if(FLOATS, code.at(row, column, FLOAT), mask))
            size = code.choose(last > first, last - first, 1).converted("sitofp", FLOAT)
            for column, total in zip(columns, sums, strict=True):
                made = total.now / code.spread(size) if mean else total.now
                code.store_if(made, code.at(out, bag * width + column, FLOAT), mask)

        code.vectors(code.constant(INT64, 0), width, _BESIDE, part)
    counts = [(INT64, name) for name in ("height", "width", "count")]
    places = [(POINTER, name) for name in ("table", "index", "begins", "out")]
    return code.kernel("sum_bags", [*counts, *places])


def _within(end: Value, count: Value) -> Value:
    """A place from 0 to a count."""
    above = end.code.choose(end < 0, 0, end)
    return end.code.choose(above > count, count, above)
