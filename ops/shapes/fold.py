"""Windows as columns and back; shuffles of pixels and channels."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ..kernels import family, in_order
from ..memory.dtype import Array, Key
from ..memory.errors import OperatorError
from ..table.formula import Part, moved
from ..table.pointwise import as_array
from ..table.refusals import Refusal
from ..table.table import operator
from ..table.without_data import rows_of
from .windows import Ints, follow_format, padded, positions, shifted, windows

# --------------------------------------------------------------------------- columns


def _pair(name: str, values: int | Ints) -> Ints:
    pair = (values, values) if isinstance(values, int) else values
    if len(pair) != 2:
        raise OperatorError(f"It is expected {name} equals to 2, but got size {len(pair)}")
    return pair


def _positive(values: Ints, name: str, letters: tuple[str, str]) -> None:
    if any(value <= 0 for value in values):
        said = " ".join(f"{n}: {v}" for n, v in zip(letters, values, strict=True))
        raise OperatorError(f"{name} should be greater than zero, but got {said}")


def _check_settings(kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> None:
    _positive(kernel, "kernel size", ("kernel_height", "kernel_width"))
    _positive(dilation, "dilation", ("dilation_height", "dilation_width"))
    if any(p < 0 for p in padding):
        raise OperatorError(
            f"padding should be non-negative, but got pad_height: {padding[0]} "
            f"pad_width: {padding[1]}"
        )
    _positive(stride, "stride", ("stride_height", "stride_width"))


def _counts(space: Ints, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> list[int]:
    settings = zip(space, kernel, dilation, padding, stride, strict=True)
    return [(s + 2 * p - d * (k - 1) - 1) // step + 1 for s, k, d, p, step in settings]


def _as_seen(
    result: Array, self: Array, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> list[Part]:
    """What windows see that all lie inside."""
    kernel, spread = _pair("kernel_size", kernel_size), _pair("dilation", dilation)
    pads, steps = _pair("padding", padding), _pair("stride", stride)
    if any(pads) or self.ndim != 4 or not result.flags.c_contiguous:
        return []
    counts = _counts(self.shape[2:], kernel, spread, pads, steps)
    made = result.reshape(*self.shape[:2], *kernel, *counts)
    return [moved(windows(self, kernel, counts, steps, spread), made)]


@operator(
    "aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, "
    "int[2] stride) -> Tensor",
    refuses=Refusal("iu", "im2col_out_cpu"),
    face="layer",
    cost="windows",
    parts=_as_seen,
)
def im2col(self: Array, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Array:
    """What each window sees, as a column."""
    kernel, spread = _pair("kernel_size", kernel_size), _pair("dilation", dilation)
    pads, steps = _pair("padding", padding), _pair("stride", stride)
    _check_settings(kernel, spread, pads, steps)
    if self.ndim not in (3, 4) or not prod(self.shape[-3:]):
        raise OperatorError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(self.shape)}",
            code="shape-mismatch",
            headline=f"an input of shape {list(self.shape)} cannot be unfolded",
            roles={"self": f"has shape {list(self.shape)}"},
        )
    batch = self if self.ndim == 4 else self[None]
    counts = _counts(batch.shape[2:], kernel, spread, pads, steps)
    if any(count < 1 for count in counts):
        raise OperatorError(
            f"Given input with spatial size ({self.shape[-2]}, {self.shape[-1]}), "
            f"kernel_size=({kernel[0]}, {kernel[1]}), dilation=({spread[0]}, {spread[1]}), "
            f"padding=({pads[0]}, {pads[1]}), calculated shape of the array of sliding blocks as "
            f"({counts[0]}, {counts[1]}), but its components must be at least one.",
            code="shape-mismatch",
        )
    source = padded(batch, [(p, p) for p in pads]) if any(pads) else batch
    seen = windows(source, kernel, counts, steps, spread)
    made = seen.reshape(batch.shape[0], batch.shape[1] * prod(kernel), prod(counts))
    made = np.array(made) if np.may_share_memory(made, self) else made
    return made if self.ndim == 4 else made[0]


def _check_columns(self: Array, output: Ints, kernel: Ints, counts: Ints, settings: str) -> None:
    if self.ndim not in (2, 3) or not prod(self.shape[-2:]):
        raise OperatorError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(self.shape)}",
            code="shape-mismatch",
            roles={"self": f"has shape {list(self.shape)}"},
        )
    rows, columns = self.shape[-2:]
    if rows % prod(kernel):
        raise OperatorError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={rows} and kernel_size=({kernel[0]}, {kernel[1]}).",
            code="shape-mismatch",
            roles={"self": f"has {rows} rows"},
        )
    if columns != counts[0] * counts[1]:
        raise OperatorError(
            f"Given output_size=({output[0]}, {output[1]}), {settings}, expected size of input's "
            "dimension 2 to match the calculated number of sliding blocks "
            f"{counts[0]} * {counts[1]} = {counts[0] * counts[1]}, but got "
            f"input.size(2)={columns}.",
            code="shape-mismatch",
            roles={"self": f"has {columns} columns"},
        )
    if min(counts) < 1:
        raise OperatorError(
            f"Given output_size=({output[0]}, {output[1]}), {settings}, calculated shape of the "
            f"array of sliding blocks as ({counts[0]}, {counts[1]}), which is too small "
            "(non-positive)",
            code="shape-mismatch",
        )


def _tiled(
    made: Array, kernel: Ints, counts: Ints, spread: Ints, pads: Ints, steps: Ints
) -> Array | None:
    """A view (batch, channels, *kernel, *counts) of what each window fills; None if windows do not
    lie side by side."""
    is_tiled = [*kernel] == [*steps] and [*spread] == [1, 1] and not any(pads)
    if not is_tiled or any(
        k * n != o for k, n, o in zip(kernel, counts, made.shape[2:], strict=True)
    ):
        return None
    split = made.reshape(*made.shape[:2], counts[0], kernel[0], counts[1], kernel[1])
    return split.transpose(0, 1, 3, 5, 2, 4)


def _put_back(
    result: Array,
    self: Array,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints,
    padding: Ints,
    stride: Ints,
) -> list[Part]:
    if self.ndim != 3 or not self.flags.c_contiguous or not result.flags.c_contiguous:
        return []
    kernel, spread = _pair("kernel_size", kernel_size), _pair("dilation", dilation)
    pads, steps = _pair("padding", padding), _pair("stride", stride)
    counts = _counts(_pair("output_size", output_size), kernel, spread, pads, steps)
    goal = _tiled(result, kernel, counts, spread, pads, steps)
    return [] if goal is None else [moved(self.reshape(goal.shape), goal)]


@operator(
    "aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, "
    "int[2] padding, int[2] stride) -> Tensor",
    face="layer",
    parts=_put_back,
)
def col2im(
    self: Array,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints,
    padding: Ints,
    stride: Ints,
) -> Array:
    """The sum of all columns, each put back where its window was."""
    output, kernel = _pair("output_size", output_size), _pair("kernel_size", kernel_size)
    spread, pads = _pair("dilation", dilation), _pair("padding", padding)
    steps = _pair("stride", stride)
    _check_settings(kernel, spread, pads, steps)
    counts = _counts(output, kernel, spread, pads, steps)
    said = ", ".join(
        f"{name}=({pair[0]}, {pair[1]})"
        for name, pair in zip(
            ("kernel_size", "dilation", "padding", "stride"),
            (kernel, spread, pads, steps),
            strict=True,
        )
    )
    _check_columns(self, output, kernel, counts, said)
    batch = self if self.ndim == 3 else self[None]
    channels = batch.shape[1] // prod(kernel)
    parts = batch.reshape(batch.shape[0], channels, *kernel, *counts)
    made = np.empty((batch.shape[0], channels, *output), self.dtype)
    goal = _tiled(made, kernel, counts, spread, pads, steps)
    if goal is not None:
        goal[...] = parts
        return made if self.ndim == 3 else made[0]
    native = family("convolutions.window_sums")
    found = native and native.put_back(parts, *map(tuple, (output, counts, steps, spread, pads)))
    if found is not None:
        return as_array(found if self.ndim == 3 else found[0])
    space = [o + 2 * p for o, p in zip(output, pads, strict=True)]
    total = np.zeros((batch.shape[0], channels, *space), self.dtype)
    for position in positions(kernel):
        target = shifted(total, position, counts, steps, spread)
        here: Key = (slice(None), slice(None), *position)
        target += parts[here]
    inner = tuple(slice(p, p + o) for o, p in zip(output, pads, strict=True))
    made = np.ascontiguousarray(total[(slice(None), slice(None), *inner)])
    return made if self.ndim == 3 else made[0]


# --------------------------------------------------------------------------- shuffles


def _check_image(self: Array, name: str) -> None:
    if self.ndim < 3:
        raise OperatorError(
            f"{name} expects input to have at least 3 dimensions, but got input with {self.ndim} "
            "dimension(s)",
            code="shape-mismatch",
            roles={"self": f"has shape {list(self.shape)}"},
        )


@operator(
    "aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    prepared=True,
    face="function",
    rows=rows_of("self"),
    on_slices="pictures",
)
def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    """Groups of channels laid out as squares of pixels."""
    _check_image(self, "pixel_shuffle")
    r = upscale_factor
    if r <= 0:
        raise OperatorError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *outer, channels, height, width = self.shape
    if channels % (r * r):
        raise OperatorError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}",
            code="shape-mismatch",
            roles={"self": f"has {channels} channels"},
        )
    made = channels // (r * r)
    split = self.reshape(-1 if self.size else prod(outer), made, r, r, height, width)
    result = in_order(split.transpose(0, 1, 4, 2, 5, 3))
    return _laid_out(result.reshape(*outer, made, height * r, width * r), self)


@operator(
    "aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    prepared=True,
    layout="e",
    face="function",
    rows=rows_of("self"),
    on_slices="pictures",
)
def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    """Squares of pixels as groups of channels."""
    _check_image(self, "pixel_unshuffle")
    r = downscale_factor
    if r <= 0:
        raise OperatorError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *outer, channels, height, width = self.shape
    for name, dim, size in (("height", -2, height), ("width", -1, width)):
        if size % r:
            raise OperatorError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {r}",
                code="shape-mismatch",
                roles={"self": f"has {size} in dimension {dim}"},
            )
    split = self.reshape(prod(outer), channels, height // r, r, width // r, r)
    result = in_order(split.transpose(0, 1, 3, 5, 2, 4))
    return _laid_out(result.reshape(*outer, channels * r * r, height // r, width // r), self)


def _laid_out(result: Array, self: Array) -> Array:
    """In memory of its own, with channels last as `self`."""
    return follow_format(result.copy() if np.may_share_memory(result, self) else result, self)


_SHUFFLES: Final = "(Tensor self, SymInt groups) -> Tensor"


@operator(f"aten::native_channel_shuffle{_SHUFFLES}", out="", face="function", prepared=True)
@operator(f"aten::channel_shuffle{_SHUFFLES}", face="function", prepared=True)
def channel_shuffle(self: Array, groups: int) -> Array:
    """The first channel of each group, then the second of each, and so on."""
    if self.ndim <= 2:
        raise OperatorError(
            "channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(self.shape)}",
            code="shape-mismatch",
        )
    if groups <= 0:
        raise OperatorError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    batch, channels, *space = self.shape
    if channels % groups:
        raise OperatorError(
            f"Number of channels must be divisible by groups. Got {channels} channels and "
            f"{groups} groups.",
            code="shape-mismatch",
            roles={"self": f"has {channels} channels"},
        )
    split = self.reshape(batch, groups, channels // groups, prod(space))
    return _laid_out(in_order(split.swapaxes(1, 2)).reshape(self.shape), self)
