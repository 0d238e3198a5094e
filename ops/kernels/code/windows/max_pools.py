"""Maxima over windows of planes of float32, and their places.

A vector holds the maxima of 16 neighbours of a row of the result.  What windows see is looked at
row by row, as it lies; what is larger than all before it, or NaN, is the maximum so far.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from math import inf, prod
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ....memory.remembered import remembered
from ..calls.run import run
from ..language.columns import are_below
from ..language.target import Target
from ..language.text import BYTE, FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Value, Variable
from ..loading.objects import kernel

__all__ = ["max_pool"]

_LEAST: Final = 1 << 15
"""Numbers looked at that are worth another thread."""
_ARRAYS: Final = ("x", "first_rows", "first_columns", "out", "places")
_COUNTS: Final = (
    *("height", "width", "made_height", "made_width", "rows", "columns"),
    *("down", "across", "row_step", "column_step", "top", "left"),
)
"""Sizes of planes, of those made and of windows; steps from window to window and within one, and
how far the first begins outside."""
_NO_PLACES: Final = np.empty(0, np.int64)
_NO_PLACES.setflags(write=False)
_WORDS: Final = INT32.of_lanes(LANES)
_LOWEST: Final = -inf
_UNROLLED: Final = ((2, 2), (3, 3))
"""Windows that have kernels of their own."""


def max_pool(
    x: Array,
    size: tuple[int, int],
    stride: tuple[int, int],
    pads: tuple[int, int],
    dilation: tuple[int, int],
    output: tuple[int, int],
    *,
    with_places: bool,
) -> tuple[Array, Array]:
    """The maxima of float32 [..., height, width] in one piece, and their places in the plane.

    All windows begin in a plane, or see something of it, which has fewer than 2**31 numbers; the
    settings are pairs of ints.  Without places there is an empty array for them.
    """
    made = np.empty((*x.shape[:-2], *output), np.float32)
    places = np.empty(made.shape, np.int64) if with_places else _NO_PLACES
    rows, columns = map(_begins, output, stride, pads, dilation)
    form = str(stride[1]) if stride[1] < 3 else "any"
    counts = (*x.shape[-2:], *output, *size, *stride, *dilation, *pads)
    window = tuple(size) if tuple(size) in _UNROLLED else ()
    text = partial(_text, form=form, with_places=with_places, window=window)
    run(
        *(kernel("max_pool", (form, int(with_places), *window), text), made.size // output[1]),
        *(max(1, _LEAST // (prod(size) * output[1])), *counts, x, rows, columns, made, places),
    )
    return made, places


@remembered(1 << 20)
def _begins(output: int, stride: int, pad: int, dilation: int) -> Array:
    """Where what windows see begins, with room for a vector behind the last."""
    starts = np.arange(output + LANES) * stride - pad
    found = np.where(starts < 0, starts % dilation, starts).astype(np.int32)
    found.setflags(write=False)
    return found


def _text(target: Target, form: str, with_places: bool, window: tuple[int, ...]) -> str:
    """For the rows made, counted over all planes; the sizes of the window may be told."""
    code = Code(target)
    pool = _Pool(code, form, with_places, window)
    with code.units() as row:
        pool.row(row)
    names = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in _ARRAYS)]
    return code.kernel("max_pool", names)


class _Pool:
    """The parts of the kernel."""

    def __init__(self, code: Code, form: str, with_places: bool, window: tuple[int, ...]) -> None:
        self.code = code
        self.window = window
        self.size = {name: code.argument(INT64, name) for name in _COUNTS}
        self.at = {name: code.argument(POINTER, name) for name in _ARRAYS}
        self.form, self.with_places = form, with_places
        self._far = self.size["across"] * (LANES - 1)
        self.zero = code.constant(INT64, 0)

    def row(self, row: Value) -> None:
        """The maxima of windows side by side."""
        code, size = self.code, self.size
        plane, line = code.split(row, size["made_height"])
        source = code.at(self.at["x"], plane * size["height"] * size["width"], FLOAT)
        goal = row * size["made_width"]
        seen = (size["columns"] - 1) * size["column_step"] + self._far
        top, low = line * size["down"] - size["top"], (size["rows"] - 1) * size["row_step"]

        def visit(at: Value, mask: Value | None) -> None:
            begin = at * size["across"] - size["left"]
            best = code.variable(code.constant(FLOATS, _LOWEST))
            found = code.variable(self._first(line, at))
            inside = (begin > -1) & (begin + seen < size["width"])
            inside = inside & (top > -1) & (top + low < size["height"])
            for is_inside in (True, False):
                with code.when(inside if is_inside else inside.equals(0)):
                    self._windows(source, line, begin, best, found, is_inside)
            code.store_if(best.now, code.at(self.at["out"], goal + at, FLOAT), mask)
            if self.with_places:
                wide = found.now.converted("sext", INT64.of_lanes(LANES))
                code.store_if(wide, code.at(self.at["places"], goal + at, INT64), mask)

        made = size["made_width"]
        whole = made & -LANES
        with code.counted(self.zero, whole, LANES) as at:
            visit(at, None)
        with code.when(whole < made):  # as much as there is, part of it again
            at = code.choose(made < LANES, 0, made - LANES)
            visit(at, code.first(made - at))

    def _first(self, line: Value, at: Value) -> Value:
        """The places of the first numbers that windows see."""
        code = self.code
        top = code.load(INT32, code.at(self.at["first_rows"], line, INT32))
        columns = code.load(_WORDS, code.at(self.at["first_columns"], at, INT32))
        width = self.size["width"].converted("trunc", INT32)
        return columns + code.spread(top * width)

    def _windows(
        self,
        source: Value,
        line: Value,
        begin: Value,
        best: Variable,
        found: Variable,
        is_inside: bool,
    ) -> None:
        code, size = self.code, self.size
        top = line * size["down"] - size["top"]

        def look(row: Value, c: Value) -> None:
            column = begin + c * size["column_step"]
            numbers = code.at(source, row * size["width"], FLOAT)
            seen = self._seen(numbers, column, is_inside)
            if self.with_places:
                better = (seen > best.now) | seen.is_nan()
                here = code.spread((row * size["width"] + column).converted("trunc", INT32))
                found.set(code.choose(better, here + self._steps(), found.now))
            larger = code.choose(seen > best.now, seen, best.now)
            best.set(code.choose(seen.is_nan(), seen, larger))

        if self.window and is_inside:
            for down, across in product(*map(range, self.window)):
                look(top + size["row_step"] * down, code.constant(INT64, across))
            return
        with code.counted(self.zero, size["rows"]) as r:
            row = top + r * size["row_step"]
            with (
                code.when(row.below(size["height"])),
                code.counted(self.zero, size["columns"]) as c,
            ):
                look(row, c)

    def _steps(self) -> Value:
        across = self.size["across"].converted("trunc", INT32)
        return self.code.order(_WORDS) * self.code.spread(across)

    def _seen(self, numbers: Value, column: Value, is_inside: bool) -> Value:
        """What 16 windows see at a column of theirs; the lowest number outside."""
        code = self.code
        if self.form == "any":
            return self._gathered(numbers, column)
        if is_inside:
            return self._beside(numbers, column, is_inside=True)
        found = code.variable(code.constant(FLOATS, _LOWEST))
        inside = (column > -1) & (column + self._far < self.size["width"])
        for is_inside in (True, False):
            with code.when(inside if is_inside else inside.equals(0)):
                found.set(self._beside(numbers, column, is_inside=is_inside))
        return found.now

    def _beside(self, numbers: Value, column: Value, *, is_inside: bool) -> Value:
        """The same of neighbours, or of every second number: the vector behind begins with one that
        is not wanted, so that none is read behind the last."""
        code, parts = self.code, []
        for number in range(int(self.form)):
            first = column + number * (LANES - 1)
            mask = None if is_inside else are_below(first, code.order(_WORDS), self.size["width"])
            parts.append(code.load_if(FLOATS, code.at(numbers, first, FLOAT), mask, _LOWEST))
        if len(parts) == 1:
            return parts[0]
        one, behind = parts
        return code.shuffled(one, behind, [*range(0, LANES, 2), *range(LANES + 1, 2 * LANES, 2)])

    def _gathered(self, numbers: Value, column: Value) -> Value:
        code = self.code
        mask = are_below(column, self._steps(), self.size["width"])
        place = code.at(numbers, column * 4, BYTE)
        seen = code.gathered(FLOATS, place, self._steps() * 4, mask)
        return code.choose(mask, seen, _LOWEST)
