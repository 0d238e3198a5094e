"""A loop with both a trip count and a condition becomes one with a condition alone.

    %r = prim::Loop(%n, %c, %a)              %go = aten::gt(%n, 0)
      block0(%i, %x):                        %both = aten::__and__(%go, %c)
        ...                            ->    %r, %end = prim::Loop(MAX, %both, %a, 0)
        -> (%d, %y)                            block0(%_, %x, %i):
                                                 ...
                                                 %j = aten::add(%i, 1)
                                                 %more = aten::lt(%j, %n)
                                                 %on = aten::__and__(%more, %d)
                                                 -> (%on, %y, %j)

The condition `%c` is left out where it is the constant true.  Such loops come from `break` and
`return` in a `for`; written as a `while` they need no special form in Python text.
"""

from __future__ import annotations

from ...typecheck.types.types import INT
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Block, Graph, Node, Value
from ..lowering.emitter import find_signature
from .context import PassContext

__all__ = ["MAX_TRIPS", "canonicalize_loops"]

MAX_TRIPS = 2**63 - 1


def canonicalize_loops(graph: Graph, context: PassContext) -> bool:
    """Rewrite every loop that has both a trip count and a condition."""
    return _block(graph.block, context)


def _block(block: Block, context: PassContext) -> bool:
    changed = False
    for node in block.nodes:
        for inner in node.blocks:
            changed |= _block(inner, context)
        if node.kind == "prim::Loop" and _has_both(node):
            _rewrite(node, context)
            changed = True
    return changed


def _has_both(loop: Node) -> bool:
    body = loop.blocks[0]
    start, following = constant_value(loop.inputs[1]), constant_value(body.outputs[0])
    if start is True and following is True:
        return False
    return constant_value(loop.inputs[0]) != MAX_TRIPS or bool(body.inputs[0].uses)


def _rewrite(loop: Node, context: PassContext) -> None:
    body, graph = loop.blocks[0], loop.graph
    trips, start, following = loop.inputs[0], loop.inputs[1], body.outputs[0]
    make = _Maker(graph, context)
    with graph.inserting_before(loop):
        zero, one = make.number(0), make.number(1)
        condition = make.operator("aten::gt", "int", trips, zero)
        loop.set_input(0, make.number(MAX_TRIPS))
        if constant_value(start) is not True:
            condition = make.operator("aten::__and__", "bool", condition, start)
    loop.set_input(1, condition)
    loop.add_output(INT)  # everything in torch's order, which the numbers of values tell
    loop.add_input(zero)
    index = body.add_input(INT)
    body.inputs[0].name = None
    body.inputs[0].replace_uses(index)
    with graph.inserting_before(body.ret):
        following_index = make.operator("aten::add", "int", index, one)
        more = make.operator("aten::lt", "int", following_index, trips)
        condition = make.operator("aten::__and__", "bool", more, following)
    body.add_output(following_index)
    body.ret.set_input(0, condition)


class _Maker:
    def __init__(self, graph: Graph, context: PassContext) -> None:
        self.graph = graph
        self.context = context

    def number(self, value: int) -> Value:
        return self.graph.insert(create_constant(self.graph, value, INT)).output

    def operator(self, name: str, overload: str, one: Value, other: Value) -> Value:
        signature = find_signature(self.context.table, name, overload)
        result = signature.returns[0].type
        node = self.graph.create(name, (one, other), (result,), signature=signature)
        return self.graph.insert(node).output
