"""Sums, products, extremes and sums of squares over neighbouring dimensions of contiguous arrays.

Floats are summed in float64, multiplied in their own dtype.  A row is folded in 64 lanes, or in 32
of numbers of 64 bits, that meet in a fixed order; one of more than `PIECE` elements in pieces,
whose results are folded in turn.  Rows of up to 16 elements are folded a vector of rows at a time,
in the same order.  Columns are folded from the first row to the last.  So a result depends on
nothing but its elements and the sizes.
"""

from __future__ import annotations

from functools import cache
from itertools import cycle
from math import prod
from typing import Any, Final

import numpy as np

from .along import ELEMENTS, strip_count, strips
from .columns import columns
from .lanes import WIDE_BESIDE, begun, folded
from .objects import kernel
from .run import run
from .target import Target
from .text import DOUBLE, INT64, LANES, POINTER, Code, Kind, Value, Variable

__all__ = ["PIECE", "fold", "folds_text"]

PIECE: Final = 1 << 15
_PER_THREAD: Final = 1 << 15
"""Elements that are worth another thread."""
_BESIDE: Final = 4
"""Vectors of 32-bit lanes that are worked on side by side."""
_DTYPES: Final = {"float": np.float32, "double": np.float64, "i64": np.int64}
_INFINITE: Final = {"float": float("inf"), "double": float("inf"), "i64": 2**63 - 1}
_BYTES: Final = {"float": 4, "double": 8, "i64": 8}
_ADDED: Final = ("sum", "total", "squares")


def fold(x: Any, first: int, last: int, operation: str, number: float = 0.0) -> Any | None:
    """A contiguous array without its dimensions from `first` to before `last`, none of them empty.

    The operations: "sum", "product", "max", "min" (NaN if there is one), in the dtype of x; in
    float64 "total", the sum of floats, and "squares", that of squared distances from a number.
    None for dtypes but float32, float64 and int64, and for columns of few neighbours.
    """
    x = x[...]  # which no other thread can change
    element = ELEMENTS.get(x.dtype.str[1:])
    shape = x.shape
    outer, count, inner = prod(shape[:first]), prod(shape[first:last]), prod(shape[last:])
    if element is None or 1 < inner < LANES or not count:
        return None
    out = np.empty(shape[:first] + shape[last:], _DTYPES[_result(operation, element)])
    if not out.size:  # another dimension is empty: there is nothing to write to
        return out
    if inner > 1:
        _fold_columns(operation, element, x, out, (outer, count, inner), number)
    else:
        _fold_rows(operation, element, x, out, (outer, count), number)
    return out


def _fold_columns(
    operation: str, element: str, x: Any, out: Any, sizes: tuple[int, int, int], number: float
) -> None:
    outer, count, inner = sizes
    units = strip_count(outer, inner)
    folding = _kernel("columns", operation, element, _result(operation, element))
    least = _PER_THREAD * units // max(1, x.size) + 1
    run(folding, units, least, count, inner, number, x, out)


