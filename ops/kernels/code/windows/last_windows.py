"""Maxima and means over windows of planes of float32 whose channels lie last, maxima of bytes too.

A vector holds 16 channels of a pixel.  What a window sees is looked at in the order that planes
with channels first have (`max_pools`, `mean_windows`, `adaptive_pools`), so the bits are the same.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ....memory.remembered import remembered
from ..calls.run import run
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["LEAST_CHANNELS", "lengths", "maxima", "means", "shares", "sliding"]

LEAST_CHANNELS: Final = 8
"""With fewer of them most lanes of a vector would be empty."""
_PER_THREAD: Final = 1 << 14
"""Numbers looked at that are worth another thread."""
_BESIDE: Final = 4
_COUNTS: Final = (
    *("height", "width", "channels", "made_height", "made_width", "row_step", "column_step"),
)
_ARRAYS: Final = ("x", "rows", "columns", "divisors", "out", "places")
_MAXIMA: Final = {"f": "maxima", "B": "bytes", "b": "signed-bytes"}
"""The forms of maxima by what they are of."""
_KINDS: Final = {"bytes": Kind("i8", LANES, unsigned=True), "signed-bytes": Kind("i8", LANES)}
_LEAST: Final = {"bytes": 0, "signed-bytes": -128}
_NO_PLACES: Final = np.empty(0, np.int64)
_NO_PLACES.setflags(write=False)
_NO_DIVISORS: Final = np.empty(0, np.float32)
_NO_DIVISORS.setflags(write=False)


@remembered(1 << 20)
def sliding(size: int, length: int, stride: int, pad: int, dilation: int, count: int) -> Array:
    """Where windows that slide along a dimension start and stop in it."""
    begins = np.arange(count) * stride - pad
    stops = np.minimum(begins + (length - 1) * dilation + 1, size)
    return _kept(np.where(begins < 0, begins % dilation, begins), stops)


@remembered(1 << 20)
def shares(size: int, count: int) -> Array:
    """Where windows that cut a dimension into equal shares start and stop."""
    at = np.arange(count)
    return _kept(at * size // count, -(-(at + 1) * size // count))


@remembered(1 << 20)
def lengths(sizes: tuple[int, ...], output: tuple[int, ...]) -> Array:
    """How long these are, in each dimension after the other."""
    ends = [shares(*each) for each in zip(sizes, output, strict=True)]
    found = np.concatenate([stops - starts for starts, stops in ends]).astype(np.float32)
    found.setflags(write=False)
    return found


def _kept(starts: Array, stops: Array) -> Array:
    found = np.stack((starts, stops)).astype(np.int32)
    found.setflags(write=False)
    return found


def maxima(
    x: Array, rows: Array, columns: Array, steps: tuple[int, int], *, with_places: bool
) -> tuple[Array, Array]:
    """The maxima of [samples, height, width, channels] in one piece, laid out in that way, and
    their places in the plane; without these there is an empty array for them.

    Of equal numbers the first one is it, of NaNs the last one; every window sees something.  Bytes,
    with a sign or without, have maxima alone.
    """
    made = _made(x, rows, columns)
    places = np.empty(made.shape, np.int64) if with_places else _NO_PLACES
    form = "places" if with_places else _MAXIMA[x.dtype.char]
    _run(form, x, rows, columns, steps, _NO_DIVISORS, made, places)
    return made, places


def means(x: Array, rows: Array, columns: Array, divisors: object, *, nested: bool) -> Array:
    """The means of the same.

    What a window sees is added in order, or column by column where that is `nested`.  What the sum
    is divided by is the product of what `divisors` say of its line, and behind these of its place
    in the line.
    """
    made = _made(x, rows, columns)
    _run("nested" if nested else "means", x, rows, columns, (1, 1), divisors, made, _NO_PLACES)
    return made


def _made(x: Array, rows: Array, columns: Array) -> Array:
    return np.empty((len(x), rows.shape[1], columns.shape[1], x.shape[3]), x.dtype)


def _run(
    form: str,
    x: Array,
    rows: Array,
    columns: Array,
    steps: tuple[int, int],
    divisors: object,
    made: Array,
    places: object,
) -> None:
    samples, height, width, channels = x.shape
    lines, across = made.shape[1:3]
    work = across * channels * -(-height // lines) * -(-width // across)
    counts = height, width, channels, lines, across, *steps
    least = max(1, _PER_THREAD // work)
    run(_kernel(form), samples * lines, least, *counts, x, rows, columns, divisors, made, places)


@cache
def _kernel(form: str) -> int:
    return kernel("last_windows", (form,), lambda target: _text(target, form))


def _text(target: Target, form: str) -> str:
    """For the rows of the result, counted over all samples."""
    code = Code(target)
    windows = _Windows(code, form)
    with code.units() as line:
        windows.line(line)
    names = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in _ARRAYS)]
    return code.kernel("last_windows", names)


class _Window(NamedTuple):
    """One window of a plane."""

    source: Value
    """The first pixel of the plane."""
    rows: tuple[Value, Value]
    columns: tuple[Value, Value]
    goal: Value
    """Where the numbers of its first channel go."""


class _Windows:
    """The parts of the kernel."""

    def __init__(self, code: Code, form: str) -> None:
        self.code, self.form = code, form
        self.kind = _KINDS.get(form, FLOATS)
        self.element = self.kind.of_lanes(0)
        self.size = {name: code.argument(INT64, name) for name in _COUNTS}
        self.at = {name: code.argument(POINTER, name) for name in _ARRAYS}
        self.zero = code.constant(INT64, 0)

    def line(self, line: Value) -> None:
        """The windows of a row of the result."""
        code, size = self.code, self.size
        sample, row = code.split(line, size["made_height"])
        source = sample * size["height"] * size["width"]
        rows = self.ends("rows", row, size["made_height"])
        with code.counted(self.zero, size["made_width"]) as place:
            columns = self.ends("columns", place, size["made_width"])
            goal = (line * size["made_width"] + place) * size["channels"]
            window = _Window(source, rows, columns, goal)

            def visit(channels: list[Value], mask: Value | None) -> None:
                if self.form in ("means", "nested"):
                    divisor = self.divisor(row) * self.divisor(size["made_height"] + place)
                    self.mean(window, channels, mask, divisor)
                else:
                    self.largest(window, channels, mask)

            code.vectors(self.zero, size["channels"], _BESIDE, visit)

    def ends(self, name: str, window: Value, count: Value) -> tuple[Value, Value]:
        """Where a window starts and stops."""
        code = self.code
        places = (code.at(self.at[name], each, INT32) for each in (window, count + window))
        start, stop = (code.load(INT32, place).converted("sext", INT64) for place in places)
        return start, stop

    def divisor(self, number: Value) -> Value:
        code = self.code
        return code.load(FLOAT, code.at(self.at["divisors"], number, FLOAT))

    def seen(self, pixel: Value, channel: Value, mask: Value | None) -> Value:
        """Channels of a pixel."""
        code = self.code
        place = code.at(self.at["x"], pixel * self.size["channels"] + channel, self.element)
        return code.load_if(self.kind, place, mask)

    def largest(self, window: _Window, channels: list[Value], mask: Value | None) -> None:
        """The maxima of a window, and where they are."""
        code, size = self.code, self.size
        source, rows, columns, goal = window
        least = code.constant(self.kind, _LEAST.get(self.form, -np.inf))
        best = [code.variable(least) for _ in channels]
        first = rows[0] * size["width"] + columns[0]
        found = [code.variable(code.spread(first)) for _ in channels]
        with (
            code.counted(*rows, size["row_step"]) as row,
            code.counted(*columns, size["column_step"]) as column,
        ):
            pixel = row * size["width"] + column
            for largest, where, channel in zip(best, found, channels, strict=True):
                seen = self.seen(source + pixel, channel, mask)
                better = seen > largest.now
                if self.kind.is_real:
                    better = better | seen.is_nan()
                largest.set(code.choose(better, seen, largest.now))
                if self.form == "places":
                    where.set(code.choose(better, code.spread(pixel), where.now))
        for largest, where, channel in zip(best, found, channels, strict=True):
            code.store_if(largest.now, code.at(self.at["out"], goal + channel, self.element), mask)
            if self.form == "places":
                code.store_if(where.now, code.at(self.at["places"], goal + channel, INT64), mask)

    def mean(
        self, window: _Window, channels: list[Value], mask: Value | None, divisor: Value
    ) -> None:
        """The means of a window."""
        code, width = self.code, self.size["width"]
        source, rows, columns, goal = window
        none = code.constant(FLOATS, 0.0)
        totals = [code.variable(none) for _ in channels]
        if self.form == "nested":
            with code.counted(*columns) as column:
                parts = [code.variable(none) for _ in channels]
                for part in parts:
                    part.set(none)
                with code.counted(*rows) as row:
                    for part, channel in zip(parts, channels, strict=True):
                        seen = self.seen(source + row * width + column, channel, mask)
                        part.set(part.now + seen)
                for total, part in zip(totals, parts, strict=True):
                    total.set(total.now + part.now)
        else:
            with code.counted(*rows) as row, code.counted(*columns) as column:
                for total, channel in zip(totals, channels, strict=True):
                    seen = self.seen(source + row * width + column, channel, mask)
                    total.set(total.now + seen)
        for total, channel in zip(totals, channels, strict=True):
            place = code.at(self.at["out"], goal + channel, FLOAT)
            code.store_if(total.now / code.spread(divisor), place, mask)
