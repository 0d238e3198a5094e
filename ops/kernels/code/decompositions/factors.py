"""L and U of matrices of any size, where they lie: rows are exchanged for the largest pivots.

A step takes a multiple of the pivot's row from each row below; a range is one of matrices.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run, unforeseen
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel

__all__ = ["factored"]

_ELEMENTS: Final = {"f4": "float", "f8": "double"}
_PER_THREAD: Final = 1 << 14
"""Products that are worth another thread."""
_ARRAYS: Final = ("work", "pivots", "info")


def factored(matrices: Array) -> tuple[object, object, object] | None:
    """L and U in one matrix, the row, from 1, that each row was exchanged with, and the step, from
    1, in which a pivot was 0 first, or 0; None for other dtypes than float32 and float64."""
    element = _ELEMENTS.get(matrices.dtype.str[1:])
    if element is None or not matrices.size:
        return None
    unforeseen()  # what is done with pivots that are 0
    *batch, rows, columns = matrices.shape
    work = np.array(matrices[...], order="C")  # our own, which no other thread can change
    count = min(rows, columns)
    pivots, info = np.empty((*batch, count), np.int32), np.empty(tuple(batch), np.int32)
    least = _PER_THREAD // (rows * columns * count) + 1
    run(_kernel(element), prod(batch), least, rows, columns, count, work, pivots, info)
    return work, pivots, info


@cache
def _kernel(element: str) -> int:
    return kernel("factors", (element,), lambda target: factors_text(target, Kind(element)))


def factors_text(target: Target, element: Kind) -> str:
    """The module of the kernel."""
    code = Code(target)
    made = _Factors(code, element)
    with code.units() as unit:
        made.matrix(unit)
    words = [(INT64, name) for name in ("rows", "columns", "count")]
    return code.kernel("factors", [*words, *((POINTER, name) for name in _ARRAYS)])


class _Factors:
    """The parts of the kernel."""

    def __init__(self, code: Code, element: Kind) -> None:
        self.code, self.element, self.kind = code, element, element.of_lanes(LANES)
        self.rows, self.columns, self.count = (
            code.argument(INT64, name) for name in ("rows", "columns", "count")
        )
        self.at = {name: code.argument(POINTER, name) for name in _ARRAYS}
        self.zero = code.constant(INT64, 0)

    def matrix(self, unit: Value) -> None:
        """All steps for one matrix."""
        code = self.code
        begin = code.at(self.at["work"], unit * self.rows * self.columns, self.element)
        info = code.variable(code.constant(INT32, 0))
        with code.counted(self.zero, self.count) as step:
            chosen = self._largest(begin, step)
            place = code.at(self.at["pivots"], unit * self.count + step, INT32)
            code.store((chosen + 1).converted("trunc", INT32), place)
            with code.when(chosen.differs(step)):
                self._exchange(self._row(begin, step), self._row(begin, chosen))
            self._eliminate(begin, step, info)
        code.store(info.now, code.at(self.at["info"], unit, INT32))

    def _row(self, begin: Value, row: Value) -> Value:
        return self.code.at(begin, row * self.columns, self.element)

    def _size(self, begin: Value, row: Value, step: Value) -> Value:
        code = self.code
        place = code.at(self._row(begin, row), step, self.element)
        return code.absolute(code.load(self.element, place))

    def _largest(self, begin: Value, step: Value) -> Value:
        """The row of the first of the largest elements of a column; what is no number is that."""
        code = self.code
        best, chosen = code.variable(self._size(begin, step, step)), code.variable(step)
        with code.counted(step + 1, self.rows) as row:
            size = self._size(begin, row, step)
            is_number = best.now.equals(best.now)
            is_larger = ((size > best.now) | size.is_nan()) & is_number
            best.set(code.choose(is_larger, size, best.now))
            chosen.set(code.choose(is_larger, row, chosen.now))
        return chosen.now

    def _exchange(self, one: Value, other: Value) -> None:
        code = self.code

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                ends = [code.at(row, at, self.element) for row in (one, other)]
                seen = [code.load_if(self.kind, end, mask) for end in ends]
                for value, end in zip(seen, reversed(ends), strict=True):
                    code.store_if(value, end, mask)

        code.vectors(self.zero, self.columns, 1, visit)

    def _eliminate(self, begin: Value, step: Value, info: Variable) -> None:
        """Make the elements below a pivot what its row is to be multiplied with; where that is 0
        they stay."""
        code, own = self.code, self._row(begin, step)
        pivot = code.load(self.element, code.at(own, step, self.element))
        is_zero = pivot.equals(0.0)
        number = (step + 1).converted("trunc", INT32)
        info.set(code.choose(is_zero & info.now.equals(0), number, info.now))
        divisor = code.choose(is_zero, 1.0, pivot)
        with code.counted(step + 1, self.rows) as row:
            line = self._row(begin, row)
            place = code.at(line, step, self.element)
            factor = code.load(self.element, place) / divisor
            code.store(factor, place)
            less = code.spread(-factor)

            def visit(places: list[Value], mask: Value | None) -> None:
                for at in places:
                    goal = code.at(line, at, self.element)
                    known = code.load_if(self.kind, code.at(own, at, self.element), mask)
                    old = code.load_if(self.kind, goal, mask)
                    code.store_if(code.multiply_add(less, known, old), goal, mask)

            code.vectors(step + 1, self.columns, 2, visit)
