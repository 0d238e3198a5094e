"""Outputs of branches and loops in the order in which they are first used; unused ones last.

    %b, %a = prim::If(%c)               %a, %b = prim::If(%c)
      block0(): -> (%1, %2)       ->      block0(): -> (%2, %1)
      block1(): -> (%3, %4)               block1(): -> (%4, %3)
    prim::Print(%a, %b)                 prim::Print(%a, %b)

So that a graph that was printed as Python and read back has its outputs in the same order.
"""

from __future__ import annotations

from functools import cmp_to_key

from ..graphs.graph import Block, Graph, Node, Use, Value
from .context import PassContext

__all__ = ["canonicalize_outputs"]


def canonicalize_outputs(graph: Graph, context: PassContext) -> bool:
    """Order the outputs of every branch and loop."""
    return _block(graph.block)


def _block(block: Block) -> bool:
    changed = False
    for node in block.nodes_reversed:
        if node.kind in ("prim::If", "prim::Loop"):
            changed |= _order_outputs(node)
        for inner in node.blocks:
            changed |= _block(inner)
    return changed


def _order_outputs(node: Node) -> bool:
    first = [_first_use(output) for output in node.outputs]

    def compare(a: int, b: int) -> int:
        return _compare(first[a], first[b])

    order = sorted(range(len(first)), key=cmp_to_key(compare))
    if order == list(range(len(order))):
        return False
    _permute_outputs(node, order)
    return True


def _compare(one: Use | None, other: Use | None) -> int:
    if one is None or other is None:
        return (one is None) - (other is None)
    if one == other:
        return 0
    return -1 if _is_before(one, other) else 1


def _first_use(value: Value) -> Use | None:
    first: Use | None = None
    for use in value.uses:
        if first is None or _is_before(use, first):
            first = use
    return first


def _is_before(one: Use, other: Use) -> bool:
    if one.user is other.user:
        return one.number < other.number
    return one.user.is_before(other.user)


def _permute_outputs(node: Node, order: list[int]) -> None:
    node.outputs[:] = [node.outputs[i] for i in order]
    carried = 1 if node.kind == "prim::Loop" else 0
    for block in node.blocks:
        values = list(block.outputs)
        kept, moved = values[:carried], values[carried:]
        block.clear_outputs()
        for value in (*kept, *(moved[i] for i in order)):
            block.add_output(value)
    if not carried:
        return
    params = node.blocks[0].inputs
    params[1:] = [params[1 + i] for i in order]
    values = list(node.inputs)
    node.clear_inputs()
    for value in (*values[:2], *(values[2 + i] for i in order)):
        node.add_input(value)
