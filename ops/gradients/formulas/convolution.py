"""Gradients of convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...kernels import Prepared, in_order, is_half
from ...layers.convolution_gradients import turned_weight, weight_gradient
from ...memory.dtype import Array
from ...table.grad_mode import is_recording
from ...tensors.tensor import Tensor
from ..table.rows import (
    Ints,
    Tensors,
    Wanted,
    aten,
    composite,
    conj,
    giving_together,
    joint,
)
from ..table.rules import is_unheard

_FLOAT32: Final = np.dtype(np.float32)
_NAMES: Final = "input weight bias"
_EACH: Final = tuple(_NAMES.split())
_Three = tuple[Tensor | None, Tensor | None, Tensor | None]


def _filled(value: int | Ints | None, count: int, default: int) -> list[int]:
    if value is None:
        return [default] * count
    given = [value] if isinstance(value, int) else list(value)
    return given * count if len(given) == 1 else given


def _same_padding(sizes: Ints, dilation: list[int]) -> list[tuple[int, int]]:
    totals = [d * (k - 1) for d, k in zip(dilation, sizes[2:], strict=True)]
    return [(t // 2, t - t // 2) for t in totals]


def _convolution(
    gs: Tensors, wanted: Wanted, input: Tensor, weight: Tensor, bias_sizes: Ints | None = None,
    stride: Ints | None = None, padding: Ints | str | None = None, dilation: Ints | None = None,
    groups: int = 1, transposed: bool = False, output_padding: Ints | None = None,
) -> _Three:  # fmt: skip
    (g,) = gs[:1]
    if not input.numel() or not g.numel():
        return _of_nothing(wanted, input, weight, groups, transposed)
    settings = stride, padding, dilation, groups, transposed
    if is_unheard() and _are_plain(g, input, weight):
        asked = tuple([bool(wanted.get(name)) for name in _EACH])
        arrays = in_order(g._array[...]), input._array[...], weight._array[...]
        made = iter(_KNOWN.call(*arrays, *asked, *settings))
        first, second, third = (Tensor._of(next(made)) if each else None for each in asked)
        return first, second, third
    return _by_operators(g, wanted, input, weight, *settings)


def _are_plain(g: Tensor, input: Tensor, weight: Tensor) -> bool:
    """Whether they are floats up to 32 bits, input and weight in the usual order: gradients lie so,
    too."""
    x, w = input._array, weight._array
    is_usual = x.flags.c_contiguous and w.flags.c_contiguous
    is_usual = is_usual and x.dtype is w.dtype is g._array.dtype
    return is_usual and (x.dtype is _FLOAT32 or is_half(x.dtype))


def _on_arrays(
    g: Array, input: Array, weight: Array, *asked_and_settings: Any
) -> tuple[Array, ...]:
    """The gradients that are asked for, in one piece."""
    asked, settings = asked_and_settings[:3], asked_and_settings[3:]
    wanted = dict(zip(_EACH, asked, strict=True))
    found = _by_operators(Tensor._of(g), wanted, Tensor._of(input), Tensor._of(weight), *settings)
    return tuple([in_order(each._array) for each in found if each is not None])


_KNOWN: Final = Prepared(_on_arrays)


def _by_operators(
    g: Tensor, wanted: Wanted, input: Tensor, weight: Tensor, stride: Ints | None,
    padding: Ints | str | None, dilation: Ints | None, groups: int, transposed: bool,
) -> _Three:  # fmt: skip
    count = weight.ndim - 2
    batched = input.ndim == weight.ndim
    x, y = (input, g) if batched else (input.unsqueeze(0), g.unsqueeze(0))
    steps, spread = _filled(stride, count, 1), _filled(dilation, count, 1)
    cut = None
    if isinstance(padding, str):
        pairs = [(0, 0)] * count if padding == "valid" else _same_padding(weight.shape, spread)
        edges = [0] * count
        if any(a != b for a, b in pairs):
            cut = [n for pair in reversed(pairs) for n in pair]
            x = aten.constant_pad_nd(x, cut, 0)
        else:
            edges = [a for a, _ in pairs]
    else:
        edges = _filled(padding, count, 0)
    mine = theirs = None
    if wanted.get("input"):
        mine = _of_input(x, weight, y, steps, edges, spread, groups, transposed)
        if cut is not None:
            mine = aten.constant_pad_nd(mine, [-n for n in cut], 0)
        mine = mine if batched else mine.squeeze(0)
    if wanted.get("weight"):
        one, two = (conj(y), conj(x)) if transposed else (x, y)
        theirs = _of_weight(one, two, weight.shape, steps, edges, spread, groups)
    of_bias = None
    if wanted.get("bias"):
        of_bias = y.sum([d for d in range(y.ndim) if d != 1])
    return mine, theirs, of_bias


def _of_nothing(
    wanted: Wanted, input: Tensor, weight: Tensor, groups: int, transposed: bool
) -> _Three:
    """The gradients of a convolution without samples or channels: zeros."""
    channels = weight.shape[1] * groups if transposed else weight.shape[0]
    shapes = {"input": input.shape, "weight": weight.shape, "bias": (channels,)}
    mine, theirs, of_bias = (
        weight.new_zeros(list(shape)) if wanted.get(name) else None
        for name, shape in shapes.items()
    )
    return mine, theirs, of_bias


def _of_input(
    x: Tensor, weight: Tensor, y: Tensor, stride: Ints, padding: Ints, dilation: Ints, groups: int,
    transposed: bool,
) -> Tensor:  # fmt: skip
    zeros = [0] * len(stride)
    if transposed:
        found = aten.convolution(
            y, conj(weight), None, stride, padding, dilation, False, zeros, groups
        )
        for d, size in enumerate(x.shape[2:]):
            found = found.narrow(d + 2, 0, size)
        return found
    extra = []
    for d, step in enumerate(stride):
        reach = dilation[d] * (weight.shape[d + 2] - 1) + 1
        extra.append(x.shape[d + 2] - ((y.shape[d + 2] - 1) * step - 2 * padding[d] + reach))
    if any(e < 0 or e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError("the sizes of a convolution and its gradient do not fit")
    edges = [d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[2:], padding, strict=True)]
    if groups == math.prod(weight.shape[2:]) == 1 == max(stride) and not any(padding):
        turned = weight.transpose(0, 1)  # windows of one number: products of matrices
        return aten.convolution(y, conj(turned), None, stride, zeros, dilation, False, zeros, 1)
    if set(stride) == {1} and min(edges) >= 0 and (groups > 1 or y.dtype.itemsize == 2):
        turned = _turned(weight, groups)
        return aten.convolution(
            y, conj(turned), None, stride, edges, dilation, False, zeros, groups
        )
    return aten.convolution(y, conj(weight), None, stride, padding, dilation, True, extra, groups)


def _turned(weight: Tensor, groups: int) -> Tensor:
    """The weight of the plain convolution that takes gradients back where windows go by steps of 1:
    of groups and of 16-bit floats it is quicker than a transposed one."""
    if not is_recording():
        quick = turned_weight(weight._array, groups)
        if quick is not None:
            return Tensor._of(quick)
    made, inside, *size = weight.shape
    turned = weight.flip(list(range(2, weight.ndim)))
    parts = turned.reshape([groups, made // groups, inside, *size]).transpose(1, 2)
    return parts.reshape([groups * inside, made // groups, *size])


def _of_weight(
    x: Tensor, y: Tensor, sizes: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Tensor:
    """The gradient of the weight: a convolution of the input by the result's gradient, the batch
    in the place of the channels, steps and dilation changed over."""
    if not is_recording():
        quick = weight_gradient(
            x._array, y._array, tuple(sizes), stride, padding, dilation, groups
        )  # fmt: skip
        if quick is not None:
            return Tensor._of(quick)
    batch, channels = x.shape[0], x.shape[1]
    zeros = [0] * len(stride)
    out = y.shape[1]
    if groups == 1:
        found = aten.convolution(
            conj(x.transpose(0, 1)), y.transpose(0, 1), None, dilation, padding, stride, False,
            zeros, 1,
        ).transpose(0, 1)  # fmt: skip
    else:
        rest = list(x.shape[2:])
        wide = x.reshape([batch, groups, channels // groups, *rest]).permute(
            [2, 1, 0, *range(3, 3 + len(rest))]
        )
        wide = conj(wide).reshape([channels // groups, groups * batch, *rest])
        ends = list(y.shape[2:])
        kernel = y.reshape([batch, out, *ends]).transpose(0, 1)
        found = aten.convolution(
            wide, kernel, None, dilation, padding, stride, False, zeros, groups
        ).transpose(0, 1)
    for d, size in enumerate(sizes[2:]):
        found = found.narrow(d + 2, 0, size)
    return found


joint(
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::convolution",
    "aten::_convolution",
    "aten::_convolution_mode",
    of=_NAMES,
    name="ConvolutionBackward0",
    lays="as convolved",
)(_convolution)


@composite("aten::convolution_backward")
def convolution_backward(
    grad_output: Tensor, input: Tensor, weight: Tensor, bias_sizes: Ints | None, stride: Ints,
    padding: Ints, dilation: Ints, transposed: bool, output_padding: Ints, groups: int,
    output_mask: Sequence[bool],
) -> _Three:  # fmt: skip
    """The gradients of a convolution that are wanted, of input, weight and bias."""
    wanted = dict(zip(_EACH, output_mask, strict=True))
    return _convolution(
        (grad_output,), wanted, input, weight, bias_sizes, stride, padding, dilation, groups,
        transposed, output_padding,
    )  # fmt: skip


@joint(
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    of=_NAMES,
    name="ConvolutionBackward0",
    lays="as convolved",
)
def _transposed(
    gs: Tensors, wanted: Wanted, input: Tensor, weight: Tensor, stride: Ints, padding: Ints,
    output_padding: Ints, groups: int, dilation: Ints,
) -> _Three:  # fmt: skip
    return _convolution(
        gs, wanted, input, weight, None, stride, padding, dilation, groups, True, output_padding
    )


@composite("aten::conv_tbc")
def conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, pad: int) -> Tensor:
    """A convolution with time first and channels last."""
    found = aten.conv1d(self.permute([1, 2, 0]), weight.permute([2, 1, 0]), bias, [1], [pad])
    return found.permute([2, 0, 1])


giving_together(
    "input weight",
    *"convolution _convolution _convolution_mode conv1d conv2d conv3d".split(),
    *"conv_transpose1d conv_transpose2d conv_transpose3d".split(),
)
