"""Maxima over windows, with or without the places they are found at.

A window's maximum is found one dimension at a time.  The last dimension comes first when places
are asked for, so that among equals the first one in row-major order is taken, as in torch.  NaN
counts as larger than everything, and the last NaN wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from math import prod
from types import ModuleType
from typing import Final

import numpy as np

from ..kernels import cast_by_kernel, family, in_order, is_half, is_ready, written_by_numpy
from ..memory.dtype import Array, Dtype, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import settled
from ..selection.places import combined_natively, taken_natively
from ..shapes.windows import Ints, ends_in_channels, follow_format, wide_dtype
from ..table.record import Policy
from ..table.refusals import Refusal, not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .few_windows import cut_at, max_in, windows_of
from .pixels import with_kernels
from .pool_checks import Geometry, check_ints, pool_geometry, pooled_size

__all__ = ["lowest", "max_over", "max_pool", "max_pool_with_indices"]

_INT64: Final = np.dtype(np.int64)


def lowest(dtype: Dtype) -> float:
    """What no element is below."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


# --------------------------------------------------------------------------- values alone


def _widened(array: Array, axis: int, before: int, after: int) -> Array:
    """The array with lowest values around one dimension."""
    if not before and not after:
        return array
    shape = list(array.shape)
    shape[axis] += before + after
    result = np.full(shape, lowest(array.dtype), array.dtype)
    inner = [slice(None)] * array.ndim
    inner[axis] = slice(before, before + array.shape[axis])
    result[tuple(inner)] = array
    return result


def _values_along(array: Array, axis: int, g: Geometry, place: int) -> Array:
    kernel, stride, dilation = g.kernel[place], g.stride[place], g.dilation[place]
    count, before = g.output[place], g.padding[place]
    if count < kernel:  # a kernel may be longer than any memory, its windows are few then
        return np.concatenate(
            [
                array[cut_at(axis, cut)].max(axis, keepdims=True, initial=lowest(array.dtype))
                for cut in windows_of(array.shape[axis], g, place)
            ],
            axis,
        )
    needed = (count - 1) * stride + dilation * (kernel - 1) + 1
    after = max(0, needed - before - array.shape[axis])
    source = _widened(array, axis, before, after)
    index = [slice(None)] * array.ndim
    best: Array | None = None
    for k in range(kernel):
        start = k * dilation
        index[axis] = slice(start, start + (count - 1) * stride + 1, stride)
        part = source[tuple(index)]
        if best is None:
            best = part.copy()
        else:
            np.maximum(best, part, out=best)
    assert best is not None
    return best


def _values(input: Array, g: Geometry) -> Array:
    dims = len(g.kernel)
    result = input
    for place in range(dims):
        result = _values_along(result, input.ndim - dims + place, g, place)
    return result


# --------------------------------------------------------------------------- with places

Coordinates = Callable[[int], tuple[Array, Array]]
"""For the k-th element of all windows along a dimension: where it lies, and whether it exists."""


def max_over(
    values: Array, index: Array | None, axis: int, kernel: int, at: Coordinates, scale: int
) -> tuple[Array, Array]:
    """The maxima of windows along one dimension and their places.

    `index` are the places found along the dimensions after this one; an element of this one is
    `scale` further on.  `at` gives coordinates that broadcast against `values` with `axis`
    shortened to the number of windows.
    """
    best: Array | None = None
    places: Array | None = None
    found: Array | None = None
    for k in range(kernel):
        where, exists = at(k)
        part, place = _taken(values, index, axis, where, scale)
        if best is None or places is None or found is None:
            best, places = part.copy(), np.broadcast_to(place, part.shape).copy()
            found = np.broadcast_to(exists, part.shape).copy()
            continue
        better = ((part > best) | (part != part) | ~found) & exists
        np.copyto(best, part, where=better)
        np.copyto(places, place, where=better)
        found |= exists
    assert best is not None
    assert places is not None
    return best, places


def _taken(
    values: Array, index: Array | None, axis: int, where: Array, scale: int
) -> tuple[Array, Array]:
    if where.ndim == 1:
        shape = [1] * values.ndim
        shape[axis] = -1
        part = values.take(where, axis)
        here = where.reshape(shape) * scale
        return part, here if index is None else index.take(where, axis) + here
    shape = list(values.shape)
    shape[axis] = where.shape[axis]
    spread = np.broadcast_to(where, shape)
    part = np.take_along_axis(values, spread, axis)
    here = where * scale
    return part, here if index is None else np.take_along_axis(index, spread, axis) + here


