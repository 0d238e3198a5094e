"""Softmax and its logarithm along a dimension of float32 or float64 that is not the last one.

A vector holds neighbouring columns, which are gone through as rows are by `programs`: the largest
number first, then powers, whose sum is taken in double precision from the first row to the last;
a "narrow_softmax", of what 16-bit floats become and are rounded to, adds in its own.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..functions.formulas import KINDS, as_kind
from ..functions.scalars import exp, log
from ..language.lanes import DOUBLES, begun
from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel
from .along import parts_of, strip_count, strips

__all__ = ["columns_text", "takes", "took"]

_BESIDE: Final = 2
_PER_THREAD: Final = 1 << 13
"""Elements that are worth another thread."""


def takes(x: Array, axis: int) -> bool:
    """Whether columns of a contiguous array along a dimension fill vectors."""
    return bool(x.size) and parts_of(x.shape, axis)[2] >= LANES


def took(name: str, x: Array, axis: int) -> Array:
    """The "softmax", "narrow_softmax" or "log_softmax" of a contiguous array along a dimension."""
    x = x[...]  # which no other thread can change
    out = np.empty_like(x)
    outer, count, inner = parts_of(x.shape, axis)
    units = strip_count(outer, inner)
    least = _PER_THREAD * units // x.size + 1
    run(_kernel(name, x.dtype.char), units, least, count, inner, x, out)
    return out


@cache
def _kernel(name: str, letter: str) -> int:
    return kernel("columns", (name, letter), lambda target: columns_text(target, name, letter))


def columns_text(target: Target, name: str, letter: str) -> str:
    """The module of the kernel, for strips of columns."""
    code = Code(target)
    made = _Columns(code, KINDS[letter])
    if name.startswith("narrow"):
        made.wide = made.vector
    with strips(code, made.inner) as (outer, first, end):
        made.begin = outer * made.count * made.inner

        def visit(columns: list[Value], mask: Value | None) -> None:
            tops = made.largest(columns, mask)
            if name == "log_softmax":
                made.log_softmax(columns, mask, tops)
            else:
                made.softmax(columns, mask, tops)

        code.vectors(first, end, _BESIDE, visit)
    words = [(INT64, "count"), (INT64, "inner"), (POINTER, "x"), (POINTER, "out")]
    return code.kernel("columns", words)


class _Columns:
    """The parts of the kernel; `begin` is where the matrix of the columns begins."""

    def __init__(self, code: Code, element: Kind) -> None:
        self.code, self.element, self.vector = code, element, element.of_lanes(LANES)
        self.wide = DOUBLES
        """What sums are taken in."""
        self.count, self.inner = (code.argument(INT64, name) for name in ("count", "inner"))
        self.begin = self.zero = code.constant(INT64, 0)

    def place(self, name: str, row: Value, column: Value) -> Value:
        """Where a vector of a row is."""
        index = self.begin + row * self.inner + column
        return self.code.at(self.code.argument(POINTER, name), index, self.element)

    def seen(self, name: str, row: Value, column: Value, mask: Value | None) -> Value:
        return self.code.load_if(self.vector, self.place(name, row, column), mask)

    def largest(self, columns: list[Value], mask: Value | None) -> list[Value]:
        """The largest of each column but for NaN, which makes all powers NaN."""
        code, tops = self.code, begun(self.code, self.vector, -inf, len(columns))
        with code.counted(self.zero, self.count) as row:
            for top, column in zip(tops, columns, strict=True):
                seen = self.seen("x", row, column, mask)
                top.set(code.choose(seen > top.now, seen, top.now))
        return [top.now for top in tops]

    def powers(
        self, columns: list[Value], mask: Value | None, tops: list[Value], *, keeps: bool
    ) -> list[Value]:
        """The sums of `e ** (x - top)`, which are kept where the result will lie if need be."""
        code, totals = self.code, begun(self.code, self.wide, 0.0, len(columns))
        with code.counted(self.zero, self.count) as row:
            for total, column, top in zip(totals, columns, tops, strict=True):
                made = exp(self.seen("x", row, column, mask) - top)
                if keeps:
                    code.store_if(made, self.place("out", row, column), mask)
                total.set(total.now + as_kind(made, self.wide))
        return [self._narrow(total) for total in totals]

    def _narrow(self, total: Variable) -> Value:
        return as_kind(total.now, self.vector)

    def softmax(self, columns: list[Value], mask: Value | None, tops: list[Value]) -> None:
        """Powers over their sums."""
        code, sums = self.code, self.powers(columns, mask, tops, keeps=True)
        with code.counted(self.zero, self.count) as row:
            for column, total in zip(columns, sums, strict=True):
                made = self.seen("out", row, column, mask) / total
                code.store_if(made, self.place("out", row, column), mask)

    def log_softmax(self, columns: list[Value], mask: Value | None, tops: list[Value]) -> None:
        """What is below the largest, without the logarithms of the sums."""
        code, sums = self.code, self.powers(columns, mask, tops, keeps=False)
        logs = [log(each) for each in sums]
        with code.counted(self.zero, self.count) as row:
            for column, shift, top in zip(columns, logs, tops, strict=True):
                made = self.seen("x", row, column, mask) - top - shift
                code.store_if(made, self.place("out", row, column), mask)
