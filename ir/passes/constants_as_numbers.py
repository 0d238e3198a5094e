"""Constants without dimensions, as numbers: such an operand does not widen the result.

    %2 = prim::Constant[value={0.5}]()     ->   %2 : float = prim::Constant[value=0.5]()
    %3 = aten::mul(%x, %2)                 ->   %3 = aten::mul(%x, %2)    of the overload `Scalar`

Only of numbers, not truths, on the right of `+ - * /`, as torch does before it runs a graph.
A trace makes such constants of Python's numbers; they are left alone in graphs that are shown.
"""

from __future__ import annotations

import numpy as np

from ...ops.table.table import TABLE
from ...typecheck.types.types import COMPLEX, FLOAT, INT
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Graph, Node

__all__ = ["constants_as_numbers"]


def constants_as_numbers(graph: Graph) -> bool:
    """Put numbers in the places of constant tensors of one number; whether there were any."""
    changed = False
    for node in graph.all_nodes:
        if node.signature is not None and node.signature.overload == "Tensor":
            changed |= _take_number(node)
    return changed


def _take_number(node: Node) -> bool:
    value = constant_value(node.inputs[1]) if len(node.inputs) > 1 else None
    if not isinstance(value, np.ndarray) or value.ndim or value.dtype.kind == "b":
        return False
    entry = TABLE.operator(f"{node.kind}.Scalar")
    if entry is None or entry.neutral is None:
        return False
    if value.dtype.kind == "c":
        constant = create_constant(node.graph, complex(value), COMPLEX)
    elif value.dtype.kind in "iu":
        constant = create_constant(node.graph, int(value), INT)
    else:  # bfloat16 has a kind of its own
        constant = create_constant(node.graph, float(value), FLOAT)
    node.set_input(1, constant.insert_before(node).output)
    node.signature = entry.signature
    return True
