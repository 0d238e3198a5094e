"""Equations, determinants and factors of many small matrices: a vector holds one element of 16
matrices, which go through the same steps.

Rows are exchanged lane by lane for the largest pivot.  Where a pivot is zero or no number, or a
diagonal not positive, all of it is left to who knows what to say of that.  Matrices lie in any
order, as their strides say.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run
from ..functions import doubles, scalars
from ..functions.arithmetic import called
from ..language.named_counts import counts_of
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, INT32, INT64, LANES, POINTER, Kind, Value, Variable
from ..loading.objects import kernel
from .matrix_lanes import MatrixLanes

__all__ = [
    *("MOST", "cholesky", "determinants", "factored", "holds", "log_determinants", "solved"),
    "substituted",
]

MOST: Final = 16
"""Rows of a matrix, and columns of a right side, at most; a triangle may have more rows."""
_ROOM: Final = 2 * MOST * MOST
_ROWS: Final = 64
_FEW: Final = 4
"""Triangles of more than `MOST` rows that are worth vectors of 16."""
_LEAST: Final = 1 << 14
"""Multiplications that are worth another thread."""
_STEPS: Final = ("apart", "down", "across")
_ARRAYS: Final = ("counts", "a", "b", "out", "flag")
_COUNTS: Final = (
    *("matrices", "size", "columns", "upper", "unit"),
    *(f"{operand}_{step}" for operand in ("a", "b") for step in _STEPS),
)
"""A matrix has so many rows; the right side has so many columns.  Of matrices and right sides
elements lie so far from those of the next matrix, of the next row, of the next column."""


def solved(a: Array, b: Array) -> Array | None:
    """X [matrices, rows, columns] of A X = B, which lies by columns; None if one is singular.

    Both are of one dtype, float32 or float64; B may be one for all.  No other thread can change
    them, as in what follows.
    """
    out = np.empty((len(a), b.shape[2], a.shape[1]), a.dtype)
    return out.swapaxes(1, 2) if _done("solve", a, b, out) else None


def holds(count: int, size: int, columns: int) -> bool:
    """Whether so many triangular systems are solved in this way."""
    return size * columns <= _ROOM and (size <= MOST or (size <= _ROWS and count >= _FEW))


def substituted(a: Array, b: Array, upper: bool, unit: bool) -> Array:
    """X of A X = B of triangles, as `triangles.solve` has it, bits too; it lies by columns."""
    out = np.empty((len(a), b.shape[2], a.shape[1]), a.dtype)
    _done("triangle", a, b, out, upper, unit)
    return out.swapaxes(1, 2)


def determinants(a: Array) -> Array | None:
    """The determinants of matrices; None if one is singular."""
    out = np.empty(len(a), a.dtype)
    return out if _done("determinant", a, a, out) else None


def log_determinants(a: Array) -> tuple[Array, Array] | None:
    """The signs of determinants, and the logarithms of their sizes; None if one is singular."""
    signs, out = np.empty(len(a), a.dtype), np.empty(len(a), a.dtype)
    return (signs, out) if _done("log_determinant", a, signs, out) else None


def factored(a: Array) -> tuple[Array, Array] | None:
    """L and U in one matrix, which lies by columns, and the row, from 1, that each row was
    exchanged with; None if a matrix is singular."""
    out, pivots = np.empty(a.shape, a.dtype), np.empty(a.shape[:2], np.int32)
    return (out.swapaxes(1, 2), pivots) if _done("factors", a, pivots, out) else None


def cholesky(a: Array) -> Array | None:
    """The lower factors of matrices, which lie by columns; None if there is none."""
    out = np.empty(a.shape, a.dtype)
    return out.swapaxes(1, 2) if _done("cholesky", a, a, out) else None


def _done(
    what: str, a: Array, b: Array, out: Array, upper: bool = False, unit: bool = False
) -> bool:
    count, size = a.shape[:2]
    columns = b.shape[2] if what in ("solve", "triangle") else 0
    least = _LEAST // (LANES * size * size * (size + columns)) + 1
    strides = (*a.strides, *(b.strides if columns else (0, 0, 0)))
    steps = [step // a.itemsize for step in strides]
    if len(b) < count:
        steps[3] = 0
    counts = counts_of(count, size, columns, upper, unit, *steps)
    flag = new_flag()
    run(_kernel(what, a.dtype.char), -(-count // LANES), least, counts, a, b, out, flag)
    return not flag[0]


@cache
def _kernel(what: str, letter: str) -> int:
    return kernel("small_systems", (what, letter), lambda target: _text(target, what, letter))


def _text(target: Target, what: str, letter: str) -> str:
    return _Systems(target, FLOAT if letter == "f" else DOUBLE).text(what)


class _Systems(MatrixLanes):
    """The steps for 16 matrices."""

    def __init__(self, target: Target, kind: Kind) -> None:
        super().__init__(target, kind, _ARRAYS, _COUNTS, _ROOM)

    def text(self, what: str) -> str:
        """The module of the kernel."""
        code, count = self.code, self.count
        steps: dict[str, Callable[[Value], None]] = {
            "solve": self._solve,
            "determinant": self._determinant,
            "log_determinant": self._log_determinant,
            "cholesky": self._cholesky,
            "factors": self._factors,
            "triangle": self._triangle,
        }
        with self.each() as first:
            if what != "triangle":
                self._take("a", first, self.zero, count["size"])
            steps[what](first)
        return code.kernel("small_systems", [(POINTER, name) for name in _ARRAYS])

    # ------------------------------------------------------------------------------ elements

    def _place(self, row: Value, column: Value) -> Value:
        """Where a vector of elements is held; those of the right side follow in a row."""
        return self.code.at(self.room, row * (2 * MOST) + column, self.vector)

    def _seen(self, row: Value, column: Value) -> Value:
        return self.code.load(self.vector, self._place(row, column))

    def _given(self, operand: str, first: Value, row: Value, column: Value) -> Value:
        """An element of 16 matrices of an operand."""
        apart, down, across = (self.count[f"{operand}_{step}"] for step in _STEPS)
        place = first * apart + row * down + column * across
        here = self.code.at(self.at[operand], place, self.kind)
        return self.code.gathered(self.vector, here, self.offsets(apart), None)

    def _take(self, operand: str, first: Value, beside: Value, wide: Value) -> None:
        """Read matrices of so many columns, to columns from `beside` on."""
        code = self.code
        with (
            code.counted(self.zero, self.count["size"]) as row,
            code.counted(self.zero, wide) as column,
        ):
            seen = self._given(operand, first, row, column)
            code.store(seen, self._place(row, beside + column))

    def _give(
        self, number: Value, first: Value, step: Value, place: Value, operand: str = "out"
    ) -> None:
        """Write an element of the results, at a place of each."""
        here = self.code.at(self.at[operand], first * step + place, self.kind)
        self.code.scattered(number, here, self.offsets(step), self.inside)

    # ---------------------------------------------------------------------------- elimination

    def _eliminate(self, wide: Value, first: Value | None = None) -> Variable:
        """Make rows of so many columns those of U, and right sides what is left; the sign.

        The rows that were exchanged are written for matrices from `first` on, and the factors are
        kept in the place of what they make zero.
        """
        code, size = self.code, self.count["size"]
        sign = code.variable(code.constant(self.vector, 1.0))
        with code.counted(self.zero, size) as k:
            chosen = self._largest(k)
            moved = chosen.differs(self.whole(k))
            sign.set(code.choose(moved, -sign.now, sign.now))
            if first is not None:
                here = code.at(self.at["b"], first * size + k, INT32)
                offsets = self.lanes * self.whole(size * 4)
                code.scattered(chosen + 1, here, offsets, self.inside)
            with code.when(code.any_of(moved)):
                self._exchange(k, chosen, k if first is None else self.zero, wide)
            pivot = self._seen(k, k)
            self._need(code.absolute(pivot) > 0.0)
            with code.counted(k + 1, size) as row:
                factor = self._seen(row, k) / pivot
                if first is not None:
                    code.store(factor, self._place(row, k))
                with code.counted(k + 1, wide) as column:
                    old = self._seen(row, column)
                    made = code.multiply_add(-factor, self._seen(k, column), old)
                    code.store(made, self._place(row, column))
        return sign

    def _largest(self, k: Value) -> Value:
        """The row, from `k` on, of the first of the largest elements of a column."""
        code = self.code
        best = code.variable(code.absolute(self._seen(k, k)))
        chosen = code.variable(self.whole(k))
        with code.counted(k + 1, self.count["size"]) as row:
            size = code.absolute(self._seen(row, k))
            is_larger = size > best.now
            best.set(code.choose(is_larger, size, best.now))
            chosen.set(code.choose(is_larger, self.whole(row), chosen.now))
        return chosen.now

    def _exchange(self, k: Value, chosen: Value, begin: Value, wide: Value) -> None:
        """Exchange a row with the one that each lane has chosen."""
        code = self.code
        with code.counted(k + 1, self.count["size"]) as row:
            is_it = chosen.equals(self.whole(row))
            with code.when(code.any_of(is_it)), code.counted(begin, wide) as column:
                one, other = (self._seen(each, column) for each in (k, row))
                code.store(code.choose(is_it, other, one), self._place(k, column))
                code.store(code.choose(is_it, one, other), self._place(row, column))

    def _need(self, is_good: Value) -> None:
        self.bad.set(self.code.choose(is_good, self.bad.now, 1.0))

    def _solve(self, first: Value) -> None:
        code, count = self.code, self.count
        size, columns = count["size"], count["columns"]
        self._take("b", first, size, columns)
        self._eliminate(size + columns)
        with code.counted(self.zero, size) as done, code.counted(self.zero, columns) as column:
            row = size - 1 - done
            total = code.variable(self._seen(row, size + column))
            with code.counted(row + 1, size) as known:
                factor = -self._seen(row, known)
                made = code.multiply_add(factor, self._seen(known, size + column), total.now)
                total.set(made)
            made = total.now / self._seen(row, row)
            code.store(made, self._place(row, size + column))
            self._give(made, first, size * columns, column * size + row)

    def _determinant(self, first: Value) -> None:
        code, size = self.code, self.count["size"]
        product = self._eliminate(size)
        with code.counted(self.zero, size) as k:
            product.set(product.now * self._seen(k, k))
        self._give(product.now, first, code.constant(INT64, 1), self.zero)

    def _log_determinant(self, first: Value) -> None:
        code, size = self.code, self.count["size"]
        logarithm = scalars.log if self.kind == FLOAT else doubles.natural_log
        sign = self._eliminate(size)
        total = code.variable(code.constant(self.vector, 0.0))
        with code.counted(self.zero, size) as k:
            pivot = self._seen(k, k)
            sign.set(code.choose(pivot < 0.0, -sign.now, sign.now))
            total.set(total.now + logarithm(code.absolute(pivot)))
        one = code.constant(INT64, 1)
        self._give(sign.now, first, one, self.zero, "b")
        self._give(total.now, first, one, self.zero)

    def _factors(self, first: Value) -> None:
        code, size = self.code, self.count["size"]
        self._eliminate(size, first)
        with code.counted(self.zero, size) as row, code.counted(self.zero, size) as column:
            made = self._seen(row, column)
            self._give(made, first, size * size, column * size + row)

    # ------------------------------------------------------------------------------ triangles

    def _triangle(self, first: Value) -> None:
        """Rows in the order in which they become known; a row of the room is one of the results."""
        code, count = self.code, self.count
        size, columns = count["size"], count["columns"]

        def place(row: Value, column: Value) -> Value:
            return code.at(self.room, row * columns + column, self.vector)

        with code.counted(self.zero, size) as step:
            row = self._in_order(step)
            with code.counted(self.zero, columns) as column:
                code.store(self._given("b", first, row, column), place(row, column))
            with code.counted(self.zero, step) as earlier:
                known = self._in_order(earlier)
                factor = self._given("a", first, row, known)
                with code.counted(self.zero, columns) as column:
                    old = code.load(self.vector, place(row, column))
                    part = code.load(self.vector, place(known, column))
                    code.store(old - part * factor, place(row, column))
            with code.when(count["unit"].equals(0)):
                pivot = self._given("a", first, row, row)
                with code.counted(self.zero, columns) as column:
                    here = place(row, column)
                    code.store(code.load(self.vector, here) / pivot, here)
            with code.counted(self.zero, columns) as column:
                made = code.load(self.vector, place(row, column))
                self._give(made, first, size * columns, column * size + row)

    def _in_order(self, step: Value) -> Value:
        return self.code.choose(self.count["upper"].equals(0), step, self.count["size"] - 1 - step)

    # ------------------------------------------------------------------------------- Cholesky

    def _cholesky(self, first: Value) -> None:
        code, size = self.code, self.count["size"]
        area, nothing = size * size, code.constant(self.vector, 0.0)
        with code.counted(self.zero, size) as k:
            with code.counted(self.zero, k) as row:
                self._give(nothing, first, area, k * size + row)
            with code.counted(k, size) as row:
                total = code.variable(self._seen(row, k))
                with code.counted(self.zero, k) as known:
                    factor = -self._seen(row, known)
                    total.set(code.multiply_add(factor, self._seen(k, known), total.now))
                code.store(total.now, self._place(row, k))
            pivot = self._seen(k, k)
            self._need(pivot > 0.0)
            root = called("sqrt", pivot)
            code.store(root, self._place(k, k))
            self._give(root, first, area, k * size + k)
            with code.counted(k + 1, size) as row:
                made = self._seen(row, k) / root
                code.store(made, self._place(row, k))
                self._give(made, first, area, k * size + row)
