"""Gradients of resizing and of sampling at given places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add, mul

import numpy as np

from ...memory.dtype import Array
from ...memory.remembered import remembered
from ...resizing.interpolate import resizing, shares
from ...tensors.tensor import Tensor
from ..table.rows import Ints, Lies, Tensors, aten, composite, gradient
from .windows import spread

# --------------------------------------------------------------------------- resizing


@remembered(1 << 22)
def _weights(name: str, size: int, wanted: int, align: bool, scale: float | None) -> Array:
    """How much of each element of one dimension goes to each result."""
    taps = shares(name, size, wanted, align, scale)
    made = np.zeros((wanted, size))
    assert taps.weights is not None
    for places, weights in zip(taps.places, taps.weights, strict=True):
        made[np.arange(wanted), places] += weights
    made.setflags(write=False)
    return made


def _resized(name: str, count: int) -> Callable[..., Tensor]:
    def of_sizes(
        g: Tensor, given: Ints, align: bool | None, scales: Sequence[float | None] | None
    ) -> Tensor:
        for axis in range(count):
            dim = 2 + axis
            scale = None if scales is None else scales[axis]
            matrix = _weights(name, given[dim], g.shape[dim], bool(align), scale)
            g = spread(g, matrix, dim)
        return g

    return of_sizes


def _declare(name: str, count: int) -> None:
    compute = _resized(name, count)

    def plain(
        g: Tensor, self_sizes: Ints, align_corners: bool | None = None, scales: float | None = None,
        scales_d: float | None = None, scales_h: float | None = None, scales_w: float | None = None,
    ) -> Tensor:  # fmt: skip
        given = [scales] if count == 1 else [scales_d, scales_h, scales_w][-count:]
        return compute(g, self_sizes, align_corners, given)

    def by_factors(
        g: Tensor, input_sizes: Ints, scale_factors: Sequence[float] | None,
        align_corners: bool | None = None,
    ) -> Tensor:  # fmt: skip
        return compute(g, input_sizes, align_corners, scale_factors)

    words = name.strip("_").replace("2d", "2D").replace("1d", "1D").replace("3d", "3D").split("_")
    node = "".join(word[:1].upper() + word[1:] for word in words) + "Backward0"
    by_rows = (name.endswith("3d") and "nearest" in name) or name == "upsample_bicubic2d"
    lays: Lies = "by rows" if by_rows else "as the gradient"
    gradient(f"aten::{name}", name=node, self=plain, lays=lays)
    gradient(f"aten::{name}.vec", name=node, input=by_factors, lays=lays)


for _name, _count in resizing().items():
    _declare(_name, _count)

# --------------------------------------------------------------------------- grids

_ZEROS, _REFLECTION = 0, 2
_NEAREST, _CUBIC = 1, 2


def _unscaled(x: Tensor, size: int, align: bool) -> Tensor:
    """Places from -1 to 1 as places of elements."""
    return (x + 1) * ((size - 1) / 2) if align else ((x + 1) * size - 1) / 2


def _reflected(x: Tensor, low: float, high: float) -> Tensor:
    """Places reflected into a range."""
    if low == high:
        return x * 0
    span = high - low
    away = (x - low).abs()
    rest = aten.fmod(away, span)
    turns = (away.detach() / span).floor()
    even = aten.remainder(turns, 2) == 0
    return aten.where(even, rest + low, span - rest + low)


def _placed(x: Tensor, size: int, padding: int, align: bool) -> Tensor:
    if padding == _REFLECTION:
        x = _reflected(x, 0, size - 1) if align else _reflected(x, -0.5, size - 0.5)
    if padding == _ZEROS:
        return x
    inside = (x > 0).logical_and(x < size - 1)
    return aten.where(inside, x, x.detach().clamp(0, size - 1))  # at an edge nothing moves


def _read(input: Tensor, places: Tensors) -> Tensor:
    """The elements at whole places (N, ...), 0 outside: (N, C, ...)."""
    sizes = input.shape[2:]
    pairs = list(zip(places, sizes, strict=True))
    good = [(place >= 0).logical_and(place < size) for place, size in pairs]
    inside = reduce(lambda one, other: one.logical_and(other), good)
    flat, *safe = [place.clamp(0, size - 1).long() for place, size in pairs]
    for more, size in zip(safe, sizes[1:], strict=True):
        flat = flat * size + more
    batch, channels = input.shape[:2]
    shape = list(flat.shape[1:])
    count = math.prod(shape)
    index = flat.reshape([batch, 1, count]).expand([batch, channels, count])
    rows = input.reshape([batch, channels, math.prod(sizes)])
    found = rows.gather(2, index).reshape([batch, channels, *shape])
    return found * inside.unsqueeze(1)


def _corners(input: Tensor, places: Tensors) -> Tensor:
    lows = [place.detach().floor() for place in places]
    values = []
    for corner in range(2 ** len(places)):
        weights, at = [], []
        for d, (place, low) in enumerate(zip(places, lows, strict=True)):
            up = bool(corner >> d & 1)
            weights.append(place - low if up else low + 1 - place)
            at.append(low + 1 if up else low)
        values.append(_read(input, at) * reduce(mul, weights).unsqueeze(1))
    return reduce(add, values)


def _cubic(t: Tensor) -> list[Tensor]:
    """The weights of four neighbours."""
    a = -0.75

    def near(x: Tensor) -> Tensor:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Tensor) -> Tensor:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _cubic_sample(input: Tensor, places: Tensors, padding: int, align: bool) -> Tensor:
    y, x = places
    height, width = input.shape[2:]
    low_y, low_x = y.detach().floor(), x.detach().floor()
    values = []
    for i, weight_y in enumerate(_cubic(y - low_y)):
        for j, weight_x in enumerate(_cubic(x - low_x)):
            at_y = _placed(low_y + (i - 1), height, padding, align)
            at_x = _placed(low_x + (j - 1), width, padding, align)
            values.append(_read(input, [at_y, at_x]) * (weight_y * weight_x).unsqueeze(1))
    return reduce(add, values)


@composite(
    "aten::grid_sampler",
    "aten::grid_sampler_2d",
    "aten::grid_sampler_3d",
    "aten::_grid_sampler_2d_cpu_fallback",
    name="GridSampler2DBackward0",
)
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Values read at the places of a grid."""
    sizes = input.shape[2:]
    last = len(sizes) - 1
    places = [
        _unscaled(grid.select(-1, last - d), size, align_corners) for d, size in enumerate(sizes)
    ]
    if interpolation_mode == _CUBIC:
        return _cubic_sample(input, places, padding_mode, align_corners)
    places = [
        _placed(p, size, padding_mode, align_corners) for p, size in zip(places, sizes, strict=True)
    ]
    if interpolation_mode == _NEAREST:
        return _read(input, [place.detach().round() for place in places])
    return _corners(input, places)
