"""Operators with constant weights take in what follows them.

    %1 = aten::conv2d(%x, %w, %b, ...)
    %2 = aten::batch_norm(%1, ...)       ->   %2 = aten::conv2d(%x, %w_fused_bn, %b_fused_bn, ...)

The same for sums, differences, products and quotients with constants that have one value, or one
for each channel, and for batch normalisation after a linear layer.  Results change by rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ops.memory.dtype import Array
from ...typecheck.types.types import NONE
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Graph, Node, Value
from ..graphs.kinds import asks_for_form, entry_of
from ..graphs.tensor_types import type_of_array
from .context import PassContext
from .dead_code import eliminate_dead_code

__all__ = [
    "fold_convolution_batch_norm",
    "fold_convolution_scale",
    "fold_convolution_shift",
    "fold_frozen",
    "fold_linear_batch_norm",
]


def fold_frozen(graph: Graph, context: PassContext) -> bool:
    """Fold until nothing is left to fold."""
    changed = False
    again = True
    while again:
        again = fold_convolution_batch_norm(graph, context)
        again |= fold_convolution_shift(graph, context)
        again |= fold_convolution_scale(graph, context)
        again |= fold_linear_batch_norm(graph, context)
        changed |= again
    return changed


def fold_convolution_batch_norm(graph: Graph, context: PassContext) -> bool:
    """Batch normalisation after a convolution."""
    return _fold(graph, context, ("aten::batch_norm",), _is_convolution, _batch_norm)


def fold_linear_batch_norm(graph: Graph, context: PassContext) -> bool:
    """Batch normalisation after a linear layer."""
    return _fold(graph, context, ("aten::batch_norm",), _is_linear, _batch_norm)


def fold_convolution_shift(graph: Graph, context: PassContext) -> bool:
    """A sum or difference after a convolution."""
    return _fold(graph, context, ("aten::add", "aten::sub"), _is_convolution, _shift)


def fold_convolution_scale(graph: Graph, context: PassContext) -> bool:
    """A product or quotient after a convolution."""
    return _fold(graph, context, ("aten::mul", "aten::div"), _is_convolution, _scale)


Merge = Callable[[Node, Array, Array], tuple[Array, Array, str] | None]
"""New weight and bias, and the end of their names, for the operator after, weight and bias."""


def _fold(
    graph: Graph,
    context: PassContext,
    kinds: tuple[str, ...],
    is_layer: Callable[[Node], bool],
    merge: Merge,
) -> bool:
    changed = False
    for node in list(graph.all_nodes):
        if node.kind not in kinds or not node.inputs:
            continue
        layer = node.inputs[0].node
        if is_layer(layer) and _is_alone(layer, node) and _put_in(layer, node, merge):
            changed = True
    if changed:
        eliminate_dead_code(graph, context)
    return changed


def _is_convolution(node: Node) -> bool:
    """Whether it is one that takes input, weight and bias; those that may be turned say so."""
    entry = entry_of(node)
    return entry is not None and entry.cost == "convolved" and entry.later is not None


def _is_linear(node: Node) -> bool:
    return node.kind == "aten::linear"


def _is_alone(layer: Node, node: Node) -> bool:
    """Whether nobody else uses the layer's values."""
    entry = entry_of(layer)
    names = [] if entry is None else [each.name for each in entry.signature.arguments]
    at = names.index("transposed") if "transposed" in names else None
    transposed = at is not None and constant_value(layer.inputs[at]) is not False
    users = [use.user for use in layer.output.uses]
    others = [user for user in users if user is not node and not asks_for_form(user)]
    alone = users.count(node) == 1 and not others
    return alone and layer.owner is node.owner and not transposed


