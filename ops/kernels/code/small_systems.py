"""Equations, determinants and Cholesky's factors of many small matrices: a vector holds one element
of 16 matrices, which go through the same steps.

Rows are exchanged lane by lane for the largest pivot.  Where a pivot is zero or no number, or a
diagonal not positive, all of it is left to who knows what to say of that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from ...memory.dtype import Array
from .arithmetic import called
from .objects import kernel
from .run import run
from .target import Target
from .text import DOUBLE, FLOAT, INT32, INT64, LANES, POINTER, Code, Kind, Value

__all__ = ["MOST", "cholesky", "determinants", "solved"]

MOST: Final = 8
"""Rows of a matrix, and columns of a right side, at most."""
_LEAST: Final = 1 << 14
"""Multiplications that are worth another thread."""
_COUNTS: Final = ("matrices", "size", "columns", "beside")
"""A matrix has so many rows; the right side has so many columns, and so many elements lie from that
of one matrix to the next one's."""


def solved(a: Array, b: Array) -> Any:
    """X [matrices, rows, columns] of A X = B, which lies by columns; None if one is singular.

    Both are of one dtype, float32 or float64, and in one piece; B may be one for all.  No other
    thread can change them, as in what follows.
    """
    count, columns = len(a), b.shape[2]
    out = np.empty((count, columns, a.shape[1]), a.dtype)
    beside = 0 if len(b) == 1 else b.shape[1] * columns
    made = _done("solve", a, b, out, columns, beside)
    return out.swapaxes(1, 2) if made else None


def determinants(a: Array) -> Any:
    """The determinants of matrices in one piece; None if one is singular."""
    out = np.empty(len(a), a.dtype)
    return out if _done("determinant", a, a, out, 0, 0) else None


def cholesky(a: Array) -> Any:
    """The lower factors of matrices in one piece, which lie by columns; None if there is none."""
    out = np.empty(a.shape, a.dtype)
    return out.swapaxes(1, 2) if _done("cholesky", a, a, out, 0, 0) else None


def _done(what: str, a: Array, b: Array, out: Array, columns: int, beside: int) -> bool:
    count, size = len(a), a.shape[1]
    least = _LEAST // (LANES * size * size * (size + columns)) + 1
    counts, flag = _counts(count, size, columns, beside), np.zeros(1, np.int64)
    run(_kernel(what, a.dtype.char), -(-count // LANES), least, counts, a, b, out, flag)
    return not flag[0]


@cache
def _kernel(what: str, letter: str) -> int:
    return kernel("small_systems", (what, letter), lambda target: _text(target, what, letter))


def _counts(*numbers: int) -> Array:
    found = np.array(numbers, np.int64)
    found.setflags(write=False)
    return found


def _text(target: Target, what: str, letter: str) -> str:
    return _Systems(target, FLOAT if letter == "f" else DOUBLE).text(what)


class _Systems:
    """The steps for 16 matrices."""

    def __init__(self, target: Target, kind: Kind) -> None:
        self.code = code = Code(target)
        self.kind, self.vector = kind, kind.of_lanes(LANES)
        self.at = {name: code.argument(POINTER, name) for name in ("counts", *_OPERANDS)}
        self.count = {
            name: code.load(INT64, code.at(self.at["counts"], place, INT64))
            for place, name in enumerate(_COUNTS)
        }
        self.zero = code.constant(INT64, 0)
        self.room = code.room(self.vector, 2 * MOST * MOST)

    def text(self, what: str) -> str:
        """The module of the kernel."""
        code, count = self.code, self.count
        steps: dict[str, Callable[[Value], None]] = {
            "solve": self._solve,
            "determinant": self._determinant,
            "cholesky": self._cholesky,
        }
        with code.units() as unit:
            first = unit * LANES
            left = code.lesser(count["matrices"] - first, code.constant(INT64, LANES))
            self.inside = code.first(left)
            order, last = code.order(INT32.of_lanes(LANES)), self._whole(left - 1)
            self.lanes = code.choose(order < last, order, last)
            self.bad = code.variable(code.constant(self.vector, 0.0))
            area = count["size"] * count["size"]
            self._take(self.at["a"], first * area, area, self.zero, count["size"])
            steps[what](first)
            wrong = self.inside & self.bad.now.differs(0.0)
            with code.when(code.any_of(wrong), rarely=True):
                code.store(code.constant(INT64, 1), self.at["flag"])
        return code.kernel("small_systems", [(POINTER, name) for name in ("counts", *_OPERANDS)])

    # ------------------------------------------------------------------------------ elements

    def _whole(self, number: Value) -> Value:
        return self.code.spread(number.converted("trunc", INT32), LANES)

    def _offsets(self, step: Value) -> Value:
        """The bytes to each lane's matrix, which lie so many elements apart."""
        return self.lanes * self._whole(step * _SIZES[self.kind.element])

    def _place(self, row: Value, column: Value) -> Value:
        """Where a vector of elements is held; those of the right side follow in a row."""
        return self.code.at(self.room, row * (2 * MOST) + column, self.vector)

    def _seen(self, row: Value, column: Value) -> Value:
        return self.code.load(self.vector, self._place(row, column))

    def _take(self, array: Value, first: Value, step: Value, beside: Value, wide: Value) -> None:
        """Read matrices of so many columns, to columns from `beside` on."""
        code, begin, offsets = self.code, self.code.at(array, first, self.kind), self._offsets(step)
        with (
            code.counted(self.zero, self.count["size"]) as row,
            code.counted(self.zero, wide) as column,
        ):
            here = code.at(begin, row * wide + column, self.kind)
            seen = code.gathered(self.vector, here, offsets, None)
            code.store(seen, self._place(row, beside + column))

    def _give(self, number: Value, first: Value, step: Value, place: Value) -> None:
        """Write an element of the results, at a place of each."""
        here = self.code.at(self.at["out"], first * step + place, self.kind)
        self.code.scattered(number, here, self._offsets(step), self.inside)

    # ---------------------------------------------------------------------------- elimination

    def _eliminate(self, wide: Value) -> Any:
        """Make rows of so many columns those of U, and right sides what is left; the sign."""
        code, size = self.code, self.count["size"]
        sign = code.variable(code.constant(self.vector, 1.0))
        with code.counted(self.zero, size) as k:
            with code.counted(k + 1, size) as row:
                one, other = (code.absolute(self._seen(each, k)) for each in (k, row))
                is_larger = other > one
                sign.set(code.choose(is_larger, -sign.now, sign.now))
                with code.counted(k, wide) as column:
                    pair = [self._seen(each, column) for each in (k, row)]
                    for each, (new, old) in zip((k, row), (pair[::-1], pair), strict=True):
                        made = code.choose(is_larger, new, old)
                        code.store(made, self._place(each, column))
            pivot = self._seen(k, k)
            self._need(code.absolute(pivot) > 0.0)
            with code.counted(k + 1, size) as row:
                factor = -(self._seen(row, k) / pivot)
                with code.counted(k + 1, wide) as column:
                    old = self._seen(row, column)
                    made = code.multiply_add(factor, self._seen(k, column), old)
                    code.store(made, self._place(row, column))
        return sign

    def _need(self, is_good: Value) -> None:
        self.bad.set(self.code.choose(is_good, self.bad.now, 1.0))

    def _solve(self, first: Value) -> None:
        code, count = self.code, self.count
        size, columns, beside = (count[name] for name in ("size", "columns", "beside"))
        self._take(self.at["b"], first * beside, beside, size, columns)
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


_OPERANDS: Final = ("a", "b", "out", "flag")
_SIZES: Final = {"float": 4, "double": 8}
