"""Reading a tensor at places given by a grid, and making such grids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Final

import numpy as np

from ..kernels import family, in_order, products
from ..memory.dtype import Array, Dtype, dtype_of
from ..memory.errors import OperatorError
from ..memory.remembered import remembered
from ..shapes.windows import Ints, wide_dtype
from ..table.refusals import not_implemented, scalar_types_differ
from ..table.table import operator
from .resample import cubic_weights

__all__ = ["affine_grid_generator", "grid_sampler"]

_FLOAT32: Final = np.dtype(np.float32)
_LINEAR, _NEAREST, _CUBIC = 0, 1, 2
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2


# --------------------------------------------------------------------------- places


def _to_places(grid: Array, size: int, align: bool) -> Array:
    """Grid coordinates, from -1 to 1 over the input, as places in a dimension."""
    number = grid.dtype.type
    if align:
        return np.asarray((grid + number(1)) * number((size - 1) / 2))
    return np.asarray((grid + number(1)) * number(size / 2) - number(0.5))


def _to_places_in_volume(grid: Array, size: int, align: bool) -> Array:
    """The same in the steps that torch takes over volumes, each of them rounded."""
    number = grid.dtype.type
    moved = grid + number(1)
    if align:
        return np.asarray(moved / number(2) * number(size - 1))
    return np.asarray((moved * number(size) - number(1)) / number(2))


def _clipped(at: Array, size: int, nan: int) -> Array:
    """Inside the dimension; what is not a number goes to `nan`."""
    return np.clip(np.where(np.isnan(at), nan, at), 0, size - 1).astype(at.dtype)


def _reflected(at: Array, size: int, align: bool) -> Array:
    """Thrown back at the middles of the outermost elements, or at their outer edges."""
    number = at.dtype.type
    low = number(0 if align else -0.5)
    around = 2 * (size - 1) if align else 2 * size
    if around <= 0:
        return np.zeros_like(at)
    away = np.abs(at - low)
    extra = away - np.trunc(away / number(around)) * number(around)
    return np.asarray(np.minimum(extra, number(around) - extra) + low)


def _reflected_in_volume(at: Array, size: int, align: bool) -> Array:
    """The same in the steps that torch takes over volumes."""
    number = at.dtype.type
    low, around = number(0 if align else -0.5), number(size - 1 if align else size)
    if around <= 0:
        return np.zeros_like(at)
    away = np.abs(at - low)
    extra = np.fmod(away, around)
    is_even = np.fmod(np.floor(away / around), number(2)) == 0
    return np.asarray(np.where(is_even, extra + low, around - extra + low))


def _inside(at: Array, size: int, padding: int, align: bool, volume: bool = False) -> Array:
    """Places after padding: those that stay outside read zeros."""
    nan = size - 1 if volume else 0
    if padding == _BORDER:
        return _clipped(at, size, nan)
    if padding == _REFLECTION:
        thrown = _reflected_in_volume if volume else _reflected
        return _clipped(thrown(at, size, align), size, nan)
    return at


class _Reader:
    """Reads an input of shape (batch, channels, *space) at whole places, outside of it zeros."""

    def __init__(self, input: Array) -> None:
        self.space = input.shape[2:]
        self.flat = input.reshape(*input.shape[:2], prod(self.space))

    def read(self, places: Sequence[Array]) -> Array:
        """The elements at places of shape (batch, *out): (batch, channels, *out)."""
        exists = np.asarray(True)
        index: Array = np.zeros((), np.int64)
        for at, size in zip(places, self.space, strict=True):
            exists = exists & (at >= 0) & (at < size)
            index = index * size + np.where((at >= 0) & (at < size), at, 0).astype(np.int64)
        shape = index.shape
        taken = np.take_along_axis(self.flat, index.reshape(shape[0], 1, -1), 2)
        taken = np.where(exists.reshape(shape[0], 1, -1), taken, 0)
        return taken.reshape(*taken.shape[:2], *shape[1:])


# --------------------------------------------------------------------------- sampling


def _sample_linear(reader: _Reader, places: list[Array]) -> Array:
    low = [np.floor(at) for at in places]
    share = [at - down for at, down in zip(places, low, strict=True)]
    total: Array | None = None
    for corner in product((0, 1), repeat=len(places)):
        weight = np.ones((), places[0].dtype)
        for up, part in zip(corner, share, strict=True):
            weight = weight * (part if up else 1 - part)
        taken = reader.read([down + up for down, up in zip(low, corner, strict=True)])
        term = taken * weight[:, None]
        total = term if total is None else total + term
    assert total is not None
    return total


def _sample_volume(reader: _Reader, places: list[Array]) -> Array:
    """`_sample_linear` over volumes: the x share first, and nothing of what lies outside."""
    low = [np.floor(at) for at in places]
    one = places[0].dtype.type(1)
    shares = [
        (down + one - at, at - down) for at, down in zip(places, low, strict=True)
    ]  # of the lower and the upper neighbour
    total: Array | None = None
    for corner in product((0, 1), repeat=3):
        depth, height, width = (share[up] for share, up in zip(shares, corner, strict=True))
        weight = width * height * depth
        here = [down + up for down, up in zip(low, corner, strict=True)]
        weight = np.where(_exists(here, reader.space), weight, 0)
        term = reader.read(here) * weight[:, None]
        total = term if total is None else total + term
    assert total is not None
    return total


def _exists(places: Sequence[Array], space: Ints) -> Array:
    result = np.asarray(True)
    for at, size in zip(places, space, strict=True):
        result = result & (at >= 0) & (at < size)
    return result


def _sample_cubic(reader: _Reader, places: list[Array], padding: int, align: bool) -> Array:
    low = [np.floor(at) for at in places]
    weights = [cubic_weights(at - down) for at, down in zip(places, low, strict=True)]
    total: Array | None = None
    for down in range(4):
        y = _inside(low[0] + (down - 1), reader.space[0], padding, align)
        row: Array | None = None
        for across in range(4):
            x = _inside(low[1] + (across - 1), reader.space[1], padding, align)
            term = reader.read([y, x]) * weights[1][across][:, None]
            row = term if row is None else row + term
        assert row is not None
        term = row * weights[0][down][:, None]
        total = term if total is None else total + term
    assert total is not None
    return total


def _check(input: Array, grid: Array, mode: int) -> None:
    a, b = list(input.shape), list(grid.shape)
    dims = input.ndim - 2
    sentence = ""
    if input.shape[:1] != grid.shape[:1]:
        sentence = (
            "grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {a} and grid with sizes {b}"
        )
    elif grid.shape[-1] != dims:
        sentence = (
            f"grid_sampler(): expected grid to have size {dims} in last dimension, but got grid "
            f"with sizes {b}"
        )
    elif input.ndim not in (4, 5) or input.ndim != grid.ndim:
        sentence = (
            f"grid_sampler(): expected {4 if input.ndim == 4 else 5}D input and grid with same "
            f"number of dimensions, but got input with sizes {a} and grid with sizes {b}"
        )
    elif 0 in input.shape[2:]:
        sentence = (
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {a} with dimension {input.shape.index(0, 2)} being empty"
        )
    elif mode == _CUBIC and input.ndim != 4:
        sentence = "grid_sampler(): bicubic interpolation only supports 4D input"
    if sentence:
        raise OperatorError(
            sentence,
            code="shape-mismatch",
            roles={"input": f"has shape {a}", "grid": f"has shape {b}"},
        )
    if not dtype_of(input).is_floating_point:
        raise not_implemented(_KERNELS[dims], input.dtype)
    if input.dtype != grid.dtype:
        raise scalar_types_differ(input, grid, "input", "grid")


def _natively(input: Array, grid: Array, mode: int, padding: int, align: bool) -> Array | None:
    """float32 by native code; None of others, and where there is none."""
    known = mode in _FORMS and padding in _PADDINGS and input.dtype is _FLOAT32
    kernels = family("windows.grid_samples") if known else None
    if kernels is None:
        return None
    whole, places = in_order(input), in_order(grid)
    found: Array | None = kernels.sample(whole, places, _FORMS[mode], _PADDINGS[padding], align)
    return found


_FORMS: Final = {_LINEAR: "linear", _NEAREST: "nearest", _CUBIC: "cubic"}
_PADDINGS: Final = {_ZEROS: "zeros", _BORDER: "border", _REFLECTION: "reflection"}
_KERNELS: Final = {2: "grid_sampler_2d_cpu_kernel_impl", 3: "grid_sampler3d_cpu"}


@operator(
    "aten::_grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, int interpolation_mode, "
    "int padding_mode, bool align_corners) -> Tensor"
)
@operator(
    "aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners) -> Tensor",
    "aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners) -> Tensor",
    autocast="full",
    prepared=True,
)
@operator(
    "aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners) -> Tensor",
    autocast="full",
    out="",
    prepared=True,
)
def grid_sampler(
    input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Array:
    """`input` at the places in `grid`, whose last dimension names x first."""
    input, grid = input[...], grid[...]  # which no other thread can change
    _check(input, grid, interpolation_mode)
    space = input.shape[2:]
    if not input.size or not grid.size:
        return np.zeros((*input.shape[:2], *grid.shape[1:-1]), input.dtype)
    found = _natively(input, grid, interpolation_mode, padding_mode, align_corners)
    if found is not None:
        return found
    reader = _Reader(input)  # 16-bit floats are rounded at every step
    is_volume = len(space) == 3
    to_places = _to_places_in_volume if is_volume else _to_places
    places = [
        to_places(grid[..., len(space) - 1 - dim], size, align_corners)
        for dim, size in enumerate(space)
    ]
    if interpolation_mode == _CUBIC:
        made = _sample_cubic(reader, places, padding_mode, align_corners)
        return made.astype(input.dtype, copy=False)
    places = [
        _inside(at, size, padding_mode, align_corners, is_volume)
        for at, size in zip(places, space, strict=True)
    ]
    if interpolation_mode == _NEAREST:
        made = reader.read([np.rint(at) for at in places])
    else:
        made = (_sample_volume if is_volume else _sample_linear)(reader, places)
    return made.astype(input.dtype, copy=False)


# --------------------------------------------------------------------------- grids


def _steps(count: int, align: bool, dtype: Dtype) -> Array:
    """From -1 to 1, at the corners or at the middles of `count` elements."""
    if count <= 1:
        return np.zeros(count, dtype)
    line = np.linspace(-1, 1, count)
    return (line if align else line * (count - 1) / count).astype(dtype)


@remembered(1 << 22)
def _bases(space: tuple[int, ...], align: bool, dtype: Dtype) -> Array:
    """The places of all elements, each followed by a one: [elements, dimensions and one]."""
    axes = np.meshgrid(*(_steps(count, align, dtype) for count in space), indexing="ij")
    base = np.stack([*reversed(axes), np.ones(space, dtype)], -1).reshape(-1, len(space) + 1)
    base.setflags(write=False)
    return base


@operator("aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor")
def affine_grid_generator(theta: Array, size: Ints, align_corners: bool) -> Array:
    """The places that affine maps send the elements of a (batch, channels, *space) tensor to."""
    if len(size) not in (4, 5):
        raise OperatorError(
            "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) size as input",
            headline=f"`size` has {len(size)} numbers, 4 or 5 are needed",
        )
    space = tuple(size[2:])
    wide = wide_dtype(theta.dtype)
    base = _bases(space, bool(align_corners), wide)
    made: Array = products.matmul(base, theta.astype(wide, copy=False).swapaxes(1, 2))
    return made.reshape(size[0], *space, len(space)).astype(theta.dtype, copy=False)
