"""Images and volumes read at places that a grid names, by the steps that NumPy would take.

A vector holds neighbours of a row of the result; each place is found once for all channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from itertools import product
from math import prod
from operator import and_
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..functions.arithmetic import at_least, at_most, called
from ..functions.divisions import fmod
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["sample", "sample_back"]

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
    words, counts, (input, grid, out), axes, elements = _given(code, _ARRAYS, padding, align, dims)
    channels, rows, columns = counts
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


class _Taken(NamedTuple):
    """What kernels over grids take."""

    words: list[tuple[Kind, str]]
    counts: tuple[Value, ...]
    """Channels of an image, rows and columns of the result."""
    arrays: tuple[Value, ...]
    axes: list[_Axis]
    elements: Value
    """Of a channel of the image."""


def _given(code: Code, names: Sequence[str], padding: str, align: bool, dims: int) -> _Taken:
    words = [(INT64, name) for name in ("channels", "rows", "columns")]
    words += [(INT64, f"size_{axis}") for axis in _AXES[dims]]
    words += [(DOUBLE, f"factor_{axis}") for axis in _AXES[dims]]
    words += [(POINTER, name) for name in names]
    counts = tuple([code.argument(*each) for each in words[:3]])
    arrays = tuple([code.argument(POINTER, name) for name in names])
    sizes = [code.argument(INT64, f"size_{axis}") for axis in _AXES[dims]]
    kind = _Axis if dims == 2 else _VolumeAxis
    axes = [
        kind(code, size, code.argument(DOUBLE, f"factor_{axis}"), padding, align)
        for size, axis in zip(sizes, _AXES[dims], strict=True)
    ]
    return _Taken(words, counts, arrays, axes, reduce(lambda one, other: one * other, sizes))


# --------------------------------------------------------------------------- the way back

_SLOPED: Final = ("slopes", "input", "grid", "to_input", "to_grid")


def sample_back(
    slopes: Array, input: Array, grid: Array, padding: str, align: bool, asked: tuple[bool, bool]
) -> tuple[Array | None, Array | None] | None:
    """What the form "linear" gives back to image and grid of float32 [N, C, *out], those that are
    `asked` for: all in one piece and not empty, the padding "zeros" or "border".

    None if an image is too large for places of 32 bits.
    """
    slopes, input, grid = slopes[...], input[...], grid[...]  # which no other thread can change
    batch, channels, *space = input.shape
    shape = grid.shape[1:-1]
    if prod(space) >= 1 << 31 or slopes.shape != (batch, channels, *shape):
        return None
    made = [
        np.zeros(like.shape if wanted else 1, np.float32)
        for like, wanted in zip((input, grid), asked, strict=True)
    ]
    factors = [float(np.float32((size - align) / 2)) for size in space]
    parameters = (padding, align, len(space), *asked)
    found = kernel("sample_back", parameters, lambda target: sloping_text(target, *parameters))
    rows, columns = prod(shape[:-1]), shape[-1]
    least = _PER_THREAD // (channels * rows * columns) + 1
    arrays = (slopes, input, grid, *made)
    run(found, batch, least, channels, rows, columns, *space, *factors, *arrays)
    return made[0] if asked[0] else None, made[1] if asked[1] else None


def sloping_text(
    target: Target, padding: str, align: bool, dims: int, to_input: bool, to_grid: bool
) -> str:
    """The module of a kernel; its range is one of images, whose elements many places read."""
    code = Code(target)
    words, counts, arrays, axes, elements = _given(code, _SLOPED, padding, align, dims)
    (channels, rows, columns), (slopes, input, grid, back, away) = counts, arrays
    steps = code.order(_WHOLE) * (4 * dims)
    added = _Added(code, 2**dims) if to_input else None
    with code.units() as image, code.counted(code.constant(INT64, 0), rows) as line:

        def visit(places: list[Value], mask: Value | None) -> None:
            first = ((image * rows + line) * columns + places[0]) * dims
            offsets = [steps + 4 * (dims - 1 - dim) for dim in range(dims)]
            start = code.at(grid, first, FLOAT)
            given = [code.gathered(FLOATS, start, each, mask) for each in offsets]
            at = [axis.place(each) for axis, each in zip(axes, given, strict=True)]
            held = [axis.inside(each) for axis, each in zip(axes, at, strict=True)]
            spots = [_seen(spot, mask) for spot in _corners(axes, held)]
            leans = _leans(axes, held) if to_grid else []
            totals = [code.variable(code.constant(FLOATS, 0)) for _ in leans]
            if added is not None:
                added.begin(spots)
            with code.counted(code.constant(INT64, 0), channels) as channel:
                plane = image * channels + channel
                place = (plane * rows + line) * columns + places[0]
                slope = code.load_if(FLOATS, code.at(slopes, place, FLOAT), mask)
                begin = plane * elements
                if leans:
                    source = code.at(input, begin, FLOAT)
                    numbers = [code.gathered(FLOATS, source, *each[:2]) for each in spots]
                    for total, weights in zip(totals, leans, strict=True):
                        pairs = zip(numbers, weights, strict=True)
                        lean = _added([number * weight for number, weight in pairs])
                        total.set(total.now + slope * lean)
                if added is not None:
                    added.add(slope, spots, code.at(back, begin, FLOAT))
            goal = code.at(away, first, FLOAT)
            for axis, total, each, behind in zip(axes, totals, at, offsets, strict=False):
                code.scattered(axis.moved(total.now, each), goal, behind, mask)

        code.vectors(code.constant(INT64, 0), columns, 1, visit)
    return code.kernel("sample_back", words)


def _seen(spot: Spot, mask: Value | None) -> Spot:
    """A spot that exists only where the result does."""
    offsets, exists, weight = spot
    return offsets, exists if mask is None else exists & mask, weight


def _leans(axes: list[_Axis], at: list[Value]) -> list[list[Value]]:
    """How much the weight of each corner grows as a place moves on, for each axis."""
    lows = [called("floor", each) for each in at]
    shares = [axis.shares(each, low) for axis, each, low in zip(axes, at, lows, strict=True)]
    found = []
    for own in range(len(axes)):
        weights = []
        for corner in product((0, 1), repeat=len(axes)):
            others = [shares[dim][up] for dim, up in enumerate(corner) if dim != own]
            weight = reduce(lambda one, other: one * other, others)
            weights.append(weight if corner[own] else -weight)
        found.append(weights)
    return found


class _Added:
    """Numbers that are added where spots lie, one after the other: several may be one."""

    def __init__(self, code: Code, spots: int) -> None:
        self._code = code
        self._offsets = [code.room(_WHOLE) for _ in range(spots)]
        self._shares = code.room(FLOATS)

    def begin(self, spots: list[Spot]) -> None:
        for place, (offsets, exists, _) in zip(self._offsets, spots, strict=True):
            self._code.store(self._code.choose(exists, offsets, 0), place)

    def add(self, slope: Value, spots: list[Spot], goal: Value) -> None:
        code = self._code
        for place, (_, exists, weight) in zip(self._offsets, spots, strict=True):
            assert weight is not None
            code.store(code.choose(exists, slope * weight, 0.0), self._shares)
            for lane in range(LANES):
                offset = code.load(INT64, code.at(place, lane, INT64))
                number = code.at(goal, offset >> 2, FLOAT)
                share = code.load(FLOAT, code.at(self._shares, lane, FLOAT))
                code.store(code.load(FLOAT, number) + share, number)


# --------------------------------------------------------------------------- spots

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

    def moved(self, slope: Value, at: Value) -> Value:
        """The slope of a place as that of its coordinate: none where an edge holds it."""
        given = slope * self._factor
        if self._padding == "zeros":
            return given
        return self._code.choose((at > 0.0) & (at < self._size - 1.0), given, 0.0)

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
