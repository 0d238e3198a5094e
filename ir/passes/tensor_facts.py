"""Facts about tensors in the types of values.

%1 : Float(2, 3, strides=[3, 1]) = ...        ->   %1 : Tensor = ...
%2 : int = prim::Constant[value=1]()          ->   %2 : Long(device=cpu) = ...
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...typecheck.types.tensor_facts import RefinedTensor, has_facts, without_facts
from ...typecheck.types.types import BOOL, FLOAT, INT, NUMBER
from ..graphs.graph import Block, Graph, Value
from .context import PassContext

__all__ = ["erase_facts", "erase_number_types"]


def erase_facts(graph: Graph, context: PassContext) -> bool:
    """Forget sizes, element types and devices."""
    changed = False
    for value in _values(graph.block):
        if has_facts(value.type):
            value.type = without_facts(value.type)
            changed = True
    return changed


def erase_number_types(graph: Graph, context: PassContext) -> bool:
    """Let numbers be tensors, for formats that have only these; such a graph does not run here."""
    changed = False
    for value in _values(graph.block):
        if value.type not in (INT, FLOAT, BOOL, NUMBER):
            continue
        if value.node.is_constant:
            number = value.node.attributes["value"]
            dtype = np.float64 if isinstance(number, float) else np.int64
            value.node.attributes["value"] = np.asarray(number, dtype)
        number = value.type in (INT, BOOL)
        value.type = RefinedTensor(scalar="Long" if number else "Double", sizes=(), device="cpu")
        changed = True
    return changed


def _values(block: Block) -> Iterator[Value]:
    yield from block.inputs
    for node in block.nodes:
        yield from node.outputs
        for inner in node.blocks:
            yield from _values(inner)
