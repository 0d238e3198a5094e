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

from ...typecheck.types import FunctionType
from ..aliases import is_mutable
from ..constants import same_constant
from ..graph import Block, Graph, Node
from .context import PassContext

__all__ = ["pool_constants"]


def pool_constants(graph: Graph, context: PassContext) -> bool:
    """Move constants to the top of the graph and merge equal ones."""
    known: dict[object, list[Node]] = {}
    return _block(graph.block, known)


def _block(block: Block, known: dict[object, list[Node]]) -> bool:
    changed = False
    for node in block.nodes:
        for inner in node.blocks:
            changed |= _block(inner, known)
        if node.is_constant:
            changed |= _pool(node, known)
    return changed


def _pool(node: Node, known: dict[object, list[Node]]) -> bool:
    first = node.graph.block.first
    moves = node is not first
    if moves:
        node.move_before(first)
    bucket = known.setdefault(_bucket(node), [])
    for other in bucket:
        if same_constant(node, other) and not is_mutable(node.output.type):
            node.output.replace_uses(other.output)
            node.destroy()
            return True
    bucket.append(node)
    return moves


def _bucket(node: Node) -> object:
    """What two constants must have in common to be worth comparing."""
    kind = node.output.type
    return kind.function if isinstance(kind, FunctionType) else (kind, type(node.value))
