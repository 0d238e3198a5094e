"""Tensors of one element, where an operator reads nothing but that, as numbers.

    %3 = aten::quantize_per_tensor(%x, %scale, %zero, %2)
    ->
    %4 : float = aten::Float(%scale)
    %5 : int = aten::Int(%zero)
    %3 = aten::quantize_per_tensor(%x, %4, %5, %2)    of the overload that takes numbers

Of constants they are constants.  What is made of a tensor's sizes, and of numbers, is known then by
these.  It is done to graphs that run, not to those that are shown.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...ops.table.table import TABLE
from ...typecheck.types.types import FLOAT, INT, TENSOR, Type
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Graph, Node, Value

__all__ = ["elements_as_numbers"]

_READS: Final[dict[Type, str]] = {FLOAT: "aten::Float.Tensor", INT: "aten::Int.Tensor"}
"""What reads the element of a tensor as a number of each type."""


def elements_as_numbers(graph: Graph) -> bool:
    """Let operators take numbers that take tensors for them; whether there were any."""
    changed = False
    for node in list(graph.all_nodes):
        entry = None if node.signature is None else TABLE.operator(node.signature.full_name)
        other = TABLE.operator(entry.by_numbers) if entry is not None and entry.by_numbers else None
        if other is not None:
            for place, argument in enumerate(other.signature.arguments):
                if node.inputs[place].type == TENSOR and argument.type in _READS:
                    node.set_input(place, _number(graph, node, node.inputs[place], argument.type))
            node.signature = other.signature
            changed = True
    return changed


def _number(graph: Graph, node: Node, tensor: Value, type: Type) -> Value:
    """The element of a tensor, in front of the node that reads it."""
    known = constant_value(tensor)
    if isinstance(known, np.ndarray) and known.size == 1 and known.dtype.kind in "fiu":
        element = known.item()
        is_whole = type == FLOAT or isinstance(element, int)
        if is_whole:
            number = float(element) if type == FLOAT else element
            return create_constant(graph, number, type).insert_before(node).output
    entry = TABLE.operator(_READS[type])
    assert entry is not None
    read = graph.create(entry.signature.name, (tensor,), (type,), node.span, entry.signature)
    read.call_stack, read.scope = node.call_stack, node.scope
    return read.insert_before(node).output
