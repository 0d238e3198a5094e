"""Images and volumes read at places that a grid names, by the steps that NumPy would take.

A vector holds neighbours of a row of the result; each place is found once for all channels.
"""

from __future__ import annotations

from functools import cache, reduce
from itertools import product
from math import prod
from operator import and_
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..functions.arithmetic import at_least, at_most, called
from ..functions.divisions import fmod
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Value
from ..loading.objects import kernel

__all__ = ["sample"]

_PER_THREAD: Final = 1 << 13
"""Elements of the result that are worth another thread."""
_AXES: Final = {2: "yx", 3: "zyx"}
_ARRAYS: Final = ("input", "grid", "out")
_WHOLE: Final = INT64.of_lanes(LANES)
_CUBIC: Final = -0.75
"""The slope of cubic weights at the neighbours."""


def sample(input: Array, grid: Array, form: str, padding: str, align: bool) -> Array | None:
    """float32 [N, C, *space] at the places float32 [N, *out, D] names, x first, in two or three
    dimensions: both contiguous and not empty.

    The form is "linear", "nearest" or, of images, "cubic", the padding "zeros", "border" or
    "reflection".  None if an image is too large for places of 32 bits.
    """
    input, grid = input[...], grid[...]  # which no other thread can change
    batch, channels, *space = input.shape
    shape = grid.shape[1:-1]
    if prod(space) >= 1 << 31:
        return None
    out = np.empty((batch, channels, *shape), np.float32)
    factors = [float(np.float32((size - align) / 2)) for size in space]
    sampling = _kernel(form, padding, align, len(space))
    rows, columns = prod(shape[:-1]), shape[-1]
    least = _PER_THREAD // (channels * columns) + 1
    run(sampling, batch * rows, least, channels, rows, columns, *space, *factors, input, grid, out)
    return out


@cache
def _kernel(form: str, padding: str, align: bool, dims: int) -> int:
    parameters = (form, padding, align, dims)
    return kernel("sample", parameters, lambda target: sampling_text(target, *parameters))


def sampling_text(target: Target, form: str, padding: str, align: bool, dims: int) -> str:
    """The module of a kernel; its range is one of rows of the result."""
    code = Code(target)
    words = [(INT64, name) for name in ("channels", "rows", "columns")]
    words += [(INT64, f"size_{axis}") for axis in _AXES[dims]]
    words += [(DOUBLE, f"factor_{axis}") for axis in _AXES[dims]]
    words += [(POINTER, name) for name in _ARRAYS]
    channels, rows, columns = (code.argument(*each) for each in words[:3])
    input, grid, out = (code.argument(POINTER, name) for name in _ARRAYS)
    sizes = [code.argument(INT64, f"size_{axis}") for axis in _AXES[dims]]
    kind = _Axis if dims == 2 else _VolumeAxis
    axes = [
        kind(code, size, code.argument(DOUBLE, f"factor_{axis}"), padding, align)
        for size, axis in zip(sizes, _AXES[dims], strict=True)
    ]
    elements = reduce(lambda one, other: one * other, sizes)
    steps = code.order(_WHOLE) * (4 * dims)
    with code.units() as row:
        image, line = code.split(row, rows)

        def visit(places: list[Value], mask: Value | None) -> None:
            first = code.at(grid, (row * columns + places[0]) * dims, FLOAT)
            given = [
                code.gathered(FLOATS, first, steps + 4 * (dims - 1 - dim), mask)
                for dim in range(dims)
            ]
            at = [axis.place(each) for axis, each in zip(axes, given, strict=True)]
            if form != "cubic":
                at = [axis.inside(each) for axis, each in zip(axes, at, strict=True)]
            groups = _cubic(axes, at) if form == "cubic" else [(_SPOTS[form](axes, at), None)]
            with code.counted(code.constant(INT64, 0), channels) as channel:
                plane = image * channels + channel
                start = code.at(input, plane * elements, FLOAT)
                lines = [(_sum(start, spots, mask), weight) for spots, weight in groups]
                total = _added([each if w is None else each * w for each, w in lines])
                goal = code.at(out, (plane * rows + line) * columns + places[0], FLOAT)
                code.store_if(total, goal, mask)

        code.vectors(code.constant(INT64, 0), columns, 1, visit)
    return code.kernel("sample", words)


Spot = tuple[Value, Value, Value | None]
"""How many bytes behind an image's first element one lies, where there is one, and its weight."""


def _added(terms: list[Value]) -> Value:
    return reduce(lambda one, other: one + other, terms)


def _sum(start: Value, spots: list[Spot], mask: Value | None) -> Value:
    """What lies at some spots, times their weights."""
    terms = []
    for offsets, exists, weight in spots:
        seen = exists if mask is None else exists & mask
        term = start.code.gathered(FLOATS, start, offsets, seen)
        terms.append(term if weight is None else term * weight)
    return _added(terms)


