"""Tests for None whose outcome the types tell, and casts that do nothing.

    %2 : bool = aten::__is__(%x, %none)        ->   constant false, if %x is never None
    %3 : int = prim::unchecked_cast(%y)        ->   %y, if %y : int
    %3 : int = aten::Int(NumToTensor(%y))      ->   %y, if %y : int
    %4 : bool = prim::If(%c): -> true, false   ->   %c

Runs when a function is inlined, where the arguments' types are known better.  What is read of
containers in sight and arithmetic with constants are simplified too (`known_containers`,
`arithmetic`); dead code goes if anything was.
"""

from __future__ import annotations

from ...typecheck.relations.relations import can_be_none, is_subtype
from ...typecheck.types.types import BOOL, NONE
from ..aliases.aliases import Aliases
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Block, Graph, Node, Value
from .arithmetic import compared_with_itself, is_neutral_on_tensor, simplified
from .context import PassContext
from .dead_code import eliminate_dead_code
from .known_containers import read_known_containers

__all__ = ["peephole"]


def peephole(graph: Graph, context: PassContext) -> bool:
    """Replace what types or neighbours make superfluous."""
    changed = read_known_containers(graph, context)
    changed |= _leave_out_neutral(graph)
    changed |= _block(graph.block)
    if changed:
        eliminate_dead_code(graph, context, keeps_writes=True)
    return changed


def _leave_out_neutral(graph: Graph) -> bool:
    """`tensor + 0` is the tensor itself, where nobody can tell that they are one object."""
    found = [node for node in graph.all_nodes if is_neutral_on_tensor(node)]
    if not found:
        return False
    aliases = Aliases(graph)
    stale: set[int] = set()
    changed = False
    for node in found:
        both = node.inputs[0], node.output
        where = aliases.places(both[0]) | aliases.places(both[1])
        if any(map(aliases.has_writers, both)) or all(map(aliases.escapes, both)):
            continue
        if stale.isdisjoint(where):
            node.output.replace_uses(node.inputs[0])
            stale |= where
            changed = True
    return changed


def _block(block: Block) -> bool:
    """Simplify the nodes of a block, each after those in it."""
    changed = False
    for node in block.nodes:
        for inner in node.blocks:
            changed |= _block(inner)
        for output, value in _replacements(node):
            if value is not output:
                output.replace_uses(value)
            changed = True
        changed |= _say_less(node)
    return changed


def _say_less(node: Node) -> bool:
    """Give outputs of branches the type of what both sides give, if that is never None."""
    if node.kind != "prim::If":
        return False
    changed = False
    for output, *given in zip(node.outputs, *(b.outputs for b in node.blocks), strict=True):
        inner = output.type.optional_of
        if inner is not None and all(is_subtype(value.type, inner) for value in given):
            output.type = inner
            changed = True
    return changed


def _replacements(node: Node) -> list[tuple[Value, Value]]:
    match node.kind:
        case "aten::__is__" | "aten::__isnot__":
            outcome = _is_none(node)
            if outcome is not None:
                value = outcome == (node.kind == "aten::__is__")
                constant = create_constant(node.graph, value, BOOL).insert_before(node)
                return [(node.output, constant.output)]
        case "aten::Int" | "aten::Float" | "aten::ScalarImplicit":
            number = _number_already(node)
            if number is not None:
                return [(node.output, number)]
        case "prim::GetAttr" if node.output.type == NONE and node.output.uses:
            constant = create_constant(node.graph, None, NONE).insert_before(node)
            return [(node.output, constant.output)]
        case "prim::unchecked_cast":
            if is_subtype(node.input.type, node.output.type):
                return [(node.output, node.input)]
        case "prim::If":
            one, other = node.blocks
            outputs = zip(node.outputs, one.outputs, other.outputs, strict=True)
            return [
                (output, node.input)
                for output, a, b in outputs
                if constant_value(a) is True and constant_value(b) is False
            ]
        case "aten::eq" | "aten::ne":
            outcome = compared_with_itself(node)
            if outcome is not None:
                constant = create_constant(node.graph, outcome, BOOL).insert_before(node)
                return [(node.output, constant.output)]
        case _:
            simpler = simplified(node)
            if simpler is not None:
                return [(node.output, simpler)]
    return []


def _number_already(node: Node) -> Value | None:
    """What is read as a number, if it is that number or a tensor made of it, as traces have."""
    if len(node.inputs) != 1:
        return None
    read = node.input
    if read.node.kind == "prim::NumToTensor":
        read = read.node.input
    return read if is_subtype(read.type, node.output.type) else None


def _is_none(node: Node) -> bool | None:
    """Whether both inputs are None, if their types tell."""
    types = [value.type for value in node.inputs]
    if types[0] == NONE and types[1] == NONE:
        return True
    for one, other in (types, types[::-1]):
        if one == NONE and not can_be_none(other):
            return False
    return None
