"""Normalisation: batch, layer, group, instance, RMS, local response, weights."""

from __future__ import annotations

import numpy as np

from ..items import Item, Operand, Unsupported
from ..table import exports
from ..writer import Writer


def _affine(w: Writer, x: Operand, weight: Item, bias: Item, after: int) -> Operand:
    """Times the weight, plus the bias, each a vector with `after` dimensions behind it."""
    for kind, item in (("Mul", weight), ("Add", bias)):
        if item is not None:
            operand = w.tensor(item)
            x = w.op(kind, x, w.unsqueeze(operand, *range(1, 1 + after)))
    return x


def _normalised(w: Writer, x: Operand, axes: list[int], eps: Item) -> Operand:
    """Less the mean, over the root of the variance."""
    gap = w.op("Sub", x, w.reduce("ReduceMean", x, axes, True))
    variance = w.reduce("ReduceMean", w.op("Mul", gap, gap), axes, True)
    root = w.op("Sqrt", w.op("Add", variance, w.tensor(eps, x.dtype)))
    return w.op("Div", gap, root)


@exports("aten::batch_norm")
def batch_norm(
    w: Writer,
    input: Item,
    weight: Item,
    bias: Item,
    running_mean: Item,
    running_var: Item,
    training: Item,
    momentum: Item,
    eps: Item,
    cudnn_enabled: Item = False,
) -> Item:
    x = w.tensor(input)
    after = max(w.rank(x) - 2, 0)
    if training is True or running_mean is None or running_var is None:
        axes = [axis for axis in range(w.rank(x)) if axis != 1]
        return _affine(w, _normalised(w, x, axes, eps), weight, bias, after)
    mean, var = w.tensor(running_mean), w.tensor(running_var)
    channels = mean.sizes
    if channels is None:
        raise Unsupported("the number of channels is not known")
    scale = w.filled(channels, 1, x.dtype) if weight is None else w.tensor(weight)
    shift = w.filled(channels, 0, x.dtype) if bias is None else w.tensor(bias)
    return w.op("BatchNormalization", x, scale, shift, mean, var, epsilon=w.real(eps, "eps"))


@exports("aten::instance_norm")
def instance_norm(
    w: Writer,
    input: Item,
    weight: Item,
    bias: Item,
    running_mean: Item,
    running_var: Item,
    use_input_stats: Item,
    momentum: Item,
    eps: Item,
    cudnn_enabled: Item = False,
) -> Item:
    if use_input_stats is not True:
        return batch_norm(w, input, weight, bias, running_mean, running_var, False, momentum, eps)
    x = w.tensor(input)
    after = w.rank(x) - 2
    return _affine(w, _normalised(w, x, list(range(2, 2 + after)), eps), weight, bias, after)


@exports("aten::layer_norm")
def layer_norm(
    w: Writer,
    input: Item,
    normalized_shape: Item,
    weight: Item = None,
    bias: Item = None,
    eps: Item = 1e-5,
    cudnn_enable: Item = True,
) -> Item:
    x = w.tensor(input)
    sizes = w.wholes(normalized_shape, "normalized_shape")
    scale = w.filled(sizes, 1, x.dtype) if weight is None else w.tensor(weight)
    shift = w.optional(bias)
    return w.op("LayerNormalization", x, scale, shift, axis=-len(sizes), epsilon=w.real(eps, "eps"))


@exports("aten::group_norm")
def group_norm(
    w: Writer,
    input: Item,
    num_groups: Item,
    weight: Item = None,
    bias: Item = None,
    eps: Item = 1e-5,
    cudnn_enabled: Item = True,
) -> Item:
    x = w.tensor(input)
    groups = w.whole(num_groups, "num_groups")
    flat = w.reshape(x, [w.size(x, 0), groups, -1])
    made = w.reshape(_normalised(w, flat, [2], eps), w.sizes(x))
    return _affine(w, made, weight, bias, w.rank(x) - 2)


@exports("aten::rms_norm")
def rms_norm(
    w: Writer, input: Item, normalized_shape: Item, weight: Item = None, eps: Item = None
) -> Item:
    x = w.tensor(input)
    count = len(w.wholes(normalized_shape, "normalized_shape"))
    axes = list(range(w.rank(x) - count, w.rank(x)))
    least = float(np.finfo(x.dtype).eps) if eps is None else w.real(eps, "eps")
    mean = w.reduce("ReduceMean", w.op("Mul", x, x), axes, True)
    root = w.op("Sqrt", w.op("Add", mean, w.constant(least, x.dtype)))
    made = w.op("Div", x, root)
    return made if weight is None else w.op("Mul", made, w.tensor(weight))


@exports("aten::_weight_norm")
def weight_norm(w: Writer, v: Item, g: Item, dim: Item = 0) -> Item:
    x, size = w.tensor(v), w.tensor(g)
    number = w.whole(dim, "dim")
    axes = [a for a in range(w.rank(x)) if number == -1 or a != number % w.rank(x)]
    length = w.reduce("ReduceL2", x, axes, number != -1)
    return w.op("Mul", x, w.op("Div", size, length))
