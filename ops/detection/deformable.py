"""Convolution whose kernels read the image at places of their own.

J. Dai et al., "Deformable convolutional networks", 2017, section 2.1, and X. Zhu, H. Hu, S. Lin and
J. Dai, "Deformable ConvNets v2", 2018, section 3.2 (masks): an offset is added to each place that a
kernel reads, and what is read there by bilinear interpolation, zero outside, is multiplied by a
mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..kernels import products
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from .declaring import require_floats, vision

_ARGUMENTS = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
    "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, "
    "SymInt groups, SymInt offset_groups, bool use_mask"
)
Pair = tuple[int, int]


@dataclass
class _Reading:
    """Where kernels read: four neighbours of each place, and their weights.

    `rows` and `columns` are `(N, G, K, P)`: of images, groups of offsets, elements of the kernel
    and places of the result.
    """

    image: Array
    rows: Array
    columns: Array
    groups: int

    @cached_property
    def corners(self) -> list[tuple[Array, Array, Array, Array]]:
        """The four neighbours: places in a plane, whether they are inside, and how near along the
        height and along the width."""
        height, width = self.image.shape[2:]
        top, left = np.floor(self.rows), np.floor(self.columns)
        down, right = self.rows - top, self.columns - left
        made = []
        for y, near_y in ((top, 1 - down), (top + 1, down)):
            for x, near_x in ((left, 1 - right), (left + 1, right)):
                valid = (y >= 0) & (y < height) & (x >= 0) & (x < width)
                place = np.where(valid, y * width + x, 0).astype(np.int64)
                made.append((place, valid, near_y, near_x))
        return made

    @property
    def planes(self) -> Array:
        """The image as `(N, G, C / G, H * W)`."""
        batch = len(self.image)
        return self.image.reshape(batch, self.groups, -1, int(np.prod(self.image.shape[2:])))

    def neighbour(self, place: Array, valid: Array) -> Array:
        """What lies at places, zero outside: `(N, G, C / G, K, P)`."""
        flat = place.reshape(*place.shape[:2], 1, -1)
        found = np.take_along_axis(self.planes, flat, 3)
        return found.reshape(*found.shape[:3], *place.shape[2:]) * valid[:, :, None]

    def values(self) -> Array:
        """What kernels read: `(N, G, C / G, K, P)`."""
        total: Array | None = None
        for place, valid, near_y, near_x in self.corners:
            part = self.neighbour(place, valid) * (near_y * near_x)[:, :, None]
            total = part if total is None else total + part
        assert total is not None
        return total

    def slopes(self) -> tuple[Array, Array]:
        """How what is read changes with the row and with the column."""
        by_row = by_column = np.zeros((), self.image.dtype)
        for number, (place, valid, near_y, near_x) in enumerate(self.corners):
            found = self.neighbour(place, valid)
            by_row = by_row + found * (near_x if number >= 2 else -near_x)[:, :, None]
            by_column = by_column + found * (near_y if number % 2 else -near_y)[:, :, None]
        return by_row, by_column

    def spread(self, grads: Array) -> Array:
        """The gradient of the image from that of what was read."""
        batch, groups, channels = grads.shape[:3]
        size = int(np.prod(self.image.shape[2:]))
        lines = np.arange(batch * groups * channels).reshape(batch, groups, channels, 1, 1) * size
        total = np.zeros(batch * groups * channels * size)
        for place, valid, near_y, near_x in self.corners:
            weights = (near_y * near_x * valid)[:, :, None]
            where = (lines + place[:, :, None]).reshape(-1)
            total += np.bincount(where, (grads * weights).reshape(-1), total.size)
        return total.reshape(self.image.shape)


@dataclass
class _Geometry:
    """The arguments of a call that are no tensors."""

    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int
    offset_groups: int
    use_mask: bool

    def check(self, input: Array, weight: Array, offset: Array, mask: Array, bias: Array) -> Pair:
        """The sizes of the result, if everything fits.

        Raises:
            OperatorError: something does not.
        """
        if input.ndim != 4 or offset.ndim != 4 or weight.ndim != 4:
            raise OperatorError("input, offset and weight must have four dimensions")
        for words, pair, least in (
            ("stride_h", self.stride, 1), ("pad_h", self.padding, 0),
            ("dilation_h", self.dilation, 1),
        ):  # fmt: skip
            if min(pair) < least:
                raise OperatorError(f"{words}: {pair[0]} {words[:-1]}w: {pair[1]}")
        self._check_channels(input, weight, offset, mask, bias)
        kernel = weight.shape[2:]
        sizes = [
            (length + 2 * pad - (dilation * (k - 1) + 1)) // stride + 1
            for length, pad, dilation, k, stride in zip(
                input.shape[2:], self.padding, self.dilation, kernel, self.stride, strict=True
            )
        ]
        out = sizes[0], sizes[1]
        for name, array in (("offset", offset), ("mask", mask)):
            if name == "mask" and not self.use_mask:
                continue
            if len(array) != len(input):
                raise OperatorError(f"invalid batch size of {name}")
            if array.shape[2:] != out:
                given = f"({array.shape[2]}, {array.shape[3]})"
                raise OperatorError(
                    f"{name} output dims: {given} - computed output dims: ({out[0]}, {out[1]})"
                )
        if min(out) <= 0:
            raise OperatorError(
                f"Calculated output size too small - out_h: {out[0]} out_w: {out[1]}"
            )
        return out

    def _check_channels(
        self, input: Array, weight: Array, offset: Array, mask: Array, bias: Array
    ) -> None:
        if min(self.groups, self.offset_groups) < 1:
            raise OperatorError("groups and offset_groups must be positive")
        channels, per_kernel = input.shape[1], weight.shape[2] * weight.shape[3]
        fits = weight.shape[1] * self.groups == channels and len(weight) % self.groups == 0
        if not fits:
            raise OperatorError(
                f"weight of sizes {list(weight.shape)} does not fit an input of {channels} "
                f"channels in {self.groups} groups"
            )
        wanted = self.offset_groups * 2 * per_kernel
        if offset.shape[1] != wanted:
            raise OperatorError(
                f"offset.shape[1] is not valid: got: {offset.shape[1]} expected: {wanted}"
            )
        if channels % self.offset_groups:
            raise OperatorError("input channels must be a multiple of offset_groups")
        if self.use_mask and (mask.ndim != 4 or mask.shape[1] * 2 != wanted):
            got = mask.shape[1] if mask.ndim > 1 else 0
            raise OperatorError(f"mask.shape[1] is not valid: got: {got} expected: {wanted // 2}")
        if bias.size != len(weight):
            raise OperatorError(
                f"shape '[1, {len(weight)}, 1, 1]' is invalid for input of size {bias.size}"
            )

    def reading(self, input: Array, weight: Array, offset: Array, out: Pair) -> _Reading:
        """Where kernels read the image."""
        kernel = weight.shape[2], weight.shape[3]
        count = kernel[0] * kernel[1]
        moved = offset.reshape(len(input), self.offset_groups, count, 2, out[0] * out[1])
        i, j = (each.reshape(-1, 1) for each in np.indices(kernel))
        y, x = (each.reshape(1, -1) for each in np.indices(out))
        rows = y * self.stride[0] - self.padding[0] + i * self.dilation[0]
        columns = x * self.stride[1] - self.padding[1] + j * self.dilation[1]
        dtype = input.dtype
        return _Reading(
            input,
            _somewhere(rows.astype(dtype) + moved[:, :, :, 0]),
            _somewhere(columns.astype(dtype) + moved[:, :, :, 1]),
            self.offset_groups,
        )

    def masks(self, mask: Array, reading: _Reading) -> Array:
        """What is read is multiplied by these: `(N, G, 1, K, P)`."""
        return mask.reshape(reading.rows.shape)[:, :, None]


def _somewhere(places: Array) -> Array:
    """Places, those that are no numbers or infinite far outside."""
    found: Array = np.where(np.abs(places) < 2**30, places, places.dtype.type(-2))
    return found


def _geometry(numbers: tuple[int, ...], use_mask: bool) -> _Geometry:
    sh, sw, ph, pw, dh, dw, groups, offset_groups = numbers
    return _Geometry((sh, sw), (ph, pw), (dh, dw), groups, offset_groups, use_mask)


@vision(f"deform_conv2d({_ARGUMENTS}) -> Tensor")
def deform_conv2d(
    input: Array, weight: Array, offset: Array, mask: Array, bias: Array, *rest: int
) -> Array:
    geometry = _geometry(rest[:8], bool(rest[8]))
    dtype = require_floats("deformable_im2col", input, "float16")
    _check_dtypes(input, weight, offset, bias, *([mask] if geometry.use_mask else []))
    out = geometry.check(input, weight, offset, mask, bias)
    given = [each.astype(dtype, copy=False) for each in (input, weight, offset, mask, bias)]
    reading = geometry.reading(given[0], given[1], given[2], out)
    values = reading.values()
    if geometry.use_mask:
        values = values * geometry.masks(given[3], reading)
    columns = _columns(values, geometry.groups)
    kernels = given[1].reshape(geometry.groups, len(weight) // geometry.groups, -1)
    result: Array = products.matmul(kernels, columns).reshape(len(input), len(weight), *out)
    result = result + given[4].reshape(1, -1, 1, 1)
    return result.astype(input.dtype, copy=False)


def _check_dtypes(first: Array, *others: Array) -> None:
    for other in others:
        if other.dtype != first.dtype:
            names = [str(each.dtype.name).capitalize() for each in (first, other)]
            raise OperatorError(f"expected scalar type {names[0]} but found {names[1]}")


def _columns(values: Array, groups: int) -> Array:
    """What kernels read, `(N, G, C / G, K, P)`, as columns `(N, groups, C / groups * K, P)`."""
    batch, places = len(values), values.shape[4]
    rows = values.shape[1] * values.shape[2] * values.shape[3] // groups
    return values.reshape(batch, groups, rows, places)


@vision(
    f"_deform_conv2d_backward(Tensor grad, {_ARGUMENTS}) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def deform_conv2d_backward(
    grad: Array, input: Array, weight: Array, offset: Array, mask: Array, bias: Array, *rest: int
) -> tuple[Array, Array, Array, Array, Array]:
    geometry = _geometry(rest[:8], bool(rest[8]))
    dtype = require_floats("deformable_col2im", input, "float16")
    out = geometry.check(input, weight, offset, mask, bias)
    if grad.shape != (len(input), len(weight), *out):
        raise OperatorError(f"grad of sizes {list(grad.shape)} does not fit the result")
    given = [each.astype(dtype, copy=False) for each in (input, weight, offset, mask)]
    reading = geometry.reading(given[0], given[1], given[2], out)
    values = reading.values()
    masks = geometry.masks(given[3], reading) if geometry.use_mask else np.ones((), dtype)
    parts = grad.reshape(len(input), geometry.groups, -1, out[0] * out[1]).astype(dtype)
    kernels = given[1].reshape(geometry.groups, len(weight) // geometry.groups, -1)
    of_columns = products.matmul(np.swapaxes(kernels, 1, 2), parts).reshape(values.shape)
    columns = _columns(values * masks, geometry.groups)
    of_weight = products.matmul(parts, np.swapaxes(columns, -1, -2)).sum(0)
    of_values = of_columns * masks
    slopes = [(of_values * slope).sum(2) for slope in reading.slopes()]
    of_offset = np.stack(slopes, 3)
    of_mask = (of_columns * values).sum(2) if geometry.use_mask else np.zeros(mask.shape, dtype)
    made = (
        reading.spread(of_values),
        of_weight.reshape(weight.shape),
        of_offset.reshape(offset.shape),
        of_mask.reshape(mask.shape),
        grad.astype(dtype).sum((0, 2, 3)).reshape(bias.shape),
    )
    first, second, third, fourth, fifth = (each.astype(input.dtype, copy=False) for each in made)
    return first, second, third, fourth, fifth
