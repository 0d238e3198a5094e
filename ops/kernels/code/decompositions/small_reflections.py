"""Q and R of many small matrices: a vector holds one element of 16 matrices.

Householder's reflections, as LAPACK chooses their signs (Golub and Van Loan, Matrix Computations,
5.1 and 5.2).  Where squares leave the range of numbers all of it is left to others.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run
from ..functions.arithmetic import called
from ..language.named_counts import counts_of
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, LANES, POINTER, Kind, Value
from ..loading.objects import kernel
from .matrix_lanes import MatrixLanes

__all__ = ["factored", "holds", "parts", "whole"]

_ROWS: Final = 32
_COLUMNS: Final = 16
_ROOM: Final = _ROWS * _COLUMNS
_FEW: Final = 3
"""Matrices up to which those of more than `_TINY` elements are quicker one by one."""
_TINY: Final = 64
_LEAST: Final = 1 << 13
"""Steps that are worth another thread."""
_COUNTS: Final = (
    *("matrices", "rows", "columns", "steps", "apart", "down", "across", "high", "wide"),
)
"""Matrices have so many rows and columns, and take so many reflections; elements lie so far from
those of the next matrix, row, column; R has so many rows and Q so many columns."""
_ARRAYS: Final = ("counts", "a", "tau", "left", "right", "flag")
_BOUNDS: Final = {"float": (1e-28, 1e34), "double": (1e-280, 1e300)}
"""Sums of squares between which none of them that counts was lost."""


def holds(a: Array, wide: int) -> bool:
    """Whether matrices [matrices, rows, columns] are done here, and so many columns of Q."""
    count, rows, columns = a.shape
    is_small = rows <= _ROWS and max(columns, wide) <= _COLUMNS
    return is_small and (count > _FEW or rows * columns <= _TINY)


def factored(a: Array) -> tuple[Array, Array] | None:
    """R, with the vectors of reflections below it, by columns, and the reflections' factors."""
    count, rows, columns = a.shape
    out = np.empty((count, columns, rows), a.dtype)
    tau = np.empty((count, min(rows, columns)), a.dtype)
    return (out, tau) if _done("factored", a, tau, tau, out, rows, 0) else None


def parts(a: Array, high: int, wide: int) -> tuple[Array | None, Array] | None:
    """Q with so many columns (`wide`; none if it is 0) and R with so many rows, by columns."""
    count, rows, columns = a.shape
    right = np.empty((count, columns, high), a.dtype)
    left = np.empty((count, wide, rows), a.dtype) if wide else None
    is_done = _done("parts", a, right, right if left is None else left, right, high, wide)
    return (left, right) if is_done else None


def whole(a: Array, tau: Array) -> Array:
    """The first columns of Q, as many as there are, by columns, of what `factored` gives."""
    count, rows, columns = a.shape
    left = np.empty((count, columns, rows), a.dtype)
    _done("whole", a, tau, left, left, rows, columns)
    return left


