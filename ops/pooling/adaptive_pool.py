"""Poolings that make a given number of windows, each covering its share of the input."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from types import ModuleType
from typing import Final

import numpy as np

from ..kernels import family, in_order, is_half
from ..memory.counts import check_room
from ..memory.dtype import Array, Key
from ..memory.errors import OperatorError
from ..reductions.reduce import mean_over
from ..shapes.windows import Ints, follow_format, wide_dtype
from ..table.layouts import contiguous
from ..table.pointwise import cast
from ..table.refusals import not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .few_windows import max_in, sums_in
from .max_pool import max_over
from .pixels import with_kernels

_INT64: Final = np.dtype(np.int64)
_FLOAT32: Final = np.dtype(np.float32)


def _bounds(size: int, count: int) -> tuple[Array, Array]:
    """Where the windows along a dimension start and stop; they may overlap by one element."""
    at = np.arange(count)
    return at * size // count, -(-(at + 1) * size // count)


# --------------------------------------------------------------------------- means


def _sums_along(array: Array, axis: int, count: int) -> Array:
    size = array.shape[axis]
    if count and size % count == 0:
        split = (*array.shape[:axis], count, size // count, *array.shape[axis + 1 :])
        return np.asarray(array.reshape(split).sum(axis + 1))
    start, stop = _bounds(size, count)
    longest = int((stop - start).max(initial=0))
    if 0 < count < longest:
        return sums_in(array, axis, list(map(slice, start.tolist(), stop.tolist())))
    shape = [1] * array.ndim
    shape[axis] = count
    total = array.take(start, axis)
    for k in range(1, longest):
        exists = (start + k < stop).reshape(shape)
        part = array.take(np.minimum(start + k, size - 1), axis)
        np.add(total, part, out=total, where=np.broadcast_to(exists, total.shape))
    return total


def _narrow_averages(input: Array, output: Ints) -> Array:
    """Of 16-bit floats in space: sums in turn, then divided by each side, rounded every time."""
    bounds = [_bounds(n, count) for n, count in zip(input.shape[-3:], output, strict=True)]
    result = np.empty((*input.shape[:-3], *output), input.dtype)
    for place in product(*map(range, output)):
        ends = [(start[k], stop[k]) for (start, stop), k in zip(bounds, place, strict=True)]
        inner: Key = (..., *(slice(*each) for each in ends))
        seen = input[inner]
        total = np.add.accumulate(seen.reshape(*input.shape[:-3], -1), -1)[..., -1]
        for start, stop in ends:
            total = total / input.dtype.type(stop - start)
        here: Key = (..., *place)
        result[here] = total
    return result


def _averages(input: Array, output: Ints, name: str) -> Array:
    dims = len(output)
    is_plain = input.dtype.kind not in "f" and wide_dtype(input.dtype) is input.dtype
    are_means = is_plain or input.dtype is _FLOAT32 or (is_half(input.dtype) and dims < 3)
    if are_means and all(size == 1 for size in output):
        return mean_over(input, range(input.ndim - dims, input.ndim), True, None)
    if is_plain:
        raise not_implemented(name if dims < 3 else f"{name}_cpu", input.dtype)
    if dims == 3 and input.itemsize == 2 and input.size:
        return _narrow_averages(input, output)
    check_room((*input.shape[: input.ndim - dims], *output), input.dtype)
    native = with_kernels(input, dims) if input.size and all(output) else None
    if native is not None:
        last, pixels = native
        sizes = pixels.shape[1:3]
        rows, columns = (last.shares(*each) for each in zip(sizes, output, strict=True))
        by = last.lengths(sizes, tuple(output))
        pooled: Array = last.means(pixels, rows, columns, by, nested=True)
        return pooled.transpose(0, 3, 1, 2)
    kernels = _kernels(input, output)
    if kernels is not None:
        wide = cast(in_order(input), wide_dtype(input.dtype))
        return cast(kernels.means(wide, tuple(output)), input.dtype)
    total = input.astype(wide_dtype(input.dtype), copy=False)
    counts = np.ones((), total.dtype)
    for place, count in enumerate(output):
        axis = input.ndim - dims + place
        start, stop = _bounds(input.shape[axis], count)
        total = _sums_along(total, axis, count)
        counts = np.multiply.outer(counts, (stop - start).astype(total.dtype))
    return (total / counts).astype(input.dtype, copy=False)


def _kernels(input: Array, output: Ints) -> ModuleType | None:
    """Native code for floats, of which 16-bit ones are widened; None where there is none, or
    nothing to do."""
    is_known = input.size and all(output) and wide_dtype(input.dtype).kind == "f"
    return family("windows.adaptive_pools") if is_known else None


def _rank_error(self: Array, dims: int, name: str, sentence: str) -> OperatorError:
    return OperatorError(
        sentence,
        code="shape-mismatch",
        headline=f"`{name}` takes inputs of {dims + 1} or {dims + 2} dimensions, not {self.ndim}",
        roles={"self": f"has shape {list(self.shape)}"},
    )


def _check_space(self: Array, dims: int, name: str) -> None:
    for dim in range(self.ndim - dims, self.ndim):
        if not self.shape[dim]:
            raise OperatorError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(self.shape)} with dimension {dim} being empty",
                code="shape-mismatch",
            )


def _check_average(self: Array, output: Ints, dims: int, name: str) -> None:
    if len(output) != dims:
        raise OperatorError(f"{name}: output_size must be {dims}")
    if any(size < 0 for size in output):
        *before, last = map(str, output)
        # torch leaves out a space in the message about three sizes.
        said = f"{before[0]}, {last}" if dims == 2 else f"{before[0]}, {before[1]},{last}"
        raise OperatorError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{said}}}"
        )
    if self.ndim not in (dims + 1, dims + 2):
        said = f"Expected {dims + 1}D or {dims + 2}D tensor, but got {list(self.shape)}"
        raise _rank_error(self, dims, name, f"{name}(): {said}")
    _check_space(self, dims, name)


def _declare_average(dims: int) -> None:
    name = f"adaptive_avg_pool{dims}d"

    def pool(self: Array, output_size: Ints) -> Array:
        self = self[...]  # which no other thread can change
        _check_average(self, output_size, dims, name)
        made = _averages(self, output_size, name)
        return follow_format(made, self) if dims == 2 else contiguous(made)

    size = f"(Tensor self, SymInt[{dims}] output_size) -> Tensor"
    operator(
        f"aten::{name}{size}",
        autocast="full" if dims == 3 else "",
        face="layer",
        cost="reads",
        rows=rows_of("self"),
        prepared=True,
    )(pool)
    operator(
        f"aten::_{name}{size}",
        cost="reads",
        rows=rows_of("self"),
    )(pool)


_declare_average(2)
_declare_average(3)


def _check_line(self: Array, output_size: Ints, name: str) -> None:
    if self.ndim not in (2, 3):
        raise _rank_error(
            self,
            1,
            name,
            f"Expected 2 to 3 dimensions, but got {self.ndim}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {name})",
        )
    if len(output_size) != 1:
        raise OperatorError(
            f"{name}() argument 'output_size' should contain one int (got {len(output_size)})"
        )


@operator(
    "aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
    face="function",
    cost="reads",
    rows=rows_of("self"),
    prepared=True,
    layout="C",
)
def adaptive_avg_pool1d(self: Array, output_size: Ints) -> Array:
    self = self[...]
    _check_line(self, output_size, "adaptive_avg_pool1d")
    plane = self[..., None, :]
    _check_average(plane, [1, *output_size], 2, "adaptive_avg_pool2d")
    return _averages(self, output_size, "adaptive_avg_pool2d")


# --------------------------------------------------------------------------- maxima


def _share(size: int, count: int, ndim: int, axis: int) -> Callable[[int], tuple[Array, Array]]:
    start, stop = _bounds(size, count)
    shape = [1] * ndim
    shape[axis] = -1

    def at(k: int) -> tuple[Array, Array]:
        where = start + k
        return np.minimum(where, size - 1), (where < stop).reshape(shape)

    return at


def _maxima(input: Array, output: Ints, name: str) -> tuple[Array, Array]:
    wide = wide_dtype(input.dtype)
    if wide.kind != "f":
        raise not_implemented(f"{name}_cpu" if len(output) == 3 else name, input.dtype)
    dims = len(output)
    shape = (*input.shape[: input.ndim - dims], *output)
    if min(output) < 0:
        shown = (*shape[:-1], 1, shape[-1]) if name != f"adaptive_max_pool{dims}d" else shape
        raise OperatorError(
            f"Trying to create tensor with negative dimension {min(output)}: {list(shown)}"
        )
    if 0 in shape:
        return np.empty(shape, input.dtype), np.empty(shape, _INT64)
    check_room(shape, _INT64)
    native = with_kernels(input, dims) if input.size else None
    if native is not None:
        last, pixels = native
        rows, columns = (last.shares(*each) for each in zip(pixels.shape[1:3], output, strict=True))
        pooled = last.maxima(pixels, rows, columns, (1, 1), with_places=True)
        return pooled[0].transpose(0, 3, 1, 2), pooled[1].transpose(0, 3, 1, 2)
    kernels = _kernels(input, output)
    if kernels is not None:
        most, where = kernels.maxima(cast(in_order(input), wide), tuple(output))
        return cast(most, input.dtype), where
    values, index, scale = input.astype(wide, copy=False), None, 1
    for place in reversed(range(dims)):
        axis = input.ndim - dims + place
        size, count = input.shape[axis], output[place]
        start, stop = _bounds(size, count)
        longest = int((stop - start).max())
        if count < longest:
            windows = list(map(slice, start.tolist(), stop.tolist()))
            values, index = max_in(values, index, axis, windows, scale)
        else:
            at = _share(size, count, input.ndim, axis)
            values, index = max_over(values, index, axis, longest, at, scale)
        scale *= size
    assert index is not None
    return values.astype(input.dtype, copy=False), index.astype(_INT64, copy=False)


def _declare_max(dims: int) -> None:
    name = f"adaptive_max_pool{dims}d"

    def pool(self: Array, output_size: Ints) -> tuple[Array, Array]:
        self = self[...]
        if self.ndim not in (dims + 1, dims + 2):
            said = f"Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(self.shape)}"
            raise _rank_error(self, dims, name, f"{name}(): {said}")
        _check_space(self, dims + (1 if self.ndim > dims else 0), name)
        if len(output_size) != dims:
            raise OperatorError(f"{name}(): internal error: output_size.size() must be {dims}")
        values, index = _maxima(self, output_size, name)
        if dims == 3:
            return contiguous(values), contiguous(index)
        return follow_format(values, self), follow_format(index, self)

    operator(
        f"aten::{name}(Tensor self, int[{dims}] output_size) -> (Tensor, Tensor)",
        out="out out indices",
        autocast="full" if dims == 3 else "",
        face="layer",
        cost="reads",
        rows=rows_of("self"),
        prepared=True,
    )(pool)


_declare_max(2)
_declare_max(3)


@operator(
    "aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
    face="function",
    cost="reads",
    rows=rows_of("self"),
    out="",
    prepared=True,
)
def adaptive_max_pool1d(self: Array, output_size: Ints) -> tuple[Array, Array]:
    self = self[...]
    _check_line(self, output_size, "adaptive_max_pool1d")
    _check_space(self, 2, "adaptive_max_pool1d")
    return _maxima(self, output_size, "adaptive_max_pool2d")
