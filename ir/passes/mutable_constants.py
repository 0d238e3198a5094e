"""What can be computed now is computed now, tensors and lists that nobody changes included.

    %s = prim::ListConstruct(%two, %two)        %z : Float(2, 2, ...) =
    %z = aten::zeros(%s, ...)             ->        prim::Constant[value= 0  0  0  0 [...]]()

What a caller of the graph changes, having got it as a result, is the constant itself, as in torch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...typecheck.types.types import NONE, Type
from ..aliases.alias_db import AliasDb
from ..graphs.constants import MISSING, constant_value, create_constant, type_of
from ..graphs.graph import Graph, Node
from ..graphs.kinds import KINDS, has_effects, is_random, is_undefined
from ..graphs.tensor_types import type_of_array
from .constant_propagation import Propagation
from .context import PassContext
from .dead_code import eliminate_dead_code

__all__ = ["propagate_all_constants"]

_CONTAINERS = ("prim::ListConstruct", "prim::DictConstruct")


def propagate_all_constants(graph: Graph, context: PassContext) -> bool:
    """Compute what depends on constants alone."""
    propagation = _WithMutable(graph, context)
    with graph.entered():
        propagation.block(graph.block)
    if propagation.changed:
        eliminate_dead_code(graph, context)
    return propagation.changed


class _WithMutable(Propagation):
    def __init__(self, graph: Graph, context: PassContext) -> None:
        super().__init__(graph, context)
        self.aliases = AliasDb(graph)

    def is_foldable(self, node: Node) -> bool:
        if node.is_constant or node.blocks or has_effects(node) or not node.outputs:
            return False
        kind = KINDS.get(node.kind)
        if kind is not None and not kind.foldable and node.kind not in _CONTAINERS:
            return False
        if kind is None and (node.signature is None or node.signature.is_mutable):
            return False
        if is_random(node) or is_undefined(node):
            return False
        if not all(value.node.is_constant for value in node.inputs):
            return False
        return not self.aliases.node_has_writers(node)

    def fold(self, node: Node) -> None:
        values = [constant_value(value) for value in node.inputs]
        if any(value is MISSING for value in values):
            return
        results = self.compute(node, values)
        for output, result in zip(node.outputs, results or (), strict=results is not None):
            type = refined(result, output.type)
            constant = create_constant(self.graph, result, type).insert_before(node)
            output.replace_uses(constant.output)
            self.changed = True

    def compute(self, node: Node, values: Sequence[object]) -> Sequence[object] | None:
        if node.kind == "prim::ListConstruct":
            return [list(values)]
        if node.kind == "prim::DictConstruct":
            return [dict(zip(values[::2], values[1::2], strict=True))]
        return super().compute(node, values)


def refined(value: object, type: Type) -> Type:
    """The type of a constant: all that there is to say of a tensor."""
    if value is None:
        return NONE
    if isinstance(value, (np.ndarray, np.generic)):
        return type_of_array(np.asarray(value))
    return type_of(value, type)
