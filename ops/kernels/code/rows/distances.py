"""Distances between rows of float32 or float64: of all pairs, of all within one, or side by side.

Of all pairs sixteen are worked on in a vector, for which one matrix is turned; differences are
added in the order of the columns.  Side by side a row's sums have sixteen lanes, added pairwise.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..elementwise.arrays import in_order
from ..functions.arithmetic import called
from ..language.lanes import folded
from ..language.target import Target
from ..language.text import DOUBLE, INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel

__all__ = ["FORMS", "of_pairs", "side_by_side", "slopes", "within"]

FORMS: Final = {0.0: "count", 1.0: "sum", 2.0: "length", float("inf"): "largest"}
"""The norms that are known, by their exponents."""
_ELEMENTS: Final = {"f4": "float", "f8": "double"}
_PER_THREAD: Final = 1 << 14
"""Differences that are worth another thread."""
_BESIDE: Final = 2
_COUNTS: Final = ("rows", "columns", "depth")
_PLACES: Final = ("one", "other", "out")


def of_pairs(one: Array, other: Array, form: str) -> Array | None:
    """The distances [*, rows, columns] of rows of [*, rows, depth] to those of [*, columns, depth].

    None where `other` cannot be turned by a kernel.
    """
    one, other = one[...], other[...]  # which no other thread can change
    turned = in_order(other.swapaxes(-1, -2))
    if turned is None:
        return None
    rows, depth = one.shape[-2:]
    columns = other.shape[-2]
    out = np.empty((*one.shape[:-1], columns), one.dtype)
    least = _PER_THREAD // (columns * depth) + 1
    address = _kernel(form, "pairs", _ELEMENTS[one.dtype.str[1:]])
    run(address, out.size // columns, least, rows, columns, depth, one, turned, out)
    return out


def within(x: Array, form: str) -> Array | None:
    """The distances of each row of a matrix to those after it, one row after the other."""
    x = x[...]
    turned = in_order(x.swapaxes(-1, -2))
    if turned is None:
        return None
    rows, depth = x.shape
    out = np.empty(rows * (rows - 1) // 2, x.dtype)
    least = _PER_THREAD // (rows * depth) + 1
    address = _kernel(form, "within", _ELEMENTS[x.dtype.str[1:]])
    run(address, rows - 1, least, rows, rows, depth, x, turned, out)
    return out


def side_by_side(one: Array, other: Array, form: str, eps: float) -> Array:
    """The norms of the rows of [*, depth] arrays' difference plus a number."""
    one, other = one[...], other[...]
    depth = one.shape[-1]
    out = np.empty(one.shape[:-1], one.dtype)
    least = _PER_THREAD // depth + 1
    address = _kernel(form, "beside", _ELEMENTS[one.dtype.str[1:]])
    run(address, out.size, least, out.size, 1, depth, eps, one, other, out)
    return out


