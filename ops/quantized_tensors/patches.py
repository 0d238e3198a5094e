"""Weights of convolutions of images as native code takes them, and the products by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..kernels import family, in_order, written_by_numpy
from ..memory.dtype import Array
from .arrays import numbers_of, quantizer_of
from .packed_weights import PackedConvolution
from .panels import DEEPEST, LEAST, Requantizing, constant

__all__ = ["bytes_by_patches", "wholes_by_patches"]

F32: Final = np.float32
_MOVED: Final = 1 << 14
"""Bytes whose moving is worth another thread."""


@dataclass(eq=False)
class Patches:
    """Packed weights [out, in / groups, height, width] whose zero points are 0."""

    packed: PackedConvolution
    channels: int
    """Channels of an image, and of it as the kernels read it."""
    depth: int
    by_channel: bool
    """Whether each channel has one result, of its own alone."""
    merged: bool
    """Whether the places of a line that a patch covers follow each other."""
    weights: list[Array]
    """For each group its panels, or what `channel_weights` makes."""
    sums: list[Array]
    by_lines: Array | None = None
    """What `line_weights` makes, where two lines of results can be made at once."""

    @property
    def least(self) -> int:
        """Products that are worth another thread: one instruction does four of rows of them."""
        return LEAST // 8 if self.by_channel else LEAST

    # -- sizes

    def taps(self, line: int) -> Array:
        """The offsets of a patch's taps, in bytes, where lines have so many."""
        height, width = self.packed.weight.shape[2:]
        down, along = self.packed.dilation
        lines = np.arange(height, dtype=np.int64)[:, None] * (down * line)
        places = np.arange(1 if self.merged else width, dtype=np.int64) * (along * self.depth)
        offsets = (lines + places).reshape(-1)
        if self.by_channel:  # the kernel takes four at once, the last ones with weights of zero
            offsets = np.pad(offsets, (0, -len(offsets) % 4), mode="edge")
        return constant(offsets)

    def result_sizes(self, x: Array) -> list[int]:
        """Height and width of the result, which may be none at all."""
        p = self.packed
        return [
            (size + 2 * pad - spread * (kernel - 1) - 1) // step + 1
            for size, pad, spread, kernel, step in zip(
                x.shape[2:], p.padding, p.dilation, p.weight.shape[2:], p.stride, strict=True
            )
        ]

    # -- images

    def image(self, x: Array, zero_point: int, top: int, left: int) -> Array:
        """uint8 [images, channels, height, width] with channels last and borders."""
        images, channels, height, width = x.shape
        last = x.transpose(0, 2, 3, 1)
        is_last = last.flags.c_contiguous
        if self.depth == channels and not (top or left) and is_last:
            return last
        made = np.empty((images, height + 2 * top, width + 2 * left, self.depth), np.uint8)
        groups = self._groups()
        if groups > 1 and self.depth != channels:
            written_by_numpy()
            made[...] = zero_point
            inner = made[:, top : top + height, left : left + width]
            parts = last.reshape(images, height, width, groups, -1)
            inner.reshape(*inner.shape[:3], groups, -1, copy=False)[..., : parts.shape[-1]] = parts
            return made
        if not is_last:
            x = in_order(x)
            if not (top or left):
                joined = _joined_lines(height, width)
                height, width = height // joined, width * joined
        family("quantized.patches").run(
            *(family("quantized.patches").bordered(is_last), images * (height + 2 * top)),
            *(
                max(1, _MOVED // (self.depth * (width + 2 * left))),
                height,
                width,
                channels,
                self.depth,
            ),
            *(top, left, zero_point, (last if is_last else x)[...], made),
        )
        return made

    def _groups(self) -> int:
        return 1 if self.by_channel else self.packed.groups

    # -- products

    def bytes(self, wanted: Requantizing, numbers: Array) -> Array:
        """The results as bytes, with channels last in memory."""
        out = np.empty(self._sizes(numbers), np.uint8)
        self._multiply(wanted.form, numbers, wanted.found, wanted.factors, wanted.bias, out)
        return out.transpose(0, 3, 1, 2)

    def wholes(self, numbers: Array, zero_point: int) -> Array:
        """The exact sums of products less zero points, as int32."""
        out = np.empty(self._sizes(numbers), np.int32)
        found = np.array([1.0, zero_point])
        self._multiply("wholes", numbers, found, found, found, out)  # which has no factors, no bias
        return out.transpose(0, 3, 1, 2)

    def takes(self, x: Array) -> bool:
        """Whether images have as many channels, and there is a result."""
        return x.shape[1] == self.channels and min(*self._sizes(x), *x.shape) > 0

    def _sizes(self, x: Array) -> tuple[int, ...]:
        return len(x), *self.result_sizes(x), self.packed.weight.shape[0]

    def _multiply(
        self, form: str, x: Array, found: Array, factors: Array, bias: Array, out: Array
    ) -> None:
        _, height, width, outs = out.shape
        if self.by_lines is not None and width >= family("quantized.lines").LEAST_WIDTH:
            return self._multiply_lines(form, x, found, factors, bias, out)
        code, groups = family("quantized.patches"), self._groups()
        image = self.image(x, int(found[1]), *self.packed.padding)
        offsets = self.taps(image.strides[1])
        kernel = code.channel_product(form) if self.by_channel else code.patch_product(form)
        each = outs // groups
        width_of_window = self.packed.weight.shape[3] if self.merged else 1
        part = self.depth // groups
        down, along = self.packed.stride
        least = max(1, self.least // max(1, width * self.packed.weight.size))
        for group, (weights, sums) in enumerate(zip(self.weights, self.sums, strict=True)):
            here = (image, factors, bias, out)
            if group:
                place = slice(group * each, None)
                here = image[..., group * part :], factors[place], bias[place], out[..., place]
            source, factors_here, bias_here, goal = here
            code.run(
                *(kernel, len(x) * height, least, height, width, len(offsets)),
                *(part * width_of_window // 4, each, image.strides[0], image.strides[1] * down),
                *(self.depth * along, outs, source, offsets, weights, sums),
                *(found, factors_here, bias_here, goal),
            )

    def _multiply_lines(
        self, form: str, x: Array, found: Array, factors: Array, bias: Array, out: Array
    ) -> None:
        """The same where two lines of results are made at once."""
        images, height, width, outs = out.shape
        image, code, weights = self.image(x, 0, 0, 0), family("quantized.lines"), self.by_lines
        assert weights is not None
        across, fours = weights.shape[1:3]
        least = max(1, self.least // (2 * width * self.packed.weight.size))
        top, left = self.packed.padding
        code.run(
            *(code.line_product(form), images * -(-height // 2), least, height, width),
            *(*image.shape[1:3], across, fours, code.stretch(width), outs, self.depth, top, left),
            *(image, weights, self.sums[0], found, factors, bias, out),
        )


def _joined_lines(height: int, width: int) -> int:
    """How many short lines without borders are moved as one, so that it fills vectors."""
    least = family("quantized.patches").SQUARE
    return next(
        n for n in range(1, height + 1) if height % n == 0 and (n * width >= least or n == height)
    )


def _by_lines(packed: PackedConvolution, numbers: Array) -> Array | None:
    """The weights of channels alone for two lines of results at once; None for other layers."""
    code = family("quantized.lines")
    lines, columns = numbers.shape[2:]
    if {*packed.stride, *packed.dilation} != {1} or lines > code.MOST_LINES:
        return None
    return constant(code.line_weights(numbers[:, 0])) if columns <= code.MOST_REACH else None


def _made(packed: PackedConvolution) -> Patches | None:
    weight = packed.weight
    if (
        family("quantized.patches") is None
        or packed.transpose
        or weight.ndim != 4
        or not weight.size
    ):
        return None
    quantizer = quantizer_of(weight, "conv")
    outs, inputs, height, width = weight.shape
    by_channels = quantizer.axis in (None, 0) and not quantizer.is_float
    if weight.dtype.names != ("qint8",) or not by_channels or np.any(quantizer.zero_point):
        return None
    if inputs * height * width > DEEPEST or outs % packed.groups:
        return None
    numbers = numbers_of(weight)
    alone = inputs == 1 and outs == packed.groups and outs > 1
    if alone:
        words, sums = family("quantized.patches").channel_weights(numbers.reshape(outs, -1))
        of_lines = _by_lines(packed, numbers)
        return Patches(
            packed, outs, len(sums), True, False, [constant(words)], [constant(sums)], of_lines
        )
    filled = -(-inputs // 4) * 4
    merged = packed.groups == 1 and packed.dilation[1] == 1
    spread = np.zeros((outs, height, width, filled), np.int8)
    spread[..., :inputs] = numbers.transpose(0, 2, 3, 1)
    panels, sums_of = [], []
    for rows in np.split(spread.reshape(outs, -1), packed.groups):
        panels.append(constant(family("quantized.integers").packed_columns(rows)))
        total = np.zeros(panels[-1].shape[0] * 16, np.int32)
        total[: len(rows)] = rows.sum(1, dtype=np.int32)
        sums_of.append(constant(total))
    depth = filled * packed.groups
    channels = inputs * packed.groups
    return Patches(packed, channels, depth, False, merged, panels, sums_of)


def _patches(packed: PackedConvolution) -> Patches | None:
    """The weights for native code, made once; None if they are not for it."""
    if packed.panels is None:
        packed.panels = _made(packed) or False
    return packed.panels or None


def wholes_by_patches(numbers: Array, zero_point: int, packed: PackedConvolution) -> Array | None:
    """The exact sums of products of uint8 images, less their zero point, as int32.

    None if there is no native code for it.
    """
    patches = _patches(packed) if numbers.ndim == 4 and numbers.dtype == np.uint8 else None
    if patches is None or not patches.takes(numbers):
        return None
    return patches.wholes(numbers, zero_point)


def bytes_by_patches(
    numbers: Array, packed: PackedConvolution, wanted: Requantizing
) -> Array | None:
    """The same as numbers of another scale and zero point, uint8 with channels last in memory."""
    integers = family("quantized.integers")
    if integers is None or not integers.requantizes():
        return None
    patches = _patches(packed) if numbers.ndim == 4 and numbers.dtype == np.uint8 else None
    if patches is None or not patches.takes(numbers):
        return None
    return wanted.layer(patches.bytes, numbers)
