"""The first elements in order, of contiguous arrays: the k largest of rows, or the largest alone.

NaN is larger than all numbers, an extreme wherever it is, and among equals the first comes first.
Rows are gone through from their first element on, whoever shares the work.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from ....memory.dtype import Array, Dtype
from ..calls.run import run
from ..elementwise.arrays import LETTERS, cast
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel
from ..rows.along import ELEMENTS, parts_of, strip_count, strips

__all__ = ["MOST", "extreme", "top"]

MOST: Final = 64
"""Elements that are kept in order while looking."""
_PER_THREAD: Final = 1 << 15
"""Elements that are worth another thread."""
_LONG: Final = 1 << 16
"""Elements of a row, from which it is worth more than one thread."""
_MOST: Final = 1 << 31
_NEAR: Final = 8
"""Places that an element is carried past without a branch."""
_INDICES: Final = INT32.of_lanes(LANES)


def top(x: Array, k: int, operation: str) -> tuple[object, object] | None:
    """The k ("max") largest or ("min") smallest of every row in order, and their places.

    The array is contiguous, of floats or whole numbers; None for other dtypes.

    Raises:
        ValueError: k is not from 1 to the length of a row, or more than `MOST`.
    """
    own, x = x.dtype, _widened(x[...])  # which no other thread can change
    size, element = x.shape[-1], ELEMENTS.get(x.dtype.str[1:])
    if not 0 < k <= min(size, MOST):
        raise ValueError(f"there are no {k} of {size}")
    if element is None:
        return None
    shape = (*x.shape[:-1], k)
    values, places = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    _look("top", operation, element, x, x.ndim - 1, k, values, places)
    return values if own is x.dtype else cast(values, own), places


def extreme(x: Array, axis: int, operation: str) -> tuple[object, object] | None:
    """The largest ("max") or smallest ("min") along a dimension that is not empty, without it, and
    its place.

    The array is contiguous, of floats or whole numbers; None for others, and for few long rows.
    """
    own, x = x.dtype, _widened(x[...])
    element = ELEMENTS.get(x.dtype.str[1:])
    size = x.shape[axis]
    if element is None or size >= _MOST or (size >= _LONG and x.size < 4 * size):
        return None
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    values, places = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    form = "strips" if parts_of(x.shape, axis)[2] > 1 else "rows"
    _look(form, operation, element, x, axis, 1, values, places)
    return values if own is x.dtype else cast(values, own), places


_WIDER: Final[dict[str, Dtype]] = {
    **dict.fromkeys("eEbhB", np.dtype(np.float32)),
    "i": np.dtype(np.int64),
}
"""What holds all numbers of a dtype, and is ranked by kernels."""


def _widened(x: Array) -> Any:
    """An array in a dtype that is ranked, if there is one for it."""
    wider = _WIDER.get(LETTERS[x.dtype])
    return x if wider is None else cast(x, wider)


def _look(
    form: str,
    operation: str,
    element: str,
    x: Array,
    axis: int,
    k: int,
    values: object,
    places: object,
) -> None:
    outer, size, inner = parts_of(x.shape, axis)
    units = strip_count(outer, inner) if form == "strips" else outer
    least = _PER_THREAD * units // max(1, x.size) + 1
    looking = _kernel(form, operation, element)
    run(looking, units, least, size, inner, k, x, values, places)


@cache
def _kernel(*key: str) -> int:
    return kernel("ranks", key, lambda target: ranks_text(target, *key))


def ranks_text(target: Target, form: str, operation: str, element: str) -> str:
    """The module of a kernel: "top" and "rows" over rows, "strips" over strips of columns."""
    made = _Ranks(target, form == "top", operation, Kind(element))
    {"top": made.top, "rows": made.rows, "strips": made.strips}[form]()
    counts = [(INT64, name) for name in ("size", "inner", "k")]
    return made.code.kernel("ranks", [*counts, *((POINTER, n) for n in ("x", "values", "places"))])


class _Ranks:
    """The code of a kernel."""

    def __init__(self, target: Target, is_top: bool, operation: str, element: Kind) -> None:
        self.code = code = Code(target)
        self.is_top, self.is_max, self.element = is_top, operation == "max", element
        self.size, self.inner = code.argument(INT64, "size"), code.argument(INT64, "inner")
        self.zero = code.constant(INT64, 0)

    def address(self, name: str, index: Value) -> Value:
        """Where an element of an array is."""
        kind = INT64 if name == "places" else self.element
        return self.code.at(self.code.argument(POINTER, name), index, kind)

    def above(self, one: Value, other: Value) -> Value:
        """Whether one stands before another."""
        before = one > other if self.is_max else one < other
        if not self.element.is_real:
            return before
        if self.is_max or not self.is_top:
            return before | (one.is_nan() & other.equals(other))
        return before | (other.is_nan() & one.equals(one))

    # ---------------------------------------------------------------------------- the k largest

    def top(self) -> None:
        """Keep the first ones in order; what is behind the last of them is passed by in vectors."""
        code, k = self.code, self.code.argument(INT64, "k")
        with code.units() as row:
            line, kept = row * self.size, row * k
            with code.counted(self.zero, k) as at:
                self._insert(line, kept, at, at)
            last = self.address("values", kept + (k - 1))

            def visit(columns: list[Value], mask: Value | None) -> None:
                (at,) = columns
                kind = self.element.of_lanes(LANES)
                seen = code.load_if(kind, self.address("x", line + at), mask)
                found = self.above(seen, code.spread(code.load(self.element, last)))
                if mask is not None:
                    found = found & mask
                with code.when(code.any_of(found), rarely=True):
                    end = code.lesser(at + LANES, self.size)
                    with code.counted(at, end) as each:
                        new = code.load(self.element, self.address("x", line + each))
                        with code.when(self.above(new, code.load(self.element, last))):
                            self._insert(line, kept, each, k - 1)

            code.vectors(k, self.size, 1, visit)

    def _insert(self, line: Value, kept: Value, index: Value, at: Value) -> None:
        """Put an element in its place among those that are kept; the one at `at` goes."""
        code = self.code
        new = code.load(self.element, self.address("x", line + index))
        carried = code.variable(new), code.variable(index)
        with code.when(at < _NEAR):
            self._carry(carried, kept, at)
        with code.when(at >= _NEAR):  # branches that are foreseen are quicker than moving all
            place = code.variable(at)
            with code.counted(self.zero, at) as back:
                before = code.load(self.element, self.address("values", kept + (at - back - 1)))
                with code.when(self.above(new, before)):
                    self._write(kept + (at - back), before, self._place_at(kept + (at - back - 1)))
                    place.set(at - back - 1)
            self._write(kept + place.now, new, index)

    def _place_at(self, index: Value) -> Value:
        return self.code.load(INT64, self.address("places", index))

    def _write(self, at: Value, value: Value, place: Value) -> None:
        self.code.store(value, self.address("values", at))
        self.code.store(place, self.address("places", at))

    def _carry(self, carried: tuple[Variable, Variable], kept: Value, at: Value) -> None:
        """Carry an element forward, and from its place on what was there."""
        code = self.code
        with code.counted(self.zero, at) as back:
            place = kept + (at - back)
            value, index = (variable.now for variable in carried)
            before = code.load(self.element, self.address("values", place - 1))
            where = self._place_at(place - 1)
            passes = self.above(value, before)
            self._write(
                place, code.choose(passes, before, value), code.choose(passes, where, index)
            )
            carried[0].set(code.choose(passes, value, before))
            carried[1].set(code.choose(passes, index, where))
        self._write(kept, carried[0].now, carried[1].now)

    # ------------------------------------------------------------------------------ the largest

    def rows(self) -> None:
        """Each lane finds its own, then they are compared."""
        code = self.code
        kind = self.element.of_lanes(LANES)
        with code.units() as row:
            line = row * self.size
            first = code.spread(code.load(self.element, self.address("x", line)))
            state = code.variable(first), code.variable(code.constant(_INDICES, 0))

            def visit(columns: list[Value], mask: Value | None) -> None:
                (at,) = columns
                seen = code.load_if(kind, self.address("x", line + at), mask)
                self._take(state, seen, code.order(_INDICES) + code.spread(_short(at)), mask)

            code.vectors(self.zero, self.size, 1, visit)
            value, place = self._first_of_lanes(state[0].now, state[1].now)
            code.store(value, self.address("values", row))
            code.store(place.converted("zext", INT64), self.address("places", row))

    def _first_of_lanes(self, values: Value, places: Value) -> tuple[Value, Value]:
        """The upper half compared with the lower, again and again."""
        code = self.code
        while values.kind.lanes > 1:
            half = values.kind.lanes // 2
            low, high = (
                [code.shuffled(v, v, range(first, first + half)) for v in (values, places)]
                for first in (0, half)
            )
            comes, goes = self.above(high[0], low[0]), self.above(low[0], high[0])
            taken = comes | ((comes | goes).equals(0) & (high[1] < low[1]))
            values, places = (
                code.choose(taken, new, old) for new, old in zip(high, low, strict=True)
            )
        return code.alone(values), code.alone(places)

    def _take(
        self,
        state: tuple[Variable, Variable],
        seen: Value,
        index: Value,
        mask: Value | None,
    ) -> None:
        """Take what stands before the best so far, where the mask is true."""
        taken = self.above(seen, state[0].now)
        if mask is not None:
            taken = taken & mask
        for variable, new in zip(state, (seen, index), strict=True):
            variable.set(self.code.choose(taken, new, variable.now))

    def strips(self) -> None:
        """Columns side by side."""
        code = self.code
        kind = self.element.of_lanes(LANES)
        with strips(code, self.inner) as (outer, first, end):
            begin = outer * self.size * self.inner

            def visit(columns: list[Value], mask: Value | None) -> None:
                (at,) = columns
                start = code.load_if(kind, self.address("x", begin + at), mask)
                state = code.variable(start), code.variable(code.constant(_INDICES, 0))
                with code.counted(code.constant(INT64, 1), self.size) as i:
                    line = self.address("x", begin + i * self.inner + at)
                    self._take(state, code.load_if(kind, line, mask), code.spread(_short(i)), None)
                goal = outer * self.inner + at
                code.store_if(state[0].now, self.address("values", goal), mask)
                wide = state[1].now.converted("zext", INT64.of_lanes(LANES))
                code.store_if(wide, self.address("places", goal), mask)

            code.vectors(first, end, 1, visit)


def _short(index: Value) -> Value:
    return index.converted("trunc", INT32)
