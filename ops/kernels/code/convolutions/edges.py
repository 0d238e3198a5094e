"""Planes with edges around them whose elements are some of the planes' own.

An element of the result is the one at some place of each of the last dimensions, and tables say at
which.  Those of the last one lie side by side but for its edges.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run
from ..language.named_counts import named_counts
from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["Places", "SIZES", "edged"]

SIZES: Final = (1, 2, 4, 8)
"""Bytes of elements that are moved."""
_LEAST: Final = 1 << 15
"""Elements that are worth another thread."""
_COUNTS: Final = ("rows", "plane", "width", "before", "end", "first")
"""A result has so many `rows` for each `plane` of elements, of `width` elements: from `before` to
`end` they are neighbours, of which the `first` is at this place of a row."""


class Places(NamedTuple):
    """Where elements come from: which row each is in, as the place where that begins in a plane,
    and where in it; no table is ever written to."""

    counts: Array
    rows: Array
    columns: Array
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes + self.columns.nbytes)

    @staticmethod
    def of(space: tuple[int, ...], tables: list[Array], before: int, inner: int) -> Places:
        """Those of planes of a shape; `inner` columns are neighbours, behind so many `before`."""
        rows = new_flag()
        for size, table in zip(space[:-1], tables[:-1], strict=True):
            rows = (rows[:, None] * size + table).reshape(-1)
        columns = np.ascontiguousarray(tables[-1], np.int64)
        first = int(columns[before]) if inner else 0
        numbers = [len(rows), prod(space), len(columns), before, before + inner, first]
        found = np.array(numbers, np.int64), rows * space[-1], columns
        for each in found:
            each.setflags(write=False)
        return Places(*found, tuple(len(table) for table in tables))


def edged(x: Array, places: Places) -> Array:
    """The elements at some places of the last dimensions of an array in one piece, which no other
    thread can change."""
    before = x.shape[: x.ndim - len(places.shape)]
    out = np.empty((*before, *places.shape), x.dtype)
    count, width = prod(before) * len(places.rows), len(places.columns)
    address, least = _kernel(x.itemsize), _LEAST // max(1, width) + 1
    run(address, count, least, places.counts, places.rows, places.columns, x, out)
    return out


@cache
def _kernel(size: int) -> int:
    return kernel("edges", (size,), lambda target: _text(target, size))


def _text(target: Target, size: int) -> str:
    """For the rows of the result, counted over all planes."""
    code, kind = Code(target), Kind(f"i{8 * size}")
    names = "counts", "rows", "columns", "x", "out"
    at = {name: code.argument(POINTER, name) for name in names}
    count = named_counts(code, at["counts"], _COUNTS)
    zero = code.constant(INT64, 0)
    with code.units() as unit:
        plane, row = code.split(unit, count["rows"])
        place = plane * count["plane"] + code.load(INT64, code.at(at["rows"], row, INT64))
        source = code.at(at["x"], place, kind)
        goal = code.at(at["out"], unit * count["width"], kind)
        for begin, end in ((zero, count["before"]), (count["end"], count["width"])):
            with code.counted(begin, end) as column:
                chosen = code.load(INT64, code.at(at["columns"], column, INT64))
                number = code.load(kind, code.at(source, chosen, kind))
                code.store(number, code.at(goal, column, kind))
        far = count["first"] - count["before"]

        def copy(here: list[Value], mask: Value | None) -> None:
            for column in here:
                seen = code.at(source, column + far, kind)
                made = code.load_if(kind.of_lanes(LANES), seen, mask)
                code.store_if(made, code.at(goal, column, kind), mask)

        code.vectors(count["before"], count["end"], 2, copy)
    return code.kernel("edges", [(POINTER, name) for name in names])
