"""Convolutions, forward and transposed."""

from __future__ import annotations

from ..items import Item, Unsupported
from ..table import EXPORTS, exports
from ..writer import Writer


def _convolution(
    w: Writer,
    input: Item,
    weight: Item,
    bias: Item = None,
    stride: Item = 1,
    padding: Item = 0,
    dilation: Item = 1,
    groups: Item = 1,
) -> Item:
    kernel = w.tensor(weight)
    count = w.rank(kernel) - 2
    x, is_single = w.batched(input, count + 2)
    steps = w.wholes(dilation, "dilation", count)
    sizes = [w.known_size(kernel, 2 + n, "the kernel's size") for n in range(count)]
    found = w.op(
        "Conv",
        x,
        kernel,
        w.optional(bias),
        kernel_shape=sizes,
        strides=w.wholes(stride, "stride", count),
        pads=_pads(w, padding, sizes, steps),
        dilations=steps,
        group=w.whole(groups, "groups"),
    )
    return w.squeeze(found, 0) if is_single else found


def _pads(w: Writer, padding: Item, sizes: list[int], steps: list[int]) -> list[int]:
    """What is added before and after each dimension."""
    if padding == "valid":
        return [0] * (2 * len(sizes))
    if padding == "same":
        total = [step * (size - 1) for step, size in zip(steps, sizes, strict=True)]
        return [each // 2 for each in total] + [each - each // 2 for each in total]
    return w.wholes(padding, "padding", len(sizes)) * 2


for _name in ("aten::conv1d", "aten::conv2d", "aten::conv3d"):
    EXPORTS[_name] = _convolution


def _transposed(
    w: Writer,
    input: Item,
    weight: Item,
    bias: Item = None,
    stride: Item = 1,
    padding: Item = 0,
    output_padding: Item = 0,
    groups: Item = 1,
    dilation: Item = 1,
) -> Item:
    kernel = w.tensor(weight)
    count = w.rank(kernel) - 2
    x, is_single = w.batched(input, count + 2)
    found = w.op(
        "ConvTranspose",
        x,
        kernel,
        w.optional(bias),
        kernel_shape=[w.known_size(kernel, 2 + n, "the kernel's size") for n in range(count)],
        strides=w.wholes(stride, "stride", count),
        pads=w.wholes(padding, "padding", count) * 2,
        output_padding=w.wholes(output_padding, "output_padding", count),
        dilations=w.wholes(dilation, "dilation", count),
        group=w.whole(groups, "groups"),
    )
    return w.squeeze(found, 0) if is_single else found


for _name in ("aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d"):
    EXPORTS[_name] = _transposed


@exports("aten::_convolution", "aten::convolution")
def convolution(
    w: Writer,
    input: Item,
    weight: Item,
    bias: Item,
    stride: Item,
    padding: Item,
    dilation: Item,
    transposed: Item,
    output_padding: Item,
    groups: Item,
    *rest: Item,
) -> Item:
    if transposed is True:
        return _transposed(
            w, input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    if transposed is not False:
        raise Unsupported("whether it is transposed must be known")
    return _convolution(w, input, weight, bias, stride, padding, dilation, groups)
