"""Means over windows."""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import Final

import numpy as np

from ..kernels import cast_by_kernel, family, in_order
from ..memory.dtype import Array, Dtype
from ..memory.errors import OperatorError
from ..memory.remembered import remembered
from ..shapes.windows import Ints, follow_format, wide_dtype
from ..table.layouts import contiguous
from ..table.out_dtypes import SAME
from ..table.record import Known
from ..table.refusals import Refusal, not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .few_windows import sums_in, windows_of
from .pixels import with_kernels
from .pool_checks import Geometry, check_ints, pool_geometry

__all__ = ["divisors"]

_SETTINGS: Final = (
    "int[{0}] kernel_size, int[{0}] stride=[], int[{0}] padding={1}, bool ceil_mode=False, "
    "bool count_include_pad=True"
)


def _sums_along(array: Array, axis: int, g: Geometry, place: int) -> Array:
    """Sums of windows along one dimension; outside of the array there are zeros."""
    kernel, stride, before, count = (
        g.kernel[place],
        g.stride[place],
        g.padding[place],
        g.output[place],
    )
    after = max(0, (count - 1) * stride + kernel - before - array.shape[axis])
    if count < kernel:  # a kernel may be longer than any memory, its windows are few then
        sums = sums_in(array, axis, windows_of(array.shape[axis], g, place))
        return sums + sums.dtype.type(0) if before or after else sums
    if before or after:
        shape = [*array.shape]
        inner = [slice(None)] * array.ndim
        inner[axis] = slice(before, before + shape[axis])
        shape[axis] += before + after
        wide = np.zeros(shape, array.dtype)
        wide[tuple(inner)] = array
        array = wide
    index = [slice(None)] * array.ndim
    total: Array | None = None
    for k in range(kernel):
        index[axis] = slice(k, k + (count - 1) * stride + 1, stride)
        part = array[tuple(index)]
        if total is None:
            total = part.copy()
        else:
            total += part
    assert total is not None
    return total


@remembered(1 << 20)
def divisors(
    space: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output: tuple[int, ...],
    include_pad: bool,
    divisor: int | None,
    dtype: Dtype,
) -> Array:
    """By what sums are divided: their own number for each line of windows, behind these one for
    each place in a line, and both are multiplied."""
    found = list[Array]()
    for size, length, step, pad, count in zip(space, kernel, stride, padding, output, strict=True):
        start = np.arange(count) * step - pad
        stop = np.minimum(start + length, size + pad)
        found.append(stop - start if include_pad else np.minimum(stop, size) - np.maximum(start, 0))
    lines = reduce(np.multiply.outer, found[:-1], np.asarray(1)).reshape(-1)
    made = np.concatenate([lines, found[-1]])
    if divisor is not None:
        made[: lines.size], made[lines.size :] = divisor, 1
    made = made.astype(dtype)
    made.setflags(write=False)
    return made


def _averages(
    input: Array, g: Geometry, include_pad: bool, divisor: int | None, name: str
) -> Array:
    dtype = input.dtype
    if dtype.kind in "bc" or (dtype.kind in "iu" and dtype != np.int64):
        raise not_implemented(name, dtype)
    wide, dims = wide_dtype(dtype), len(g.kernel)
    space = input.shape[input.ndim - dims :]
    settings = tuple(g.kernel), tuple(g.stride), tuple(g.padding), tuple(g.output)
    by = divisors(space, *settings, bool(include_pad), divisor, wide)
    native = with_kernels(input, dims) if input.size and prod(g.output) else None
    if native is not None:
        last, pixels = native
        sides = zip(space, *settings[:3], (1, 1), g.output, strict=True)
        rows, columns = (last.sliding(*each) for each in sides)
        pooled: Array = last.means(pixels, rows, columns, by, nested=False)
        return pooled.transpose(0, 3, 1, 2)
    windows = family("windows.mean_windows")
    if windows is not None and wide.kind == "f":
        x = in_order(cast_by_kernel(input, wide) if wide != dtype else input)
        found: Array | None = windows.means_of_windows(x, *settings, by)
        if found is not None:
            return np.asarray(cast_by_kernel(found, dtype)) if wide != dtype else found
    total = input.astype(wide, copy=False)
    for place in range(dims):
        total = _sums_along(total, input.ndim - dims + place, g, place)
    lines = by.size - g.output[-1]
    counts = np.multiply.outer(by[:lines], by[lines:]).reshape(tuple(g.output))
    if dtype.kind == "i":
        quotient = np.abs(total) // np.abs(counts)
        return np.asarray(np.where((total < 0) == (counts < 0), quotient, -quotient))
    return np.asarray(total / counts).astype(dtype, copy=False)


@operator(
    f"aten::avg_pool1d(Tensor self, {_SETTINGS.format(1, [0])}) -> Tensor",
    face="function",
    cost="windows",
    rows=rows_of("self"),
    prepared=True,
)
def avg_pool1d(
    self: Array,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
) -> Array:
    self = self[...]
    if self.ndim not in (2, 3):
        raise OperatorError(
            f"Expected 2 to 3 dimensions, but got {self.ndim}-dimensional tensor for argument #1 "
            "'self' (while checking arguments for avg_pool1d)",
            code="shape-mismatch",
            headline=f"`avg_pool1d` takes inputs of 2 or 3 dimensions, not {self.ndim}",
            roles={"self": f"has shape {list(self.shape)}"},
        )
    check_ints(kernel_size, stride, padding)
    plane = pool_geometry(
        self[..., None, :],
        2,
        "avg_pool2d",
        [1, *kernel_size],
        [1, *stride] if stride else [],
        [0, *padding],
        [1],
        ceil_mode,
        averaging=True,
    )
    line = (plane.kernel, plane.stride, plane.padding, plane.dilation, plane.output)
    g = Geometry(*(numbers[1:] for numbers in line))
    return _averages(self, g, count_include_pad, None, "avg_pool2d")


def _declare(dims: int) -> None:
    name = f"avg_pool{dims}d"
    kernel_name = name if dims == 2 else "avg_pool3d_out_frame"
    known: Known = {"face": "layer", "cost": "windows", "out_dtype": SAME}
    known |= {"prepared": True, "rows": rows_of("self")}
    if dims == 3:
        known |= {"autocast": "full", "refuses": Refusal("h", kernel_name)}

    def pool(
        self: Array,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Array:
        if divisor_override == 0:
            raise OperatorError("divisor must be not zero")
        self = self[...]
        check_ints(kernel_size, stride, padding)
        g = pool_geometry(
            self, dims, name, kernel_size, stride, padding, [1], ceil_mode, averaging=True
        )
        made = _averages(self, g, count_include_pad, divisor_override, kernel_name)
        return follow_format(made, self) if dims == 2 else contiguous(made)

    operator(
        f"aten::{name}(Tensor self, {_SETTINGS.format(dims, 0)}, int? divisor_override=None) "
        "-> Tensor",
        **known,
    )(pool)


_declare(2)
_declare(3)
