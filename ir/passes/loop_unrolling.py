"""Loops without iterations to count: the body of a short one is repeated.

    %y = prim::Loop(%three, %true, %x)         %a = aten::add(%x, %0)
      block0(%i, %a):                    ->    %b = aten::add(%a, %1)
        %b = aten::add(%a, %i)                 %y = aten::add(%b, %2)
        -> (%true, %b)

A loop over a known, small number of rounds disappears; any other `for` loop is split into one that
does several rounds at a time and one for those left over.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...typecheck.types.types import INT
from ..graphs.clone import clone_node
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Block, Graph, Node, Value
from .context import PassContext
from .dead_code import eliminate_dead_code
from .operators import insert_operator

__all__ = ["unroll_constant_loops", "unroll_loops"]

FACTOR = 8
"""How many rounds are done at a time."""

MOST_REPEATS = 64
"""A loop of at most as many rounds disappears."""

LARGEST_BODY = 32
"""A body of more nodes stays as it is."""


def unroll_constant_loops(graph: Graph, context: PassContext) -> bool:
    """Unroll the loops whose number of rounds is known and small."""
    return _unroll(graph, context, only_known=True)


def unroll_loops(graph: Graph, context: PassContext) -> bool:
    """Unroll these loops, and split the other `for` loops."""
    return _unroll(graph, context, only_known=False)


def _unroll(graph: Graph, context: PassContext, *, only_known: bool) -> bool:
    changed = _Unrolling(context, only_known).block(graph.block)
    if changed:
        eliminate_dead_code(graph, context)
    return changed


class _Unrolling:
    def __init__(self, context: PassContext, only_known: bool) -> None:
        self.context = context
        self.only_known = only_known

    def block(self, block: Block) -> bool:
        changed = False
        for node in block.nodes:
            small = node.kind == "prim::Loop" and _size(node.blocks[0]) <= LARGEST_BODY
            if not small or not _is_for(node):
                for inner in node.blocks:
                    changed |= self.block(inner)
                continue
            trips = constant_value(node.inputs[0])
            if isinstance(trips, int) and trips <= MOST_REPEATS:
                _repeat(node, max(trips, 0))
                changed = True
            elif not self.only_known:
                self.split(node)
                changed = True
        return changed

    def split(self, loop: Node) -> None:
        """Let a loop do several rounds at a time, and a second one those that are left over."""
        factor = create_constant(loop.graph, FACTOR, INT, loop.span).insert_before(loop).output
        trips = loop.inputs[0]
        whole = self.compute(loop, "aten::__round_to_zero_floordiv", trips, factor)
        done = self.compute(loop, "aten::mul", whole, factor)
        left = self.compute(loop, "aten::sub", trips, done)
        main = _new_loop(loop, whole, loop.inputs[2:])
        end = main.blocks[0].ret
        first = self.compute(end, "aten::mul", main.blocks[0].inputs[0], factor)
        carried = list(main.blocks[0].inputs[1:])
        for number in range(FACTOR):
            step = create_constant(loop.graph, number, INT, loop.span).insert_before(end).output
            index = self.compute(end, "aten::add", first, step)
            carried = _one_round(loop.blocks[0], end, [index, *carried])
        _give(main, carried)
        rest = _new_loop(loop, left, main.outputs)
        end = rest.blocks[0].ret
        index = self.compute(end, "aten::add", rest.blocks[0].inputs[0], done)
        _give(rest, _one_round(loop.blocks[0], end, [index, *rest.blocks[0].inputs[1:]]))
        for old, new in zip(loop.outputs, rest.outputs, strict=True):
            old.replace_uses(new)
        loop.destroy()

    def compute(self, before: Node, kind: str, one: Value, other: Value) -> Value:
        return insert_operator(self.context, before, kind, "int", (one, other), INT)


def _new_loop(loop: Node, trips: Value, carried: Sequence[Value]) -> Node:
    """A loop like another, with an empty body, before it."""
    made = loop.graph.create("prim::Loop", (trips, loop.inputs[1], *carried), (), loop.span)
    made.insert_before(loop)
    body = made.add_block()
    body.add_input(INT)
    for output in loop.outputs:
        made.add_output(output.type)
        body.add_input(output.type)
    return made


def _give(loop: Node, carried: Sequence[Value]) -> None:
    body = loop.blocks[0]
    body.add_output(loop.inputs[1])
    for value in carried:
        body.add_output(value)


def _is_for(loop: Node) -> bool:
    """Whether the loop goes on until its rounds are done."""
    conditions = (loop.inputs[1], loop.blocks[0].outputs[0])
    return all(constant_value(value) is True for value in conditions)


def _size(block: Block) -> int:
    """The number of nodes; more than any limit if there is a loop."""
    size = 0
    for node in block.nodes:
        if node.kind == "prim::Loop":
            return LARGEST_BODY + 1
        size += 1 + sum(map(_size, node.blocks))
    return size


def _repeat(loop: Node, rounds: int) -> None:
    """Put the body's nodes `rounds` times in the place of the loop."""
    carried = list(loop.inputs[2:])
    for number in range(rounds):
        index = create_constant(loop.graph, number, INT, loop.span).insert_before(loop)
        carried = _one_round(loop.blocks[0], loop, [index.output, *carried])
    for output, value in zip(loop.outputs, carried, strict=True):
        output.replace_uses(value)
    loop.destroy()


def _one_round(body: Block, before: Node, values: Sequence[Value]) -> list[Value]:
    """Insert a copy of a loop's body before a node; gives the carried values after it."""
    known = dict(zip(body.inputs, values, strict=True))

    def find(value: Value) -> Value:
        return known.get(value, value)

    for node in body.nodes:
        copy = clone_node(node, before.graph, find).insert_before(before)
        known.update(zip(node.outputs, copy.outputs, strict=True))
    return [find(value) for value in body.outputs[1:]]
