"""Images read at places that a grid names, by the steps that NumPy would take.

A vector holds neighbours of a row of the result; each place is found once for all channels.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from .arithmetic import at_least, at_most, called
from .objects import kernel
from .run import run
from .target import Target
from .text import DOUBLE, FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Value

__all__ = ["sample"]

_PER_THREAD: Final = 1 << 13
"""Elements of the result that are worth another thread."""
_SIZES: Final = ("channels", "height", "width", "rows", "columns")
_FACTORS: Final = ("factor_y", "factor_x")
_ARRAYS: Final = ("input", "grid", "out")
_WHOLE: Final = INT64.of_lanes(LANES)


def sample(input: Any, grid: Any, form: str, padding: str, align: bool) -> Any | None:
    """float32 [N, C, H, W] at the places float32 [N, rows, columns, 2] names, x first: both
    contiguous and not empty.

    The form is "linear" or "nearest", the padding "zeros", "border" or "reflection".
    None if an image is too large for places of 32 bits.
    """
    input, grid = input[...], grid[...]  # which no other thread can change
    batch, channels, height, width = input.shape
    rows, columns = grid.shape[1:3]
    if height * width >= 1 << 31:
        return None
    out = np.empty((batch, channels, rows, columns), np.float32)
    factors = [float(np.float32((size - align) / 2)) for size in (height, width)]
    sampling = _kernel(form, padding, align)
    sizes = (channels, height, width, rows, columns)
    least = _PER_THREAD // (channels * columns) + 1
    run(sampling, batch * rows, least, *sizes, *factors, input, grid, out)
    return out


@cache
def _kernel(form: str, padding: str, align: bool) -> int:
    parameters = (form, padding, align)
    return kernel("sample", parameters, lambda target: sampling_text(target, *parameters))


def sampling_text(target: Target, form: str, padding: str, align: bool) -> str:
    """The module of a kernel; its range is one of rows of the result."""
    code = Code(target)
    words = [(INT64, name) for name in _SIZES] + [(DOUBLE, name) for name in _FACTORS]
    words += [(POINTER, name) for name in _ARRAYS]
    channels, height, width, rows, columns = (code.argument(INT64, name) for name in _SIZES)
    input, grid, out = (code.argument(POINTER, name) for name in _ARRAYS)
    factors = [code.argument(DOUBLE, name).converted("fptrunc", FLOAT) for name in _FACTORS]
    axes = [
        _Axis(code, size, factor, padding, align)
        for size, factor in zip((height, width), factors, strict=True)
    ]
    pairs = code.order(_WHOLE) << 3
    with code.units() as row:
        image, line = code.split(row, rows)

        def visit(places: list[Value], mask: Value | None) -> None:
            first = code.at(grid, (row * columns + places[0]) * 2, FLOAT)
            given = [code.gathered(FLOATS, first, pairs + 4 * (1 - dim), mask) for dim in range(2)]
            at = [axis.place(each) for axis, each in zip(axes, given, strict=True)]
            spots = (_nearest if form == "nearest" else _corners)(axes, at, width)
            with code.counted(code.constant(INT64, 0), channels) as channel:
                plane = image * channels + channel
                start = code.at(input, plane * height * width, FLOAT)
                total: Value | None = None
                for offsets, exists, weight in spots:
                    seen = exists if mask is None else exists & mask
                    term = code.gathered(FLOATS, start, offsets, seen)
                    term = term if weight is None else term * weight
                    total = term if total is None else total + term
                assert total is not None
                goal = code.at(out, (plane * rows + line) * columns + places[0], FLOAT)
                code.store_if(total, goal, mask)

        code.vectors(code.constant(INT64, 0), columns, 1, visit)
    return code.kernel("sample", words)


Spot = tuple[Value, Value, Value | None]
"""How many bytes behind an image's first element one lies, where there is one, and its weight."""


def _nearest(axes: list[_Axis], at: list[Value], width: Value) -> list[Spot]:
    return [_spot(axes, [called("rint", each) for each in at], width, None)]


def _corners(axes: list[_Axis], at: list[Value], width: Value) -> list[Spot]:
    """The four neighbours, with the shares that they have."""
    low = [called("floor", each) for each in at]
    shares = [each - down for each, down in zip(at, low, strict=True)]
    found = []
    for up in (0, 1):
        for right in (0, 1):
            down, across = (
                share if is_upper else 1.0 - share
                for share, is_upper in zip(shares, (up, right), strict=True)
            )
            here = [low[0] + float(up), low[1] + float(right)]
            found.append(_spot(axes, here, width, down * across))
    return found


def _spot(axes: list[_Axis], at: list[Value], width: Value, weight: Value | None) -> Spot:
    code = width.code
    (y, has_row), (x, has_column) = (axis.index(each) for axis, each in zip(axes, at, strict=True))
    return (y * code.spread(width) + x) << 2, has_row & has_column, weight


class _Axis:
    """A dimension of the image, whose size and factor are numbers of the kernel."""

    def __init__(self, code: Code, size: Value, factor: Value, padding: str, align: bool) -> None:
        self._code, self._padding, self._align = code, padding, align
        self._factor = code.spread(factor)
        self._size = code.spread(size.converted("sitofp", FLOAT))

    def place(self, grid: Value) -> Value:
        """The place in the dimension that a coordinate from -1 to 1 says, after padding."""
        at = (grid + 1.0) * self._factor
        at = at if self._align else at - 0.5
        if self._padding == "reflection":
            at = self._reflected(at)
        if self._padding != "zeros":
            at = at_most(at_least(self._code.choose(at.is_nan(), 0.0, at), 0.0), self._size - 1.0)
        return at

    def _reflected(self, at: Value) -> Value:
        """Thrown back at the middles of the outermost elements, or at their outer edges."""
        code, low = self._code, 0.0 if self._align else -0.5
        around = (self._size - 1.0 if self._align else self._size) * 2.0
        away = code.absolute(at - low)
        extra = away - called("trunc", away / around) * around
        other = around - extra
        thrown = code.choose(extra < other, extra, other) + low
        return code.choose(around <= 0.0, 0.0, thrown)

    def index(self, at: Value) -> tuple[Value, Value]:
        """A whole place as a number, 0 where there is no element, and whether there is one."""
        code = self._code
        exists = (at >= 0.0) & (at < self._size)
        held = code.choose(exists, at, 0.0)
        return held.converted("fptosi", INT32.of_lanes(LANES)).converted("sext", _WHOLE), exists