def slopes(shares: Array, one: Array, other: Array, form: str) -> Array:
    """What rows of [*, rows, depth] get of numbers [*, rows, columns]: each number times the row's
    difference from a row of [*, columns, depth], or, of a "sum", times the difference's sign.

    All are in one piece and of one dtype.
    """
    rows, depth = one.shape[-2:]
    columns = other.shape[-2]
    out = np.empty_like(one)
    address = _kernel(form, "slopes", _ELEMENTS[one.dtype.str[1:]])
    least = _PER_THREAD // (columns * depth) + 1
    run(address, out.size // depth, least, rows, columns, depth, shares, one, other, out)
    return out


@cache
def _kernel(form: str, which: str, element: str) -> int:
    return kernel(
        "distances",
        (form, which, element),
        lambda target: distances_text(target, form, which, Kind(element)),
    )


def distances_text(target: Target, form: str, which: str, element: Kind) -> str:
    """The module of a kernel; its range is one of rows of the first matrix."""
    code = Code(target)
    words = [(INT64, name) for name in _COUNTS]
    if which == "beside":
        words.append((DOUBLE, "eps"))
    if which == "slopes":
        words.append((POINTER, "shares"))
    words += [(POINTER, name) for name in _PLACES]
    made = _Distances(code, form, element)
    with code.units() as row:
        if which == "beside":
            made.beside(row)
        elif which == "slopes":
            made.slopes(row)
        else:
            made.pairs(row, is_within=which == "within")
    return code.kernel("distances", words)


class _Distances:
    """The parts of the kernel."""

    def __init__(self, code: Code, form: str, element: Kind) -> None:
        self.code, self.form = code, form
        self.element, self.kind = element, element.of_lanes(LANES)
        self.rows, self.columns, self.depth = (code.argument(INT64, name) for name in _COUNTS)
        self.one, self.other, self.out = (code.argument(POINTER, name) for name in _PLACES)
        self.zero = code.constant(INT64, 0)

    def pairs(self, row: Value, *, is_within: bool) -> None:
        """The distances of one row to all others, or to those after it."""
        code = self.code
        matrix, line = code.split(row, self.rows)
        goal, first = row * self.columns, self.zero
        if is_within:
            first = line + 1
            goal = (line * (self.rows * 2 - line - 1) >> 1) - first
        turned = matrix * self.depth * self.columns

        def visit(columns: list[Value], mask: Value | None) -> None:
            totals = [code.variable(code.constant(self.kind, 0.0)) for _ in columns]
            with code.counted(self.zero, self.depth) as k:
                place = code.at(self.one, row * self.depth + k, self.element)
                mine = code.spread(code.load(self.element, place))
                for column, total in zip(columns, totals, strict=True):
                    place = code.at(self.other, turned + k * self.columns + column, self.element)
                    self.add(total, mine - code.load_if(self.kind, place, mask))
            for column, total in zip(columns, totals, strict=True):
                code.store_if(
                    self.ended(total.now), code.at(self.out, goal + column, self.element), mask
                )

        code.vectors(first, self.columns, _BESIDE, visit)

    def beside(self, row: Value) -> None:
        """The distance of two rows."""
        code = self.code
        eps = code.spread(self._eps())
        total = code.variable(code.constant(self.kind, 0.0))

        def visit(columns: list[Value], mask: Value | None) -> None:
            at = row * self.depth + columns[0]
            one, other = (
                code.load_if(self.kind, code.at(array, at, self.element), mask)
                for array in (self.one, self.other)
            )
            apart = one - other + eps
            self.add(total, apart if mask is None else code.choose(mask, apart, 0.0))

        code.vectors(self.zero, self.depth, 1, visit)
        joined = folded([total], self.larger if self.form == "largest" else _sum)
        code.store(self.ended(joined), code.at(self.out, row, self.element))

    def slopes(self, row: Value) -> None:
        """What one row gets."""
        code, depth = self.code, self.depth
        shares = code.at(code.argument(POINTER, "shares"), row * self.columns, self.element)
        matrix, _ = code.split(row, self.rows)
        others = code.at(self.other, matrix * self.columns * depth, self.element)

        def visit(places: list[Value], mask: Value | None) -> None:
            ends = [code.at(array, row * depth, self.element) for array in (self.one, self.out)]
            own = [
                code.load_if(self.kind, code.at(ends[0], at, self.element), mask) for at in places
            ]
            totals = [code.variable(code.constant(self.kind, 0.0)) for _ in places]
            with code.counted(self.zero, self.columns) as column:
                share = code.spread(code.load(self.element, code.at(shares, column, self.element)))
                begin = code.at(others, column * depth, self.element)
                for at, mine, total in zip(places, own, totals, strict=True):
                    seen = code.load_if(self.kind, code.at(begin, at, self.element), mask)
                    self._add_slope(total, share, mine - seen)
            for at, total in zip(places, totals, strict=True):
                code.store_if(total.now, code.at(ends[1], at, self.element), mask)

        code.vectors(self.zero, depth, _BESIDE, visit)

    def _add_slope(self, total: Variable, share: Value, apart: Value) -> None:
        if self.form == "length":
            total.set(self.code.multiply_add(share, apart, total.now))
            return
        below = self.code.choose(apart < 0.0, -share, apart * share)  # 0, or what is no number
        total.set(total.now + self.code.choose(apart > 0.0, share, below))

    def _eps(self) -> Value:
        eps = self.code.argument(DOUBLE, "eps")
        return eps if self.element == DOUBLE else eps.converted("fptrunc", self.element)

    def add(self, total: Variable, apart: Value) -> None:
        """One difference more."""
        if self.form == "length":
            total.set(self.code.multiply_add(apart, apart, total.now))
        elif self.form == "count":
            total.set(total.now + self.code.choose(apart.equals(0.0), 0.0, apart.taken(1.0)))
        elif self.form == "sum":
            total.set(total.now + self.code.absolute(apart))
        else:
            total.set(self.larger(total.now, self.code.absolute(apart)))

    def larger(self, one: Value, other: Value) -> Value:
        """The larger one, or what is no number."""
        return self.code.choose((one < other) | other.is_nan(), other, one)

    def ended(self, total: Value) -> Value:
        """What a sum becomes."""
        return total if self.form != "length" else called("sqrt", total)


def _sum(one: Value, other: Value) -> Value:
    return one + other
