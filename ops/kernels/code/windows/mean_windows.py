"""Means of windows that slide over lines, planes and volumes of float32 or float64.

What a window sees is added in order, from zero on, and divided by how many elements it counts.
Lanes are windows side by side; where lines have few windows, volumes side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from math import prod
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.columns import are_below, of_parts
from ..language.target import Target
from ..language.text import BYTE, INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from ..rows.along import ELEMENTS

__all__ = ["means_of_windows"]

_PER_THREAD: Final = 1 << 14
"""Numbers looked at that are worth another thread."""
_LONGEST: Final = 1 << 12
_WIDEST: Final = 1 << 24
"""Windows that are longer, or further apart, are left to others: places are told in 32 bits."""
_NARROW: Final = 5
"""Windows in a line that are so few that volumes are taken side by side, if there are enough."""
_NEAR: Final = 4
"""Steps between windows of which the elements of lines are loaded whole."""
_WORDS: Final = INT32.of_lanes(LANES)
_SIZES: Final = ("depth", "height", "width")
_MADE: Final = ("made_depth", "made_height", "made_width")
_WINDOW: Final = ("levels", "rows", "columns")
_STEPS: Final = ("deep", "down", "across")
_BEFORE: Final = ("front", "top", "left")
_COUNTS: Final = (*_SIZES, *_MADE, *_WINDOW, *_STEPS, *_BEFORE, "volumes")
_ARRAYS: Final = ("x", "divisors", "out")

Ints = tuple[int, ...]


def means_of_windows(
    x: Array, size: Ints, stride: Ints, pads: Ints, output: Ints, divisors: object
) -> Array | None:
    """The means [..., *output] of an array [..., *space] in one piece.

    By what a window's sum is divided is the product of what `divisors` say of its line, and behind
    these of its place in the line.  None for what is not computed here.
    """
    x = x[...]  # which no other thread can change
    element, lead = ELEMENTS.get(x.dtype.str[1:]), x.shape[: x.ndim - len(output)]
    if element not in ("float", "double") or not x.size or not prod(output):
        return None
    if max(size) > _LONGEST or max(*stride, *x.shape[-len(output) :]) > _WIDEST:
        return None
    volumes, lines = prod(lead), prod(output[:-1])
    made = np.empty((*lead, *output), x.dtype)
    form, units = str(stride[-1]) if stride[-1] <= _NEAR else "any", volumes * lines
    if output[-1] <= _NARROW and volumes >= LANES // 2:
        form, units = "volumes", -(-volumes // LANES)
    words = [
        number
        for each, fill in (
            (x.shape[len(lead) :], 1),
            (output, 1),
            (size, 1),
            (stride, 1),
            (pads, 0),
        )
        for number in (*(fill,) * (3 - len(output)), *each)
    ]
    least = max(1, _PER_THREAD * units // (made.size * prod(size)))
    run(_kernel(element, form), units, least, *words, volumes, x, divisors, made)
    return made


@cache
def _kernel(element: str, form: str) -> int:
    text = partial(_text, element=Kind(element), form=form)
    return kernel("mean_windows", (element, form), text)


def _text(target: Target, element: Kind, form: str) -> str:
    """For lines of windows, counted over all volumes, or for every 16 volumes."""
    code = Code(target)
    windows = _Windows(code, element, form)
    with code.units() as unit:
        if form == "volumes":
            windows.volumes(unit * LANES)
        else:
            windows.line(unit)
    names = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in _ARRAYS)]
    return code.kernel("mean_windows", names)


class _Windows:
    """The parts of the kernel."""

    def __init__(self, code: Code, element: Kind, form: str) -> None:
        self.code, self.element, self.form = code, element, form
        self.kind = element.of_lanes(LANES)
        self.bytes = 4 if element.element == "float" else 8
        self.size = {name: code.argument(INT64, name) for name in _COUNTS}
        self.at = {name: code.argument(POINTER, name) for name in _ARRAYS}
        self.zero = code.constant(INT64, 0)
        size = self.size
        self.lines = size["made_depth"] * size["made_height"]
        self.volume = size["depth"] * size["height"] * size["width"]

    def line(self, unit: Value) -> None:
        """The means of windows side by side."""
        code, size = self.code, self.size
        volume, line = code.split(unit, self.lines)
        source = code.at(self.at["x"], volume * self.volume, self.element)
        seen = (size["columns"] - 1) + size["across"] * LANES

        def visit(places: list[Value], mask: Value | None) -> None:
            (at,) = places
            begin = at * size["across"] - size["left"]
            total = code.variable(code.constant(self.kind, 0.0))
            is_inside = (begin > -1) & (begin + seen < size["width"] + 1)
            for is_whole in (True, False):
                chosen = is_inside if is_whole else is_inside.equals(0)
                with code.when(chosen), self._rows(line) as place:
                    row = code.at(source, place, self.element)
                    with self._columns(begin, size["across"] * (LANES - 1)) as column:
                        total.set(total.now + self._seen(row, begin + column, is_whole))
            share = code.load_if(self.kind, self._divisor(self.lines + at), mask, 1.0)
            divisor = share * code.spread(code.load(self.element, self._divisor(line)))
            goal = code.at(self.at["out"], unit * size["made_width"] + at, self.element)
            code.store_if(total.now / divisor, goal, mask)

        code.vectors(self.zero, size["made_width"], 1, visit)

    def volumes(self, first: Value) -> None:
        """The means of the windows of 16 volumes, one after the other."""
        code, size = self.code, self.size
        mask = code.first(size["volumes"] - first)
        order = code.order(INT64.of_lanes(LANES))
        apart = order * code.spread(self.volume * self.bytes)
        made = self.lines * size["made_width"]
        made_apart = order * code.spread(made * self.bytes)
        source = code.at(self.at["x"], first * self.volume, self.element)
        goal = code.at(self.at["out"], first * made, self.element)
        with code.counted(self.zero, self.lines) as line:
            divided = code.load(self.element, self._divisor(line))
            with code.counted(self.zero, size["made_width"]) as at:
                begin = at * size["across"] - size["left"]
                total = code.variable(code.constant(self.kind, 0.0))
                with self._rows(line) as row, self._columns(begin, self.zero) as column:
                    place = code.at(source, row + begin + column, self.element)
                    total.set(total.now + code.gathered(self.kind, place, apart, mask))
                share = code.load(self.element, self._divisor(self.lines + at))
                mean = total.now / code.spread(divided * share)
                place = code.at(goal, line * size["made_width"] + at, self.element)
                code.scattered(mean, place, made_apart, mask)

    def _divisor(self, number: Value) -> Value:
        return self.code.at(self.at["divisors"], number, self.element)

    @contextmanager
    def _rows(self, line: Value) -> Iterator[Value]:
        """Where the rows begin that the windows of a line see, in order."""
        code, size = self.code, self.size
        level, row = code.split(line, size["made_height"])
        with self._clipped(level, 0) as deep, self._clipped(row, 1) as down:
            yield (deep * size["height"] + down) * size["width"]

    @contextmanager
    def _clipped(self, window: Value, dim: int) -> Iterator[Value]:
        """What a window sees of a dimension."""
        code, size = self.code, self.size
        begin = window * size[_STEPS[dim]] - size[_BEFORE[dim]]
        stop = code.lesser(begin + size[_WINDOW[dim]], size[_SIZES[dim]])
        with code.counted(code.choose(begin < 0, 0, begin), stop) as at:
            yield at

    @contextmanager
    def _columns(self, begin: Value, beside: Value) -> Iterator[Value]:
        """The elements of windows of which one sees something, where the first begins at `begin`
        and the last so much further on."""
        code, size = self.code, self.size
        before = -(begin + beside)
        stop = code.lesser(size["columns"], size["width"] - begin)
        with code.counted(code.choose(before < 0, 0, before), stop) as column:
            yield column

    def _seen(self, row: Value, column: Value, is_whole: bool) -> Value:
        """What windows side by side see at a column of the first; 0 outside."""
        code = self.code
        if self.form == "any":
            return self._gathered(row, column, is_whole)
        parts, step = list[Value](), int(self.form)
        for number in range(step):
            first = column + number * LANES
            place = code.at(row, first, self.element)
            mask = None if is_whole else are_below(first, code.order(_WORDS), self.size["width"])
            parts.append(code.load_if(self.kind, place, mask))
        return of_parts(code, parts, range(0, LANES * step, step))

    def _gathered(self, row: Value, column: Value, is_whole: bool) -> Value:
        code = self.code
        across = self.size["across"].converted("trunc", INT32)
        words = code.order(_WORDS) * code.spread(across)
        mask = None if is_whole else are_below(column, words, self.size["width"])
        place = code.at(row, column * self.bytes, BYTE)
        wide = words.converted("sext", INT64.of_lanes(LANES))
        return code.gathered(self.kind, place, wide * self.bytes, mask)
