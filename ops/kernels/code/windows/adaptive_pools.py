"""Means and maxima over the windows that cut dimensions of arrays of floats into equal shares.

One dimension is folded after the other, the first one first, which leaves whole rows to be added
or compared but for the last.  Sums add neighbours in order.
"""

from __future__ import annotations

from functools import cache, partial
from math import prod
from typing import Final

import numpy as np

from ....memory.dtype import Array, Dtype
from ....memory.remembered import remembered
from ..calls.run import run
from ..functions.formulas import KINDS
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel
from ..rows.along import parts_of, strip_count, strips

__all__ = ["maxima", "means"]

_PER_THREAD: Final = 1 << 15
"""Numbers looked at that are worth another thread."""
_BESIDE: Final = 4
"""Long windows of a row that are added at once."""
_LONG: Final = 4 * LANES
"""Elements of windows whose maxima are looked for along them."""
_COUNTS: Final = ("size", "count", "inner", "longest", "rows")
_WORDS: Final = INT32.of_lanes(LANES)
_PLACES: Final = INT64.of_lanes(LANES)
_SUMS: Final = ("x", "ends", "out", "sizes")
_MAXIMA: Final = ("x", "ends", "out", "given", "places")
_LOWEST: Final = -np.inf
_NONE: Final = np.empty(0, np.int64)
_NONE.setflags(write=False)