def _fold_rows(
    operation: str, element: str, x: Any, out: Any, sizes: tuple[int, int], number: float
) -> None:
    outer, count = sizes
    if count <= LANES:
        folding = _kernel("short", operation, element, _result(operation, element), count)
        run(folding, outer, _PER_THREAD // count + 1, count, 1, number, x, out)
        return
    each = -(-count // PIECE)
    made, parts = _result(operation, element), out
    if each > 1:
        made = _wide(operation, element)
        parts = np.empty((outer, each), _DTYPES[made])
    units = outer * each
    folding = _kernel("rows", operation, element, made)
    run(folding, units, _PER_THREAD // min(count, PIECE) + 1, count, each, number, x, parts)
    if each > 1:
        again = "sum" if operation in _ADDED else operation
        folding = _kernel("rows", again, made, _result(operation, element))
        run(folding, outer, outer + 1, each, 1, 0.0, parts, out)


def _wide(operation: str, element: str) -> str:
    """The kind that is folded in."""
    return "double" if element == "float" and operation in _ADDED else element


def _result(operation: str, element: str) -> str:
    is_real = element != "i64" and operation in ("total", "squares")
    return "double" if is_real else element


@cache
def _kernel(form: str, operation: str, element: str, made: str, size: int = 0) -> int:
    key = (form, operation, element, made, size)
    return kernel("fold", key, lambda target: folds_text(target, *key))


def folds_text(
    target: Target, form: str, operation: str, element: str, made: str, size: int = 0
) -> str:
    """The module of a kernel over the pieces of rows, the strips of columns, or rows of a size."""
    folding = _Fold(target, operation, element, made)
    if form == "rows":
        folding.rows()
    elif form == "short":
        folding.short_rows(size)
    else:
        folding.columns()
    second = "inner" if form == "columns" else "each"
    words = [
        (INT64, "count"),
        (INT64, second),
        (DOUBLE, "number"),
        (POINTER, "x"),
        (POINTER, "out"),
    ]
    return folding.code.kernel("fold", words)


class _Fold:
    """The code of a kernel."""

    def __init__(self, target: Target, operation: str, element: str, made: str) -> None:
        self.code = code = Code(target)
        self.operation, self.element, self.made = operation, Kind(element), Kind(made)
        self.wide = Kind(_wide(operation, element), LANES)
        end = _INFINITE[element]
        starts = {"product": 1, "max": -end - (element == "i64"), "min": end}
        self.start = starts.get(operation, 0)
        self.count = code.argument(INT64, "count")
        self.zero = code.constant(INT64, 0)
        self.beside = _BESIDE if self.wide.element == "float" else WIDE_BESIDE
        if operation == "squares":
            self.middle = code.spread(code.argument(DOUBLE, "number"))

    def address(self, name: str, index: Value) -> Value:
        """Where an element of an array is."""
        element = self.element if name == "x" else self.made
        return self.code.at(self.code.argument(POINTER, name), index, element)

    def begun(self) -> list[Variable]:
        """The lanes, side by side."""
        return begun(self.code, self.wide, self.start, self.beside)

    def step(self, total: Variable, index: Value, mask: Value | None) -> None:
        """Fold in the vector that begins at an index."""
        code, kind = self.code, self.element.of_lanes(LANES)
        seen = code.load_if(kind, self.address("x", index), mask, self.start)
        total.set(self.with_seen(total.now, seen, mask))

    def with_seen(self, total: Value, seen: Value, mask: Value | None) -> Value:
        """A vector of the array folded into another."""
        code = self.code
        if seen.kind != self.wide:
            seen = seen.converted("fpext", self.wide)
        if self.operation != "squares":
            return self.joined(total, seen)
        apart = seen - self.middle
        if mask is not None:
            apart = code.choose(mask, apart, 0.0)
        return code.multiply_add(apart, apart, total)

    def joined(self, one: Value, other: Value) -> Value:
        """Two results as one."""
        if self.operation in _ADDED:
            return one + other
        if self.operation == "product":
            return one * other
        out = other > one if self.operation == "max" else other < one
        return self.code.choose(out | other.is_nan(), other, one)

    def narrow(self, value: Value) -> Value:
        """As it is kept."""
        kind = self.made.of_lanes(value.kind.lanes)
        return value if value.kind == kind else value.converted("fptrunc", kind)

    def rows(self) -> None:
        """Fold each piece."""
        code, each = self.code, self.code.argument(INT64, "each")
        with code.units() as piece:
            row = piece / each
            begin = (piece - row * each) * PIECE
            left = self.count - begin
            line = row * self.count + begin
            lanes, order = self.begun(), cycle(range(self.beside))

            def visit(columns: list[Value], mask: Value | None, line: Value = line) -> None:
                for at in columns:
                    self.step(lanes[next(order)], line + at, mask)

            code.vectors(self.zero, code.choose(left > PIECE, PIECE, left), self.beside, visit)
            code.store(self.narrow(folded(lanes, self.joined)), self.address("out", piece))

    def short_rows(self, size: int) -> None:
        """Fold rows of so many elements, each in a lane of its own."""
        code, half = self.code, LANES // 2
        start = code.constant(self.wide, self.start)

        def visit(rows: list[Value], mask: Value | None) -> None:
            for row in rows:
                seen = self.elements(row, size, mask)
                left = [self.with_seen(start, each, None) for each in seen]
                step = half
                while step:
                    pairs = zip(left, left[step:], strict=False)
                    left[: max(0, len(left) - step)] = [self.joined(*pair) for pair in pairs]
                    left, step = left[:step], step // 2
                code.store_if(self.narrow(left[0]), self.address("out", row), mask)

        code.vectors(code.argument(INT64, "start"), code.argument(INT64, "stop"), 1, visit)

    def elements(self, row: Value, size: int, mask: Value | None) -> list[Value]:
        """The first elements of rows from one on, their second ones, and so on."""
        code, kind = self.code, self.element.of_lanes(LANES)
        first = self.address("x", row * size)
        if mask is None:
            return columns(code, kind, first, size)
        steps = code.order(INT64.of_lanes(LANES)) * (size * _BYTES[self.element.element])
        places = (code.at(first, place, self.element) for place in range(size))
        return [code.gathered(kind, place, steps, mask) for place in places]

    def columns(self) -> None:
        """Fold the columns of each strip."""
        code, inner = self.code, self.code.argument(INT64, "inner")
        with strips(code, inner) as (outer, first, end):

            def visit(columns: list[Value], mask: Value | None) -> None:
                totals = self.begun()[: len(columns)]
                with code.counted(self.zero, self.count) as i:
                    line = (outer * self.count + i) * inner
                    for at, total in zip(columns, totals, strict=True):
                        self.step(total, line + at, mask)
                for at, total in zip(columns, totals, strict=True):
                    goal = self.address("out", outer * inner + at)
                    code.store_if(self.narrow(total.now), goal, mask)

            code.vectors(first, end, self.beside, visit)