def _done(what: str, a: Array, tau: Array, left: Array, right: Array, high: int, wide: int) -> bool:
    count, rows, columns = a.shape
    steps = tau.shape[1] if what == "whole" else min(rows, columns)
    strides = [step // a.itemsize for step in a.strides]
    counts = counts_of(count, rows, columns, steps, *strides, high, wide)
    flag = new_flag()
    least = _LEAST // (LANES * rows * columns * steps // 4 + 1) + 1
    run(_kernel(what, a.dtype.char), -(-count // LANES), least, counts, a, tau, left, right, flag)
    return not flag[0]


@cache
def _kernel(what: str, letter: str) -> int:
    kind = FLOAT if letter == "f" else DOUBLE
    return kernel(
        "small_reflections", (what, letter), lambda target: _Reflections(target, kind).text(what)
    )


class _Reflections(MatrixLanes):
    """The steps for 16 matrices."""

    def __init__(self, target: Target, kind: Kind) -> None:
        super().__init__(target, kind, _ARRAYS, _COUNTS, _ROOM)
        self.factors = self.code.room(self.vector, _COLUMNS)

    def text(self, what: str) -> str:
        """The module of the kernel."""
        code, count = self.code, self.count
        with self.each() as first:
            self._take(first)
            if what == "whole":
                self._take_factors(first)
            else:
                self._reflect_all()
                self._give("right", first, count["columns"], count["high"], what == "parts")
            if what == "factored":
                self._give_factors(first)
            else:
                with code.when(count["wide"] > 0):
                    self._accumulate()
                    self._give("left", first, count["wide"], count["rows"], False)
        return code.kernel("small_reflections", [(POINTER, name) for name in _ARRAYS])

    # ------------------------------------------------------------------------------ elements

    def _place(self, row: Value, column: Value) -> Value:
        return self.code.at(self.room, column * self.count["rows"] + row, self.vector)

    def _seen(self, row: Value, column: Value) -> Value:
        return self.code.load(self.vector, self._place(row, column))

    def _factor(self, step: Value) -> Value:
        return self.code.at(self.factors, step, self.vector)

    def _take(self, first: Value) -> None:
        code, count = self.code, self.count
        offsets = self.offsets(count["apart"])
        with (
            code.counted(self.zero, count["columns"]) as column,
            code.counted(self.zero, count["rows"]) as row,
        ):
            place = first * count["apart"] + row * count["down"] + column * count["across"]
            here = code.at(self.at["a"], place, self.kind)
            code.store(code.gathered(self.vector, here, offsets, None), self._place(row, column))

    def _take_factors(self, first: Value) -> None:
        code, steps = self.code, self.count["steps"]
        with code.counted(self.zero, steps) as step:
            here = code.at(self.at["tau"], first * steps + step, self.kind)
            seen = code.gathered(self.vector, here, self.offsets(steps), None)
            code.store(seen, self._factor(step))

    def _give_factors(self, first: Value) -> None:
        code, steps = self.code, self.count["steps"]
        with code.counted(self.zero, steps) as step:
            here = code.at(self.at["tau"], first * steps + step, self.kind)
            made = code.load(self.vector, self._factor(step))
            code.scattered(made, here, self.offsets(steps), self.inside)

    def _give(self, array: str, first: Value, lines: Value, size: Value, is_half: bool) -> None:
        """Write columns of so many elements, zeros in the place of those below the diagonal."""
        code, area = self.code, lines * size
        offsets = self.offsets(area)
        with code.counted(self.zero, lines) as column, code.counted(self.zero, size) as row:
            made = self._seen(row, column)
            if is_half:
                made = code.choose(row > column, self.nothing, made)
            here = code.at(self.at[array], first * area + column * size + row, self.kind)
            code.scattered(made, here, offsets, self.inside)

    # --------------------------------------------------------------------------- reflections

    def _reflect_all(self) -> None:
        """Make the columns of R, with the vectors below the diagonal."""
        code, count = self.code, self.count
        low, high = _BOUNDS[self.kind.element]
        with code.counted(self.zero, count["steps"]) as step:
            squares, sizes = code.variable(self.nothing), code.variable(self.nothing)
            with code.counted(step + 1, count["rows"]) as row:
                seen = self._seen(row, step)
                squares.set(code.multiply_add(seen, seen, squares.now))
                sizes.set(sizes.now + code.absolute(seen))
            own = self._seen(step, step)
            total = code.multiply_add(own, own, squares.now)
            is_zero = sizes.now.equals(0.0)
            is_good = (total > low) & (total < high) | is_zero & own.equals(own)
            self.bad.set(code.choose(is_good, self.bad.now, 1.0))
            length = called("sqrt", total)
            made = -code.call(f"llvm.copysign.{self.vector.suffix}", self.vector, [length, own])
            tau = code.choose(is_zero, 0.0, (made - own) / made)
            scale = code.choose(is_zero, 0.0, 1.0 / (own - made))
            code.store(code.choose(is_zero, own, made), self._place(step, step))
            code.store(tau, self._factor(step))
            with code.counted(step + 1, count["rows"]) as row:
                code.store(self._seen(row, step) * scale, self._place(row, step))
            with code.counted(step + 1, count["columns"]) as column:
                self._reflect(step, column, tau)

    def _reflect(self, step: Value, column: Value, tau: Value) -> None:
        """Reflect a column by the vector of a step, whose first element is 1."""
        code, rows = self.code, self.count["rows"]
        own = self._seen(step, column)
        total = code.variable(own)
        with code.counted(step + 1, rows) as row:
            seen = self._seen(row, step), self._seen(row, column)
            total.set(code.multiply_add(*seen, total.now))
        less = -(total.now * tau)
        code.store(own + less, self._place(step, column))
        with code.counted(step + 1, rows) as row:
            old = self._seen(row, column)
            made = code.multiply_add(self._seen(row, step), less, old)
            code.store(made, self._place(row, column))

    def _accumulate(self) -> None:
        """Put Q in the place of the vectors, the last reflection first."""
        code, count = self.code, self.count
        steps, rows, one = count["steps"], count["rows"], code.constant(self.vector, 1.0)
        with code.counted(steps, count["wide"]) as column:
            with code.counted(self.zero, rows) as row:
                code.store(self.nothing, self._place(row, column))
            code.store(one, self._place(column, column))
        with code.counted(self.zero, steps) as done:
            step = steps - 1 - done
            tau = code.load(self.vector, self._factor(step))
            with code.counted(step + 1, count["wide"]) as column:
                self._reflect(step, column, tau)
            with code.counted(step + 1, rows) as row:
                code.store(-(self._seen(row, step) * tau), self._place(row, step))
            code.store(one - tau, self._place(step, step))
            with code.counted(self.zero, step) as row:
                code.store(self.nothing, self._place(row, step))
