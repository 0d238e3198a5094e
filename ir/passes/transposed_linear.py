"""Linear layers with constant weights as products with the transposed weight.

    %y = aten::linear(%x, %w, %b)     ->    %1 = aten::matmul(%x, %w_t)
                                            %y = aten::add(%1, %b, %one)

The transposed weight is computed once, here.
"""

from __future__ import annotations

import numpy as np

from ...typecheck.types.types import INT, NONE, TENSOR
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Graph, Node
from ..graphs.tensor_types import type_of_array
from .context import PassContext
from .operators import insert_operator

__all__ = ["transpose_linear"]


def transpose_linear(graph: Graph, context: PassContext) -> bool:
    """Replace the linear layers whose weight is a constant matrix."""
    changed = False
    for node in list(graph.all_nodes):
        weight = constant_value(node.inputs[1]) if node.kind == "aten::linear" else None
        if isinstance(weight, np.ndarray) and weight.ndim == 2:
            _replace(node, weight, context)
            changed = True
    return changed


def _replace(node: Node, weight: np.ndarray, context: PassContext) -> None:
    transposed = np.ascontiguousarray(weight.T)
    constant = create_constant(node.graph, transposed, type_of_array(transposed))
    factor = constant.insert_before(node).output
    inputs = (node.inputs[0], factor)
    result = insert_operator(context, node, "aten::matmul", "", inputs, TENSOR)
    if node.inputs[2].type != NONE:
        one = create_constant(node.graph, 1, INT).insert_before(node).output
        summands = (result, node.inputs[2], one)
        result = insert_operator(context, node, "aten::add", "Tensor", summands, TENSOR)
    result.type = node.output.type
    node.output.replace_uses(result)
    node.destroy()