def _max_along(
    values: Array, index: Array | None, axis: int, g: Geometry, place: int, scale: int
) -> tuple[Array, Array]:
    """`max_over` for windows that lie regularly: what they see are slices."""
    size, count, stride = values.shape[axis], g.output[place], g.stride[place]
    dilation, before = g.dilation[place], g.padding[place]
    if count < g.kernel[place]:
        return max_in(values, index, axis, windows_of(size, g, place), scale)
    starts = np.arange(count) * stride - before
    first = np.where(starts < 0, starts + -(starts // dilation) * dilation, starts)
    best, places = _taken(values, index, axis, first.clip(0, size - 1), scale)
    places = np.broadcast_to(places, best.shape).astype(np.int64, order="C")
    needed = (count - 1) * stride + dilation * (g.kernel[place] - 1) + 1
    after = max(0, needed - before - size)
    source = _widened(values, axis, before, after)
    origin = None if index is None else _widened(index, axis, before, after)
    has_nan = values.dtype.kind == "f" and bool(np.isnan(values.max(initial=0)))
    shape = [1] * values.ndim
    shape[axis] = -1
    cut = [slice(None)] * values.ndim
    for k in range(g.kernel[place]):
        start = k * dilation
        cut[axis] = slice(start, start + (count - 1) * stride + 1, stride)
        part = source[tuple(cut)]
        better = part > best
        if has_nan:
            better |= part != part
        np.copyto(best, part, where=better)
        here = (starts + start).reshape(shape) * scale
        np.copyto(places, here if origin is None else origin[tuple(cut)] + here, where=better)
    return best, places


def _with_places(input: Array, g: Geometry) -> tuple[Array, Array]:
    dims = len(g.kernel)
    values, index, scale = input, None, 1
    for place in reversed(range(dims)):
        axis = input.ndim - dims + place
        size = input.shape[axis]
        values, index = _max_along(values, index, axis, g, place, scale)
        scale *= size
    assert index is not None
    _mark_empty(values, index, input.shape[input.ndim - dims :], g)
    return values, index


def _mark_empty(values: Array, index: Array, sizes: tuple[int, ...], g: Geometry) -> None:
    """Windows that lie outside hold the lowest value, at the place where they begin."""
    if all(step <= size for step, size in zip(g.dilation, sizes, strict=True)):
        return  # steps from the padding on the left end inside
    ways = range(len(sizes))
    first = [np.array([w.start for w in windows_of(sizes[d], g, d)], np.int64) for d in ways]
    outside = [first[d] >= sizes[d] for d in ways]
    if any(each.any() for each in outside):
        where = reduce(np.logical_or.outer, outside)
        np.copyto(values, lowest(values.dtype), where=where)
        scaled = [first[d] * prod(sizes[d + 1 :]) for d in ways]
        np.copyto(index, reduce(np.add.outer, scaled), where=where)


# --------------------------------------------------------------------------- operators


_LONGEST: Final = 1 << 10
"""Numbers of a window that kernels look at, one after the other."""


def _natively(input: Array, g: Geometry, with_places: bool) -> tuple[Array, ...] | None:
    """Maxima, and their places if asked for, by kernels: of planes of float32 in one piece that all
    windows begin in; else None."""
    x = input = input[...]  # which no other thread can change
    native = with_kernels(input, len(g.kernel), of_bytes=not with_places)
    if native is None and ends_in_channels(input):
        x = in_order(input)
    if native is None and not is_ready(x):
        return None
    if prod(g.kernel) > _LONGEST:
        return None
    sizes = input.shape[input.ndim - len(g.kernel) :]
    settings = zip(sizes, g.output, g.stride, g.padding, g.dilation, strict=True)
    if not all(0 < (o - 1) * s - p + 1 <= n >= d or o == 1 for n, o, s, p, d in settings):
        return None
    if prod(sizes) >= 1 << 31 or max(*g.stride, *g.dilation) > max(sizes):
        return None
    if native is not None:
        return _over_pixels(*native, g, with_places)
    kernels = family("windows.max_pools")
    if kernels is None:
        return None
    given = [g.kernel, g.stride, g.padding, g.dilation, g.output]
    if len(sizes) == 3:
        return _over_volumes(kernels, x, given, with_places)
    if len(sizes) == 1:
        x = x[..., None, :]
        given = [(first, *each) for first, each in zip((1, 1, 0, 1, 1), given, strict=True)]
    values, places = kernels.max_pool(x, *given, with_places=with_places)
    shape = (*input.shape[: input.ndim - len(sizes)], *g.output)
    return values.reshape(shape), places.reshape(shape) if with_places else places


def _over_pixels(
    last: ModuleType, pixels: Array, g: Geometry, with_places: bool
) -> tuple[Array, ...]:
    """The same of planes whose channels lie last."""
    settings = zip(
        pixels.shape[1:3], g.kernel, g.stride, g.padding, g.dilation, g.output, strict=True
    )
    rows, columns = (last.sliding(*each) for each in settings)
    steps = tuple(g.dilation)
    values, places = last.maxima(pixels, rows, columns, steps, with_places=with_places)
    order = (0, 3, 1, 2)
    return values.transpose(order), places.transpose(order) if with_places else places


def _over_volumes(
    kernels: ModuleType, x: Array, given: Sequence[Ints], with_places: bool
) -> tuple[Array, Array]:
    """Maxima over three dimensions: of the maxima of planes, which stand in a line each; and their
    places, else what does not matter."""
    *lead, deep = x.shape[:-2]
    last = (each[1:] for each in given)
    planes, within = kernels.max_pool(x, *last, with_places=with_places)
    made = planes.reshape(*lead, deep, -1)
    first = (
        (each[0], other) for each, other in zip(given, (1, 1, 0, 1, made.shape[-1]), strict=True)
    )
    values, lines = kernels.max_pool(made, *first, with_places=with_places)
    shape = (*lead, given[-1][0], *planes.shape[-2:])
    if not with_places:
        return values.reshape(shape), lines
    lines, within = (each.reshape(prod(lead), -1) for each in (lines, within))
    chosen = taken_natively(within, 1, lines)
    written_by_numpy()
    if chosen is None:
        chosen = np.take_along_axis(within, lines, 1)
    places = chosen + lines // made.shape[-1] * prod(x.shape[-2:])
    return values.reshape(shape), places.reshape(shape)


def _by_kernels(input: Array, g: Geometry, with_places: bool) -> tuple[Array, ...] | None:
    """The same of 16-bit floats, too: in float32, which holds them all."""
    found = _natively(input, g, with_places)
    if found is None and is_half(input.dtype):
        wide = _natively(cast_by_kernel(input, wide_dtype(input.dtype)), g, with_places)
        found = None if wide is None else (cast_by_kernel(wide[0], input.dtype), *wide[1:])
    return found


def _check_dtype(input: Array, name: str) -> None:
    if input.dtype.kind in "bc":
        raise not_implemented(name, input.dtype)


def max_pool(input: Array, g: Geometry, name: str) -> Array:
    """The maxima of all windows."""
    _check_dtype(input, name)
    found = _by_kernels(input, g, False)
    if found is not None:
        return follow_format(found[0], input)
    wide = wide_dtype(input.dtype)
    written_by_numpy()
    result = _values(input.astype(wide, copy=False), g).astype(input.dtype, copy=False)
    return follow_format(result, input)


def max_pool_with_indices(input: Array, g: Geometry, name: str) -> tuple[Array, Array]:
    """The maxima of all windows and their places, counted in the plane they are from."""
    _check_dtype(input, name)
    found = _by_kernels(input, g, True)
    if found is not None:
        return follow_format(found[0], input), follow_format(found[1], input)
    wide = wide_dtype(input.dtype)
    values, places = _with_places(input.astype(wide, copy=False), g)
    values, places = values.astype(input.dtype, copy=False), places.astype(_INT64, copy=False)
    return follow_format(values, input), follow_format(places, input)


@operator(
    "aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
    "int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
    out="",
    face="operator",
    cost="windows",
)
def max_pool2d_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    indices: Array,
) -> Array:
    """The gradient of pooling: each window's, added up where its maximum lies.

    `indices` count the elements of a plane of `self`; shapes are those of the pooling's results.

    Raises:
        OperatorError: the shapes are not those of the results, or an index leaves its plane.
    """
    g = pool_geometry(self, 2, "max_pool2d", kernel_size, stride, padding, dilation, ceil_mode)
    shape = (*self.shape[:-2], *g.output)
    for name, given in (("gradOutput", grad_output), ("indices", indices)):
        if given.shape != shape:
            raise OperatorError(
                f"Expected {name} of shape {list(shape)}, but got {list(given.shape)}",
                code="shape-mismatch",
            )
    if grad_output.dtype != self.dtype:
        raise OperatorError(
            f"expected dtype {dtype_of(self).scalar_name} for `gradOutput` but got dtype "
            f"{dtype_of(grad_output).scalar_name}",
            code="dtype-mismatch",
        )
    planes, size = prod(self.shape[:-2]), prod(self.shape[-2:])
    wide = np.zeros((planes, size), wide_dtype(self.dtype))
    _add_at(wide, indices.reshape(planes, -1), grad_output.reshape(planes, -1))
    return follow_format(wide.reshape(self.shape).astype(self.dtype, copy=False), self)


def _add_at(planes: Array, places: Array, numbers: Array) -> None:
    """Add rows of numbers to planes at their places."""
    with suppress(IndexOutOfRange):  # nothing is written then
        if combined_natively(planes, 1, places, numbers, "sum"):
            return
    where = settled(places)
    if where.size and not (where.min() >= 0 and where.max() < planes.shape[1]):
        raise IndexOutOfRange("max_pool2d_with_indices_backward: an index leaves its plane")
    np.add.at(planes, (np.arange(len(planes))[:, None], where), numbers)


_SETTINGS: Final = (
    "int[{0}] kernel_size, int[{0}] stride=[], int[{0}] padding={1}, int[{0}] dilation={2}, "
    "bool ceil_mode=False"
)


def _declare(dims: int) -> None:
    name = f"max_pool{dims}d"

    def pool(
        self: Array,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints,
        dilation: Ints,
        ceil_mode: bool,
    ) -> Array:
        check_ints(kernel_size, stride, padding, dilation)
        g = pool_geometry(self, dims, name, kernel_size, stride, padding, dilation, ceil_mode)
        return max_pool(self, g, name)

    def pool_with_indices(
        self: Array,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints,
        dilation: Ints,
        ceil_mode: bool,
    ) -> tuple[Array, Array]:
        check_ints(kernel_size, stride, padding, dilation)
        g = pool_geometry(self, dims, name, kernel_size, stride, padding, dilation, ceil_mode)
        return max_pool_with_indices(self, g, name)

    settings = _SETTINGS.format(dims, 0, 1)
    autocast: Policy = "full" if dims == 3 else ""
    operator(
        f"aten::{name}(Tensor self, {settings}) -> Tensor",
        autocast=autocast,
        out="",
        face="function",
        cost="windows",
        prepared=True,
        rows=rows_of("self"),
    )(pool)
    operator(
        f"aten::{name}_with_indices(Tensor self, {settings}) -> (Tensor, Tensor)",
        out="out out indices",
        face="layer",
        cost="windows",
        prepared=True,
        rows=rows_of("self"),
    )(pool_with_indices)


_declare(2)
_declare(3)


def _check_line(self: Array, name: str) -> None:
    if self.ndim not in (2, 3) or not prod(self.shape[-2:]):
        raise OperatorError(
            f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(self.shape)}",
            code="shape-mismatch",
            headline=f"`{name}` takes inputs of 2 or 3 dimensions, not {self.ndim}",
            roles={"self": f"has shape {list(self.shape)}"},
        )


