"""Which nodes are printed inside the expression of their only user.

A block is walked backwards together with the expression trees hanging off its nodes: a node may
stand inside its user if, reading the expression from right to left, it is exactly the node that
comes next in the block.  Evaluation order is thereby kept whatever the operators do.
"""

from __future__ import annotations

from ...ir.graphs.graph import Block, Node, Value
from ...ir.graphs.kinds import TASKS

__all__ = ["inlined_nodes"]


def inlined_nodes(block: Block) -> set[Node]:
    """The nodes of `block` and the blocks in it that need no statement of their own."""
    found: set[Node] = set()
    _scan_block(block, found)
    return found


def _scan_block(block: Block, found: set[Node]) -> None:
    _scan_tree(block.ret, found)
    for node in block.nodes_reversed:
        if node not in found:
            for inner in node.blocks:
                _scan_block(inner, found)
            _scan_tree(node, found)


def _scan_tree(root: Node, found: set[Node]) -> None:
    """Find the nodes of the expression tree below `root`; `point` is the next it may take."""
    point = _before(root)
    walks = [iter(reversed(root.inputs))]
    while walks:
        value = next(walks[-1], None)
        if value is None:
            walks.pop()
        elif value.node.is_constant:
            found.add(value.node)
        elif value.node is point and _can_inline(value):
            found.add(point)
            walks.append(iter(reversed(point.inputs)))
            point = _before(point)


def _before(node: Node) -> Node:
    node = node.previous
    while node.is_constant:
        node = node.previous
    return node


def _can_inline(value: Value) -> bool:
    node = value.node
    if len(node.outputs) != 1 or len(value.uses) != 1 or node.blocks or node.kind in TASKS:
        return False
    ((user, index),) = value.uses
    if value.name is not None and user.kind != "prim::Return":
        return False
    if user.kind == "prim::Loop":
        return index < 2  # a carried value is assigned before the loop's own conditions are printed
    if node.kind == "prim::isinstance":
        return False  # as a condition it would refine again what the graph has refined already
    return user.kind not in TASKS