def _put_in(layer: Node, node: Node, merge: Merge) -> bool:
    """Give a layer the weights that make the node after it superfluous."""
    weight, bias = _array(layer.inputs[1]), _array(layer.inputs[2])
    if weight is None or (bias is None and constant_value(layer.inputs[2]) is not None):
        return False
    old = np.zeros(weight.shape[0], weight.dtype) if bias is None else bias
    merged = merge(node, weight, old)
    if merged is None:
        return False
    for index, array, kind in ((1, merged[0], "weight"), (2, merged[1], "bias")):
        _exchange(layer, index, array, kind, merged[2])
    node.output.replace_uses(layer.output)
    node.destroy()
    return True


def _exchange(layer: Node, index: int, array: Array, kind: str, end: str) -> None:
    graph, old = layer.graph, layer.inputs[index]
    node = create_constant(graph, array, type_of_array(array)).insert_before(layer)
    name = old.name
    if name is None:
        other = layer.inputs[1].name or ""
        name = other.removesuffix(end).removesuffix("weight") + kind
    node.output.name = f"{name}{end}" if not name.endswith(end) else name
    layer.set_input(index, node.output)


def _array(value: Value) -> Array | None:
    constant = constant_value(value)
    return constant if isinstance(constant, np.ndarray) else None


def _by_channel(values: Array, weight: Array) -> Array:
    """Values for the output channels in the form of a factor for a weight."""
    return values.reshape((-1,) + (1,) * (weight.ndim - 1))


def _batch_norm(node: Node, weight: Array, bias: Array) -> tuple[Array, Array, str] | None:
    gain, shift, mean, variance = (_array(value) for value in node.inputs[1:5])
    training, epsilon = constant_value(node.inputs[5]), constant_value(node.inputs[7])
    if training is not False or not isinstance(epsilon, float):
        return None
    if mean is None or variance is None or len(mean) != weight.shape[0]:
        return None
    if any(v.type != NONE and _array(v) is None for v in node.inputs[1:3]):
        return None
    factor = 1 / np.sqrt(variance + variance.dtype.type(epsilon))
    factor = factor if gain is None else factor * gain
    moved = (bias - mean) * factor + (0 if shift is None else shift)
    scaled = weight * _by_channel(factor, weight)
    return scaled.astype(weight.dtype), moved.astype(bias.dtype), "_fused_bn"


def _operand(node: Node, weight: Array) -> Array | None:
    """The other operand as one value for each output channel."""
    constant = constant_value(node.inputs[1])
    if isinstance(constant, int | float) and not isinstance(constant, bool):
        return np.full(weight.shape[0], constant, weight.dtype)
    if not isinstance(constant, np.ndarray):
        return None
    if constant.dtype != weight.dtype and constant.dtype.kind not in "iu":
        return None  # the result would be of another type than the layer's
    sizes = (1,) * (weight.ndim - constant.ndim) + constant.shape
    if len(sizes) != weight.ndim or any(s != 1 for i, s in enumerate(sizes) if i != 1):
        return None
    if sizes[1] not in (1, weight.shape[0]):
        return None
    return np.broadcast_to(constant.reshape(-1), (weight.shape[0],)).astype(weight.dtype)


def _shift(node: Node, weight: Array, bias: Array) -> tuple[Array, Array, str] | None:
    operand, factor = _operand(node, weight), constant_value(node.inputs[-1])
    if operand is None or len(node.inputs) != 3 or not isinstance(factor, int | float):
        return None
    change = operand * weight.dtype.type(factor)
    moved = bias + change if node.kind == "aten::add" else bias - change
    return weight, moved, "_fused_" + node.kind.removeprefix("aten::")


def _scale(node: Node, weight: Array, bias: Array) -> tuple[Array, Array, str] | None:
    operand = _operand(node, weight) if len(node.inputs) == 2 else None
    if operand is None:
        return None
    factor = _by_channel(operand, weight)
    end = "_fused_" + node.kind.removeprefix("aten::")
    if node.kind == "aten::mul":
        return weight * factor, bias * operand, end
    return weight / factor, bias / operand, end
