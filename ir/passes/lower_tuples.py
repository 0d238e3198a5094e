"""Tuples disappear: what carries a tuple carries its elements.

    %t = prim::If(%c)                         %a, %b = prim::If(%c)
      block0():                                 block0():
        %1 = prim::TupleConstruct(%x, %y)         -> (%x, %y)
        -> (%1)                         ->      block1():
      block1():                                   -> (%y, %x)
        %2 = prim::TupleConstruct(%y, %x)     return (%a, %b)
        -> (%2)
    return (%t)

Inputs and outputs of the graph are taken apart too.  Operators that want a tuple keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...typecheck.types.types import Type
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Block, Graph, Node, Value
from .context import PassContext
from .dead_code import eliminate_dead_code
from .tuples import remove_tuples

__all__ = ["lower_all_tuples", "lower_simple_tuples"]


def lower_simple_tuples(graph: Graph, context: PassContext) -> bool:
    """Leave out the tuples that are made and taken apart again."""
    return remove_tuples(graph, context)


def lower_all_tuples(graph: Graph, context: PassContext) -> bool:
    """Take all tuples apart; says whether there were any."""
    changed = _block(graph.block)
    while remove_tuples(graph, context):
        changed = True
    eliminate_dead_code(graph, context)
    return changed


def _block(block: Block) -> bool:
    """Flatten a block's inputs and outputs."""
    changed = _flatten_inputs(block)
    for node in block.nodes:
        if node.kind in ("prim::If", "prim::Loop"):
            if node.kind == "prim::Loop":
                changed |= _flatten_uses(node, node)
            changed |= _flatten_outputs(node)
        for inner in node.blocks:
            changed |= _block(inner)
    return _flatten_uses(block.ret, block.ret) or changed


def _leaves(type: Type) -> Iterator[Type]:
    if type.tuple_of is not None:
        for element in type.tuple_of:
            yield from _leaves(element)
    else:
        yield type


def _flatten_inputs(block: Block) -> bool:
    changed = False
    for value in list(block.inputs):
        if value.type.tuple_of is None:
            continue
        place = block.inputs.index(value)
        leaves = [
            block.param.insert_output(place + i, type) for i, type in enumerate(_leaves(value.type))
        ]
        whole = _rebuilt(value.type, iter(leaves), block.first, value)
        value.replace_uses(whole)
        block.param.remove_output(block.inputs.index(value))
        changed = True
    return changed


def _flatten_outputs(node: Node) -> bool:
    """Flatten the outputs of a branch or loop; its blocks' outputs are flattened apart."""
    changed = False
    for value in list(node.outputs):
        if value.type.tuple_of is None:
            continue
        place = node.outputs.index(value)
        leaves = [node.insert_output(place + i, type) for i, type in enumerate(_leaves(value.type))]
        value.replace_uses(_rebuilt(value.type, iter(leaves), node.next, value))
        node.remove_output(node.outputs.index(value))
        changed = True
    return changed


def _rebuilt(type: Type, leaves: Iterator[Value], before: Node, like: Value) -> Value:
    """The tuple made again of its leaves."""
    if type.tuple_of is None:
        return next(leaves)
    parts = [_rebuilt(element, leaves, before, like) for element in type.tuple_of]
    made = before.graph.create("prim::TupleConstruct", parts, (type,), like.node.span)
    return made.insert_before(before).output


def _flatten_uses(node: Node, before: Node) -> bool:
    """Let a node use the leaves of its tuples."""
    values = list(node.inputs)
    if all(value.type.tuple_of is None for value in values):
        return False
    flat = [leaf for value in values for leaf in _taken_apart(value, before)]
    node.clear_inputs()
    for value in flat:
        node.add_input(value)
    return True


def _taken_apart(value: Value, before: Node) -> Sequence[Value]:
    if value.type.tuple_of is None:
        return [value]
    if value.node.kind == "prim::TupleConstruct":
        elements: Sequence[Value] = value.node.inputs
    elif isinstance(known := constant_value(value), tuple):
        parts = zip(known, value.type.tuple_of, strict=True)
        elements = [
            create_constant(before.graph, part, type, value.node.span).insert_before(before).output
            for part, type in parts
        ]
    else:
        types = value.type.tuple_of
        unpack = before.graph.create("prim::TupleUnpack", (value,), types, before.span)
        elements = unpack.insert_before(before).outputs
    return [leaf for element in elements for leaf in _taken_apart(element, before)]