def means(x: Array, output: tuple[int, ...]) -> Array:
    """The means of windows of float32 or float64 [..., *space] in one piece; there are `output` of
    them."""
    x = made = x[...]  # which no other thread can change
    dims, dtype = len(output), x.dtype
    sizes = x.shape[x.ndim - dims :]
    for place, count in enumerate(output):
        axis, is_last = x.ndim - dims + place, place == dims - 1
        if count == made.shape[axis] and not is_last:
            continue
        outer, size, inner = parts_of(made.shape, axis)
        longest = _longest(size, count)
        form = ("long" if longest >= LANES else "short") if is_last else "strips"
        out = np.empty((*made.shape[:axis], count, *made.shape[axis + 1 :]), dtype)
        units = outer if is_last else strip_count(outer, inner)
        run(
            *(_kernel("sums", form, dtype.char), units, _PER_THREAD * units // made.size + 1),
            *(size, count, inner, longest, prod(output[:-1])),
            *(made, _ends(size, count), out, _shares(sizes, output, dtype)),
        )
        made = out
    return made


def maxima(x: Array, output: tuple[int, ...]) -> tuple[Array, Array]:
    """The maxima of such windows, and their places counted through the space.

    Of equal numbers the first one is it, of NaNs the last one.
    """
    x = made = x[...]  # which no other thread can change
    dims, places, dtype = len(output), _NONE, x.dtype
    for place, count in enumerate(output):
        axis, is_last = x.ndim - dims + place, place == dims - 1
        outer, size, inner = parts_of(made.shape, axis)
        longest = _longest(size, count)
        out = np.empty((*made.shape[:axis], count, *made.shape[axis + 1 :]), dtype)
        found = np.empty(out.shape, np.int64)
        units = outer if is_last else strip_count(outer, inner)
        form = ("long" if longest >= _LONG else "short") if is_last else "strips"
        form += " first" if place == 0 else ""
        run(
            *(_kernel("maxima", form, dtype.char), units, _PER_THREAD * units // made.size + 1),
            *(size, count, inner, longest, 1, made, _ends(size, count), out, places, found),
        )
        made, places = out, found
    return made, places


@remembered(1 << 20)
def _ends(size: int, count: int) -> Array:
    """Where windows start, and where they stop."""
    at = np.arange(count)
    found = np.stack((at * size // count, -(-(at + 1) * size // count))).astype(np.int32)
    found.setflags(write=False)
    return found


def _longest(size: int, count: int) -> int:
    """How many elements no window has more of."""
    return -(-size // count) + (size % count > 0)


@remembered(1 << 20)
def _shares(sizes: tuple[int, ...], output: tuple[int, ...], dtype: Dtype) -> Array:
    """How many elements each window of the space has."""
    found = np.ones((), dtype)
    for size, count in zip(sizes, output, strict=True):
        starts, stops = _ends(size, count)
        found = np.multiply.outer(found, (stops - starts).astype(dtype))
    found = np.ascontiguousarray(found)
    found.setflags(write=False)
    return found


@cache
def _kernel(what: str, form: str, letter: str) -> int:
    text = partial(shares_text, what=what, form=form, letter=letter)
    return kernel("shares", (what, form, letter), text)


def shares_text(target: Target, what: str, form: str, letter: str) -> str:
    """The module of a kernel that folds one dimension: "sums" or "maxima" of rows ("strips"), or
    along rows ("short", or "long" windows), the "first" one that places are counted along."""
    code = Code(target)
    names = _SUMS if what == "sums" else _MAXIMA
    size = {name: code.argument(INT64, name) for name in _COUNTS}
    at = {name: code.argument(POINTER, name) for name in names}
    line, _, first = form.partition(" ")
    made = (_Sums if what == "sums" else _Maxima)(code, size, at, KINDS[letter])
    made.is_first = bool(first)
    if line == "strips":
        made.strips()
    else:
        made.rows(is_long=line == "long")
    words = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in names)]
    return code.kernel("shares", words)


class _Sums:
    """The code of a kernel that adds."""

    is_first = False
    """Whether places are counted along what is folded."""

    def __init__(
        self, code: Code, size: dict[str, Value], at: dict[str, Value], element: Kind
    ) -> None:
        self.code, self.size, self.at, self.element = code, size, at, element
        self.lanes = element.of_lanes(LANES)
        self.shift = 2 if element.element == "float" else 3
        self.zero = code.constant(INT64, 0)

    def ends(self, window: Value) -> tuple[Value, Value]:
        """Where one window starts and stops."""
        code, ends = self.code, self.at["ends"]
        places = (code.at(ends, each, INT32) for each in (window, self.size["count"] + window))
        start, stop = (code.load(INT32, place).converted("sext", INT64) for place in places)
        return start, stop

    def strips(self) -> None:
        """Whole rows, side by side."""
        code, size = self.code, self.size
        inner = size["inner"]
        windows = code.counted(self.zero, size["count"])
        with strips(code, inner) as (outer, first, end), windows as window:
            source = outer * size["size"] * inner
            goal = (outer * size["count"] + window) * inner
            ends = self.ends(window)

            def visit(columns: list[Value], mask: Value | None) -> None:
                self.fold_rows(source, goal, ends, columns, mask)

            code.vectors(first, end, 2, visit)

    def fold_rows(
        self,
        source: Value,
        goal: Value,
        ends: tuple[Value, Value],
        columns: list[Value],
        mask: Value | None,
    ) -> None:
        """Vectors of rows from one to another, folded."""
        code, inner = self.code, self.size["inner"]
        totals = [code.variable(code.constant(self.lanes, 0.0)) for _ in columns]
        with code.counted(*ends) as row:
            for at, total in zip(columns, totals, strict=True):
                place = code.at(self.at["x"], source + row * inner + at, self.element)
                total.set(total.now + code.load_if(self.lanes, place, mask))
        for at, total in zip(columns, totals, strict=True):
            code.store_if(total.now, code.at(self.at["out"], goal + at, self.element), mask)

    def rows(self, *, is_long: bool) -> None:
        """Windows of rows, of sixteen at a time or one after the other."""
        code, size = self.code, self.size
        with code.units() as row:
            source, goal = row * size["size"], row * size["count"]
            if is_long:
                with code.counted(self.zero, size["count"], _BESIDE) as window:
                    self.long(row, source, goal, window)
            else:

                def visit(windows: list[Value], mask: Value | None) -> None:
                    self.short(row, source, goal, windows[0], mask)

                code.vectors(self.zero, size["count"], 1, visit)

    def long(self, row: Value, source: Value, goal: Value, window: Value) -> None:
        """The means of some windows side by side, so that their sums wait less for each other."""
        code, size = self.code, self.size
        last = size["count"] - 1
        windows = [code.lesser(window + more, last) for more in range(_BESIDE)]
        ends = [self.ends(each) for each in windows]
        totals = [code.variable(code.constant(self.element, 0.0)) for _ in windows]

        def add(total: Variable, place: Value) -> None:
            total.set(
                total.now
                + code.load(self.element, code.at(self.at["x"], source + place, self.element))
            )

        least = size["size"] / size["count"]
        with code.counted(self.zero, least) as step:
            for (start, _), total in zip(ends, totals, strict=True):
                add(total, start + step)
        for each, (start, stop), total in zip(windows, ends, totals, strict=True):
            with code.counted(start + least, stop) as place:
                add(total, place)
            share = code.load(
                self.element, code.at(self.at["sizes"], self.share(row, each), self.element)
            )
            code.store(total.now / share, code.at(self.at["out"], goal + each, self.element))

    def share(self, row: Value, window: Value) -> Value:
        """Where the size of a window stands."""
        _, line = self.code.split(row, self.size["rows"])
        return line * self.size["count"] + window

    def seen(self, source: Value, window: Value, mask: Value | None) -> tuple[Value, Value]:
        """Where the windows of a vector begin, in bytes behind the arrays, and how long they are;
        those that are masked have no length."""
        code = self.code
        starts, stops = (
            code.load_if(_WORDS, code.at(self.at["ends"], each, INT32), mask)
            for each in (window, self.size["count"] + window)
        )
        places = starts.converted("sext", _PLACES) + code.spread(source)
        return places, stops - starts

    def short(
        self, row: Value, source: Value, goal: Value, window: Value, mask: Value | None
    ) -> None:
        """The means of a vector of windows."""
        code = self.code
        places, lengths = self.seen(source, window, mask)
        total = code.variable(code.constant(self.lanes, 0.0))
        with code.counted(self.zero, self.size["longest"]) as step:
            exists = lengths > code.spread(step.converted("trunc", INT32))
            here = (places + code.spread(step)) << self.shift
            total.set(total.now + code.gathered(self.lanes, self.at["x"], here, exists))
        address = code.at(self.at["sizes"], self.share(row, window), self.element)
        shares = code.load_if(self.lanes, address, mask, 1.0)
        code.store_if(
            total.now / shares, code.at(self.at["out"], goal + window, self.element), mask
        )


class _Maxima(_Sums):
    """The code of one that compares, and keeps places."""

    def best(self) -> tuple[Variable, Variable]:
        """What begins as less than everything, at a place behind everything."""
        code = self.code
        lowest = code.variable(code.constant(self.lanes, _LOWEST))
        return lowest, code.variable(code.constant(_PLACES, -1))

    def compare(
        self, best: Variable, found: Variable, seen: Value, place: Value, exists: Value | None
    ) -> None:
        """Take what is larger, or comes sooner; of NaNs what comes later."""
        code = self.code
        is_nan = seen.is_nan() & (best.now.is_nan().equals(0) | (place > found.now))
        is_sooner = seen.equals(best.now) & ((place < found.now) | (found.now < 0))
        better = (seen > best.now) | is_sooner | is_nan
        better = better if exists is None else better & exists
        best.set(code.choose(better, seen, best.now))
        found.set(code.choose(better, place, found.now))

    def fold_rows(
        self,
        source: Value,
        goal: Value,
        ends: tuple[Value, Value],
        columns: list[Value],
        mask: Value | None,
    ) -> None:
        code, inner = self.code, self.size["inner"]
        for at in columns:
            best, found = self.best()
            with code.counted(*ends) as row:
                self.compare(best, found, *self._seen(source, row * inner + at, mask), None)
            code.store_if(best.now, code.at(self.at["out"], goal + at, self.element), mask)
            code.store_if(found.now, code.at(self.at["places"], goal + at, INT64), mask)

    def _seen(self, source: Value, at: Value, mask: Value | None) -> tuple[Value, Value]:
        """Neighbours of an input that begins at `source`, and their places in it."""
        code = self.code
        seen = code.load_if(self.lanes, code.at(self.at["x"], source + at, self.element), mask)
        if self.is_first:
            return seen, code.order(_PLACES) + code.spread(at)
        address = code.at(self.at["given"], source + at, INT64)
        return seen, code.load_if(_PLACES, address, mask)

    def long(self, row: Value, source: Value, goal: Value, window: Value) -> None:
        """The maxima of some windows, one after the other, sixteen neighbours at a time."""
        until = self.code.lesser(window + _BESIDE, self.size["count"])
        with self.code.counted(window, until) as each:
            self._along(source, goal + each, self.ends(each))

    def _along(self, source: Value, goal: Value, ends: tuple[Value, Value]) -> None:
        """The maximum of a window."""
        code = self.code
        best, found = self.best()

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                self.compare(best, found, *self._seen(source, at, mask), mask)

        code.vectors(*ends, 1, visit)
        half = LANES // 2
        while half:
            turned = [(lane + half) % LANES for lane in range(LANES)]
            seen = code.shuffled(best.now, best.now, turned)
            where = code.shuffled(found.now, found.now, turned)
            self.compare(best, found, seen, where, where >= 0)
            half //= 2
        alone = code.chosen([lane == 0 for lane in range(LANES)])
        code.store_if(best.now, code.at(self.at["out"], goal, self.element), alone)
        code.store_if(found.now, code.at(self.at["places"], goal, INT64), alone)

    def short(
        self, row: Value, source: Value, goal: Value, window: Value, mask: Value | None
    ) -> None:
        code = self.code
        places, lengths = self.seen(source, window, mask)
        best, found = self.best()
        with code.counted(self.zero, self.size["longest"]) as step:
            exists = lengths > code.spread(step.converted("trunc", INT32))
            here = places + code.spread(step)
            seen = code.gathered(self.lanes, self.at["x"], here << self.shift, exists)
            if self.is_first:
                where = here - code.spread(source)
            else:
                where = code.gathered(_PLACES, self.at["given"], here << 3, exists)
            self.compare(best, found, seen, where, exists)
        code.store_if(best.now, code.at(self.at["out"], goal + window, self.element), mask)
        code.store_if(found.now, code.at(self.at["places"], goal + window, INT64), mask)