def _nearest(axes: list[_Axis], at: list[Value]) -> list[Spot]:
    return [_spot(axes, [called("rint", each) for each in at], None)]


def _corners(axes: list[_Axis], at: list[Value]) -> list[Spot]:
    """The neighbours on either side, with the shares that they have."""
    lows = [called("floor", each) for each in at]
    shares = [axis.shares(each, low) for axis, each, low in zip(axes, at, lows, strict=True)]
    found = []
    for corner in product((0, 1), repeat=len(axes)):
        weights = [share[up] for share, up in zip(shares, corner, strict=True)]
        if len(axes) == 3:
            weights = [weights[2], weights[1], weights[0]]
        weight = reduce(lambda one, other: one * other, weights)
        spot = _spot(axes, [low + float(up) for low, up in zip(lows, corner, strict=True)], weight)
        if len(axes) == 3:
            spot = (*spot[:2], weight.code.choose(spot[1], weight, 0.0))
        found.append(spot)
    return found


_SPOTS: Final = {"nearest": _nearest, "linear": _corners}


def _cubic(axes: list[_Axis], at: list[Value]) -> list[tuple[list[Spot], Value | None]]:
    """Four rows of four neighbours, and the weights of the rows."""
    lows = [called("floor", each) for each in at]
    weights = [_cubic_weights(each - low) for each, low in zip(at, lows, strict=True)]
    places = [
        [axis.inside(low + float(step)) for step in (-1, 0, 1, 2)]
        for axis, low in zip(axes, lows, strict=True)
    ]
    return [
        ([_spot(axes, [y, x], w) for x, w in zip(places[1], weights[1], strict=True)], weight)
        for y, weight in zip(places[0], weights[0], strict=True)
    ]


def _cubic_weights(share: Value) -> list[Value]:
    """Those of four neighbours of a point that lies `share` after the second (Keys, 1981)."""

    def near(x: Value) -> Value:
        return ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1.0

    def far(x: Value) -> Value:
        return ((_CUBIC * x - 5 * _CUBIC) * x + 8 * _CUBIC) * x - 4 * _CUBIC

    return [far(share + 1.0), near(share), near(1.0 - share), far(2.0 - share)]


def _spot(axes: list[_Axis], at: list[Value], weight: Value | None) -> Spot:
    found = [axis.index(each) for axis, each in zip(axes, at, strict=True)]
    index = found[0][0]
    for axis, (place, _) in zip(axes[1:], found[1:], strict=True):
        index = index * index.code.spread(axis.count) + place
    return index << 2, reduce(and_, [exists for _, exists in found]), weight


class _Axis:
    """A dimension of the image, whose size and factor are numbers of the kernel."""

    def __init__(self, code: Code, size: Value, factor: Value, padding: str, align: bool) -> None:
        self._code, self._padding, self._align = code, padding, align
        self.count = size
        self._factor = code.spread(factor.converted("fptrunc", FLOAT))
        self._size = code.spread(size.converted("sitofp", FLOAT))

    def place(self, grid: Value) -> Value:
        """The place in the dimension that a coordinate from -1 to 1 says."""
        at = (grid + 1.0) * self._factor
        return at if self._align else at - 0.5

    def inside(self, at: Value) -> Value:
        """The place after padding."""
        if self._padding == "reflection":
            at = self._reflected(at)
        if self._padding != "zeros":
            held = self._code.choose(at.is_nan(), self._for_nan(), at)
            at = at_most(at_least(held, 0.0), self._size - 1.0)
        return at

    def shares(self, at: Value, low: Value) -> tuple[Value, Value]:
        """Those of the lower and the upper neighbour."""
        return 1.0 - (at - low), at - low

    def _for_nan(self) -> Value | float:
        return 0.0

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


class _VolumeAxis(_Axis):
    """A dimension of a volume, over which torch takes other steps."""

    def place(self, grid: Value) -> Value:
        moved = grid + 1.0
        if self._align:
            return moved / 2.0 * (self._size - 1.0)
        return (moved * self._size - 1.0) / 2.0

    def shares(self, at: Value, low: Value) -> tuple[Value, Value]:
        return low + 1.0 - at, at - low

    def _for_nan(self) -> Value | float:
        return self._size - 1.0

    def _reflected(self, at: Value) -> Value:
        code, low = self._code, 0.0 if self._align else -0.5
        around = self._size - 1.0 if self._align else self._size
        away = code.absolute(at - low)
        extra = fmod(away, around)
        is_even = fmod(called("floor", away / around), around.taken(2.0)).equals(0.0)
        thrown = code.choose(is_even, extra + low, around - extra + low)
        return code.choose(around <= 0.0, 0.0, thrown)
