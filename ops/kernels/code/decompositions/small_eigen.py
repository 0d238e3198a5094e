"""Eigenvalues and -vectors of many small symmetric matrices; a vector holds a column.

Reflections make a matrix tridiagonal, and implicit steps of QL or QR, whichever end is larger, make
that diagonal (Golub and Van Loan, Matrix Computations, 8.3), in the order and with the signs that
LAPACK's `syevd` has for small matrices.  What the steps go by is computed in float64.  Where
numbers may leave its range, or steps find no end, all of it is left to others.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run
from ..functions.arithmetic import called
from ..language.named_counts import counts_of, named_counts
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, INT32, INT64, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel

__all__ = ["MOST", "eigen"]

MOST: Final = 16
"""Rows at most."""
_LEAST: Final = 1 << 12
"""Steps that are worth another thread."""
_COUNTS: Final = ("size", "apart", "down", "across")
_ARRAYS: Final = ("counts", "a", "values", "vectors", "flag")
_PRECISION: Final = {"float": 2.0**-24, "double": 2.0**-53}
_BOUNDS: Final = {"float": (1e-15, 1e15), "double": (1e-120, 1e120)}
"""Sums of sizes between which no square that counts is lost."""
_TINY: Final = 1e-140
_TURNS: Final = 30
"""Steps for each eigenvalue after which there is no hope."""


def eigen(a: Array, vectors: bool) -> tuple[Array, Array] | None:
    """Eigenvalues, in order, and vectors by columns (else the values again), of symmetric matrices
    [matrices, rows, columns] whose lower halves count; None if they were not found."""
    count, size = a.shape[:2]
    values = np.empty((count, size), a.dtype)
    found = np.empty((count, size, size), a.dtype) if vectors else values
    counts = counts_of(size, *(step // a.itemsize for step in a.strides))
    flag = new_flag()
    lanes = 4 if size <= 4 else 8 if size <= 8 else 16
    least = _LEAST // (size * size * size) + 1
    run(_kernel(lanes, vectors, a.dtype.char), count, least, counts, a, values, found, flag)
    return None if flag[0] else (values, found)


@cache
def _kernel(lanes: int, vectors: bool, letter: str) -> int:
    kind = FLOAT if letter == "f" else DOUBLE
    return kernel(
        "small_eigen",
        (lanes, int(vectors), letter),
        lambda target: _Eigen(target, kind, lanes, vectors).text(),
    )


class _Eigen:
    """The steps for one matrix."""

    def __init__(self, target: Target, kind: Kind, lanes: int, vectors: bool) -> None:
        self.code = code = Code(target)
        self.kind, self.vector, self.vectors = kind, kind.of_lanes(lanes), vectors
        self.precision = _PRECISION[kind.element]
        self.at = {name: code.argument(POINTER, name) for name in _ARRAYS}
        self.count = named_counts(code, self.at["counts"], _COUNTS)
        self.size = self.count["size"]
        self.zero = code.constant(INT64, 0)
        self.lane = code.order(INT32.of_lanes(lanes))
        self.inside = code.first(self.size, lanes)
        self.columns = code.room(self.vector, MOST)
        self.found = code.room(self.vector, MOST)
        self.v, self.w = code.room(self.vector), code.room(self.vector)
        self.diagonal, self.beside = code.room(DOUBLE, MOST), code.room(DOUBLE, MOST)

    def text(self) -> str:
        """The module of the kernel; a range is one of matrices."""
        code = self.code
        with code.units() as unit:
            self.bad = code.variable(code.constant(INT64, 0))
            self._take(unit)
            with code.counted(self.zero, self.size - 1) as step:
                self._reflect(step)
            last = self.size - 1
            code.store(self._element(self.columns, last, last), self._d(last))
            with code.when(self.bad.now.equals(0)):
                self._make_diagonal()
                self._sort()
            self._give(unit)
            with code.when(self.bad.now.differs(0), rarely=True):
                code.store(code.constant(INT64, 1), self.at["flag"])
        return code.kernel("small_eigen", [(POINTER, name) for name in _ARRAYS])

    # ------------------------------------------------------------------------------ elements

    def _whole(self, number: Value) -> Value:
        return self.code.spread(number.converted("trunc", INT32), self.vector.lanes)

    def _spread(self, number: Value) -> Value:
        return self.code.spread(number, self.vector.lanes)

    def _wide(self, number: Value) -> Value:
        return number.converted("fpext", DOUBLE) if self.kind == FLOAT else number

    def _narrow(self, number: Value) -> Value:
        return number.converted("fptrunc", FLOAT) if self.kind == FLOAT else number

    def _column(self, columns: Value, place: Value) -> Value:
        return self.code.at(columns, place, self.vector)

    def _one(self, column: Value, row: Value) -> Value:
        """An element of a vector in memory."""
        return self.code.load(self.kind, self.code.at(column, row, self.kind))

    def _element(self, columns: Value, row: Value, column: Value) -> Value:
        return self._wide(self._one(self._column(columns, column), row))

    def _d(self, place: Value) -> Value:
        return self.code.at(self.diagonal, place, DOUBLE)

    def _e(self, place: Value) -> Value:
        return self.code.at(self.beside, place, DOUBLE)

    def _read(self, address: Value) -> Value:
        return self.code.load(DOUBLE, address)

    def _total(self, vector: Value) -> Value:
        """The sum of a vector's elements, in halves."""
        code, lanes = self.code, vector.kind.lanes
        while lanes > 1:
            lanes //= 2
            low, high = (
                code.shuffled(vector, vector, range(first, first + lanes)) for first in (0, lanes)
            )
            vector = low + high
        return code.alone(vector)

    def _signed(self, size: Value, like: Value) -> Value:
        return self.code.call("llvm.copysign.f64", DOUBLE, [size, like])

    def _take(self, unit: Value) -> None:
        """Read a matrix; its upper half is the lower one turned."""
        code, count = self.code, self.count
        begin = code.at(self.at["a"], unit * count["apart"], self.kind)
        down, across = self._whole(count["down"]), self._whole(count["across"])
        sizes = code.variable(code.constant(self.vector, 0.0))
        with code.counted(self.zero, self.size) as place:
            own = self._whole(place)
            low, high = self.lane * down + own * across, own * down + self.lane * across
            steps = code.choose(self.lane < own, high, low)
            offsets = steps * (4 if self.kind == FLOAT else 8)
            seen = code.gathered(self.vector, begin, offsets, self.inside)
            sizes.set(sizes.now + code.absolute(seen))
            code.store(seen, self._column(self.columns, place))
            one = code.choose(self.lane.equals(own), code.constant(self.vector, 1.0), 0.0)
            code.store(one, self._column(self.found, place))
        least, most = _BOUNDS[self.kind.element]
        total = self._wide(self._total(sizes.now))
        is_good = (total > least) & (total < most) | total.equals(0.0)
        self.bad.set(code.choose(is_good, self.bad.now, 1))

    def _give(self, unit: Value) -> None:
        code = self.code
        with code.counted(self.zero, self.size) as place:
            line = unit * self.size + place
            code.store(
                self._narrow(self._read(self._d(place))),
                code.at(self.at["values"], line, self.kind),
            )
            if self.vectors:
                made = code.load(self.vector, self._column(self.found, place))
                goal = code.at(self.at["vectors"], line * self.size, self.kind)
                code.store_if(made, goal, self.inside)

    # --------------------------------------------------------------------------- tridiagonal

    def _reflect(self, step: Value) -> None:
        """Make a column 0 but for two elements, by a reflection from both sides."""
        code = self.code
        column = code.load(self.vector, self._column(self.columns, step))
        own, zeros = self._whole(step), code.constant(self.vector, 0.0)
        below = code.choose(self.lane > own + 1, column, zeros)
        squares = self._total(below * below)
        alpha = self._element(self.columns, step + 1, step)
        rest = self._wide(squares)
        length = called("sqrt", code.multiply_add(alpha, alpha, rest))
        is_zero = rest.equals(0.0)
        beta = code.choose(is_zero, alpha, -self._signed(length, alpha))
        tau = code.choose(is_zero, 0.0, (beta - alpha) / beta)
        code.store(self._element(self.columns, step, step), self._d(step))
        code.store(beta, self._e(step))
        with code.when(is_zero.equals(0)):
            scale = self._spread(self._narrow(1.0 / (alpha - beta)))
            made = below * scale
            v = code.choose(self.lane.equals(own + 1), code.constant(self.vector, 1.0), made)
            code.store(v, self.v)
            self._from_both_sides(step, v, self._spread(self._narrow(tau)))

    def _from_both_sides(self, step: Value, v: Value, tau: Value) -> None:
        code = self.code
        seen, turned = (code.variable(code.constant(self.vector, 0.0)) for _ in range(2))
        with code.counted(step + 1, self.size) as place:
            part = self._spread(self._one(self.v, place))
            old = code.load(self.vector, self._column(self.columns, place))
            seen.set(code.multiply_add(old, part, seen.now))
            if self.vectors:
                old = code.load(self.vector, self._column(self.found, place))
                turned.set(code.multiply_add(old, part, turned.now))
        p = seen.now * tau
        p = code.choose(self.lane > self._whole(step), p, 0.0)
        half = self._spread(self._total(p * v)) * tau * 0.5
        w = p - half * v
        code.store(w, self.w)
        u = turned.now * tau
        with code.counted(step + 1, self.size) as place:
            of_v, of_w = (self._spread(self._one(each, place)) for each in (self.v, self.w))
            goal = self._column(self.columns, place)
            less = code.multiply_add(-v, of_w, code.load(self.vector, goal))
            code.store(code.multiply_add(-w, of_v, less), goal)
            if self.vectors:
                goal = self._column(self.found, place)
                code.store(code.multiply_add(-u, of_v, code.load(self.vector, goal)), goal)

    # ------------------------------------------------------------------------------ diagonal

    def _make_diagonal(self) -> None:
        """Take the parts between elements that are 0 beside the diagonal, one after the other."""
        code = self.code
        begin, turns = code.variable(self.zero), code.variable(self.zero)
        most = self.size * _TURNS
        with code.repeated(lambda: (begin.now < self.size) & (turns.now < most)):
            end, goes_on = code.variable(begin.now), code.variable(code.constant(INT64, 1))
            with code.repeated(lambda: (end.now < self.size - 1) & goes_on.now.differs(0)):
                size = code.absolute(self._read(self._e(end.now)))
                ends = (code.absolute(self._read(self._d(end.now + by))) for by in (0, 1))
                one, other = (called("sqrt", each) for each in ends)
                is_end = (size <= one * other * self.precision) | size.equals(0.0)
                with code.when(is_end):
                    code.store(code.constant(DOUBLE, 0.0), self._e(end.now))
                    goes_on.set(self.zero)
                end.set(code.choose(is_end, end.now, end.now + 1))
            near, far = code.variable(begin.now), end.now
            begin.set(far + 1)
            first, last = (code.absolute(self._read(self._d(each))) for each in (near.now, far))
            turns_around = last < first
            with code.when(turns_around):
                self._turn_around(near.now, far)
            with code.repeated(lambda: (near.now < far) & (turns.now < most)):
                self._advance(near, far, turns_around, turns)
        self.bad.set(code.choose(turns.now < most, self.bad.now, 1))

    def _turn_around(self, first: Value, last: Value) -> None:
        """Put a part the other way around, so that steps go to its larger end."""
        half = (last - first + 1) >> 1
        with self.code.counted(self.zero, half) as by:
            self._swap(self.diagonal, DOUBLE, first + by, last - by)
            if self.vectors:
                self._swap(self.found, self.vector, first + by, last - by)
        with self.code.counted(self.zero, (last - first) >> 1) as by:
            self._swap(self.beside, DOUBLE, first + by, last - 1 - by)

    def _swap(self, room: Value, kind: Kind, one: Value, other: Value) -> None:
        code = self.code
        ends = [code.at(room, each, kind) for each in (one, other)]
        seen = [code.load(kind, end) for end in ends]
        for value, end in zip(seen, reversed(ends), strict=True):
            code.store(value, end)

    def _advance(self, near: Variable, far: Value, turned_around: Value, turns: Variable) -> None:
        """Find the next eigenvalue, or two, or make a step."""
        code, square = self.code, self.precision * self.precision
        middle, goes_on = code.variable(near.now), code.variable(code.constant(INT64, 1))
        with code.repeated(lambda: (middle.now < far) & goes_on.now.differs(0)):
            beside = self._e(middle.now)
            size = self._read(beside)
            one, other = (code.absolute(self._read(self._d(middle.now + by))) for by in (0, 1))
            is_end = size * size <= one * square * other + 1e-300
            with code.when(is_end):
                code.store(code.constant(DOUBLE, 0.0), beside)
                goes_on.set(self.zero)
            middle.set(code.choose(is_end, middle.now, middle.now + 1))
        apart = middle.now - near.now
        with code.when(apart > 1):
            turns.set(turns.now + 1)
            self._sweep(near.now, middle.now)
        with code.when(apart.equals(1)):
            self._two(near.now, turned_around)
        found = code.choose(apart.equals(1), code.constant(INT64, 2), 1)
        near.set(code.choose(apart > 1, near.now, near.now + found))

    def _sweep(self, near: Value, middle: Value) -> None:
        """An implicit step with Wilkinson's shift, from the middle to the near end."""
        code, zero = self.code, self.code.constant(DOUBLE, 0.0)
        beside = self._e(near)
        own, size = self._read(self._d(near)), self._read(beside)
        g = (self._read(self._d(near + 1)) - own) / (2.0 * size)
        shift = size / (g + self._signed(called("sqrt", code.multiply_add(g, g, 1.0)), g))
        left = code.variable(self._read(self._d(middle)) - own + shift)
        c, s, p = code.variable(zero + 1.0), code.variable(zero + 1.0), code.variable(zero)
        with code.counted(self.zero, middle - near) as done:
            outer = middle - done
            inner = outer - 1
            size = self._read(self._e(inner))
            f, b = s.now * size, c.now * size
            cosine, sine, r = self._rotation(left.now, f)
            with code.when(done.differs(0)):
                code.store(r, self._e(outer))
            g = self._read(self._d(outer)) - p.now
            r = (self._read(self._d(inner)) - g) * sine + 2.0 * cosine * b
            p.set(sine * r)
            code.store(g + p.now, self._d(outer))
            left.set(cosine * r - b)
            c.set(cosine)
            s.set(sine)
            self._rotate(outer, inner, cosine, sine)
        code.store(self._read(self._d(near)) - p.now, self._d(near))
        code.store(left.now, beside)

    def _rotation(self, f: Value, g: Value) -> tuple[Value, Value, Value]:
        """Cosine and sine of what turns (f, g) into (r, 0), and r, which has the sign of f."""
        code = self.code
        sizes = [code.absolute(each) for each in (f, g)]
        is_tiny = (sizes[0] < _TINY) & (sizes[1] < _TINY)  # its square would be lost
        one = code.constant(DOUBLE, 1.0)
        up, down = code.choose(is_tiny, 2.0**900, one), code.choose(is_tiny, 2.0**-900, one)
        f, g = f * up, g * up
        length = called("sqrt", code.multiply_add(f, f, g * g))
        r, still = self._signed(length, f), g.equals(0.0)
        is_right = f.equals(0.0)
        cosine = code.choose(still, 1.0, code.absolute(f) / length)
        sine = code.choose(
            still, 0.0, code.choose(is_right, self._signed(code.constant(DOUBLE, 1.0), g), g / r)
        )
        r = code.choose(still, f, code.choose(is_right, code.absolute(g), r))
        return cosine, sine, r * down

    def _rotate(self, one: Value, other: Value, cosine: Value, sine: Value) -> None:
        """Turn two columns of the vectors."""
        if not self.vectors:
            return
        code = self.code
        c, s = (self._spread(self._narrow(each)) for each in (cosine, sine))
        ends = [self._column(self.found, each) for each in (one, other)]
        x, y = (code.load(self.vector, end) for end in ends)
        code.store(code.multiply_add(c, x, s * y), ends[0])
        code.store(code.multiply_add(c, y, -(s * x)), ends[1])

    def _two(self, near: Value, turned_around: Value) -> None:
        """The eigenvalues of two rows that are left, the larger one in size first."""
        code = self.code
        low, high = (
            code.choose(turned_around, near + 1, near),
            code.choose(turned_around, near, near + 1),
        )
        a, b, c = (self._read(each) for each in (self._d(low), self._e(near), self._d(high)))
        total, gap, twice = a + c, a - c, b + b
        tall = code.absolute(twice)
        is_first = code.absolute(a) > code.absolute(c)
        most, least = code.choose(is_first, a, c), code.choose(is_first, c, a)
        root = called("sqrt", code.multiply_add(gap, gap, twice * twice))
        is_negative, is_zero = total < 0.0, total.equals(0.0)
        first = 0.5 * code.choose(is_negative, total - root, total + root)
        second = (most / first) * least - (b / first) * b
        code.store(first, self._d(low))
        code.store(code.choose(is_zero, -0.5 * root, second), self._d(high))
        code.store(code.constant(DOUBLE, 0.0), self._e(near))
        is_up = gap >= 0.0
        cs = code.choose(is_up, gap + root, gap - root)
        by_cs = code.absolute(cs) > tall
        quotient = code.choose(by_cs, -twice / cs, -cs / twice)
        part = 1.0 / called("sqrt", code.multiply_add(quotient, quotient, 1.0))
        is_still = tall.equals(0.0) & by_cs.equals(0)
        cosine = code.choose(is_still, 1.0, code.choose(by_cs, quotient * part, part))
        sine = code.choose(is_still, 0.0, code.choose(by_cs, part, quotient * part))
        turned = is_up.equals(is_negative.equals(0))
        cosine, sine = (
            code.choose(turned, -sine, cosine),
            code.choose(turned, cosine, sine),
        )
        self._rotate(high, low, cosine, -sine)

    # --------------------------------------------------------------------------------- order

    def _sort(self) -> None:
        """The least of what is left comes next."""
        code = self.code
        with code.counted(self.zero, self.size) as place:
            least, chosen = code.variable(self._read(self._d(place))), code.variable(place)
            with code.counted(place + 1, self.size) as other:
                seen = self._read(self._d(other))
                is_less = seen < least.now
                least.set(code.choose(is_less, seen, least.now))
                chosen.set(code.choose(is_less, other, chosen.now))
            code.store(self._read(self._d(place)), self._d(chosen.now))
            code.store(least.now, self._d(place))
            self._swap(self.found, self.vector, place, chosen.now)