@operator(
    f"aten::max_pool1d(Tensor self, {_SETTINGS.format(1, [0], [1])}) -> Tensor",
    prepared=True,
    refuses=Refusal("iu", "max_pool1d_impl"),
    out="",
    face="function",
    cost="windows",
    rows=rows_of("self"),
)
def max_pool1d(
    self: Array,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
) -> Array:
    name = "max_pool1d"
    _check_line(self, name)
    for key, value in (("kernel_size", kernel_size), ("stride", stride or kernel_size)):
        if value[0] <= 0:
            raise OperatorError(f"{name}() {key} must be greater than zero, but got {value[0]}")
    if padding[0] < 0:
        raise OperatorError(f"{name}() padding must be non-negative, but got {padding[0]}")
    if padding[0] > kernel_size[0] // 2:
        raise OperatorError(
            f"{name}() padding should be at most half of kernel size, but got "
            f"padding={padding[0]} and kernel_size={kernel_size[0]}"
        )
    if dilation[0] <= 0:
        raise OperatorError(f"{name}() dilation must be greater than zero, but got {dilation[0]}")
    step = (stride or kernel_size)[0]
    count = pooled_size(self.shape[-1], kernel_size[0], step, padding[0], dilation[0], ceil_mode)
    if count <= 0:
        raise OperatorError(f"{name}() Invalid computed output size: {count}")
    g = _line_geometry(self, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool(self, g, "max_pool1d_impl")


def _line_geometry(
    self: Array,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
) -> Geometry:
    """The windows over one dimension, checked as those over a plane of height 1."""
    plane = pool_geometry(
        self[..., None, :],
        2,
        "max_pool2d",
        [1, *kernel_size],
        [1, *stride] if stride else [],
        [0, *padding],
        [1, *dilation],
        ceil_mode,
    )
    line = (plane.kernel, plane.stride, plane.padding, plane.dilation, plane.output)
    return Geometry(*(numbers[1:] for numbers in line))


@operator(
    f"aten::max_pool1d_with_indices(Tensor self, {_SETTINGS.format(1, [0], [1])}) "
    "-> (Tensor, Tensor)",
    out="",
    face="function",
    cost="windows",
    rows=rows_of("self"),
    prepared=True,
)
def max_pool1d_with_indices(
    self: Array,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
) -> tuple[Array, Array]:
    if self.ndim not in (2, 3):
        raise OperatorError(
            f"Expected 2 to 3 dimensions, but got {self.ndim}-dimensional tensor for argument #1 "
            "'self' (while checking arguments for max_pool1d)",
            code="shape-mismatch",
        )
    g = _line_geometry(self, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool_with_indices(self, g, "max_pool2d")
