"""All constants at the top, each once.

    %b = aten::add(%a, %x)                  %2 = prim::Constant[value=2]()
    prim::If(%c)                            %1 = prim::Constant[value=1]()
      block0():                             %b = aten::add(%a, %x)
        %1 = prim::Constant[value=1]()  ->  prim::If(%c)
        %2 = prim::Constant[value=2]()        block0():
        %3 = prim::Constant[value=1]()          -> (%1, %2, %1)
        -> (%1, %2, %3)

Each is moved before the first node in turn, so they end in reverse order.  Runs after constant
propagation, which makes new constants.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ...frontend.foundations.made_once import made_once
from ...typecheck.definitions.class_types import FunctionType
from ..aliases.alias_analysis import is_mutable
from ..aliases.aliases import Aliases
from ..graphs.constants import same_constant
from ..graphs.graph import Block, Graph, Node
from .context import PassContext

__all__ = ["common_to_equal", "pool_constants"]


def pool_constants(graph: Graph, context: PassContext) -> bool:
    """Move constants to the top of the graph and merge equal ones."""
    return _Pool(graph).block(graph.block)


class _Pool:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.known: dict[Hashable, list[Node]] = {}

    @made_once
    def aliases(self) -> Aliases:
        return Aliases(self.graph)

    def block(self, block: Block) -> bool:
        changed = False
        for node in block.nodes:
            for inner in node.blocks:
                changed |= self.block(inner)
            if node.is_constant:
                changed |= self.constant(node)
        return changed

    def constant(self, node: Node) -> bool:
        first = self.graph.block.first
        moves = node is not first
        if moves:
            node.move_before(first)
        bucket = self.known.setdefault(common_to_equal(node), [])
        for other in bucket:
            if same_constant(node, other) and self.may_be_one(node, other):
                node.output.replace_uses(other.output)
                node.destroy()
                return True
        bucket.append(node)
        return moves

    def may_be_one(self, node: Node, other: Node) -> bool:
        """Whether they are one object, or nobody can tell two apart since neither is changed."""
        if node.value is other.value or not is_mutable(node.output.type):
            return True
        return not any(map(self.aliases.is_changed, (node.output, other.output)))


def common_to_equal(node: Node) -> Hashable:
    """What two constants must have in common to be worth comparing."""
    kind, value = node.output.type, node.value
    if isinstance(kind, FunctionType):
        return kind.function
    if isinstance(value, np.ndarray):  # a few elements tell most weights apart
        places = (0, value.size // 2, value.size - 1) if value.size else ()
        return (kind, value.dtype, value.shape, *(value.item(place) for place in places))
    hashable = isinstance(value, (int, float, complex, str, tuple)) or value is None
    return (kind, type(value), value if hashable and not is_mutable(kind) else None)
