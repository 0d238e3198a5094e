"""What is put into lists of tensors, or of tuples with tensors, as late as nobody sees that.

    %h : Tensor = aten::gru_cell(...)               %h : Tensor = aten::gru_cell(...)
    %1 : Tensor[] = aten::append(%states, %h)   ->  %y : Tensor = aten::linear(%h, ...)
    %y : Tensor = aten::linear(%h, ...)             %1 : Tensor[] = aten::append(%states, %h)

Operators over tensors stand together then, and may be one call; a tuple that is made for such a
list goes along, and empty lists are made where they are read first.  Only of lists that the graph
makes and gives to operators alone, or gives back, also as what its block gives: what fails amid it
is seen by nobody then.  It is done to graphs that run, not to those that are shown.
"""

from __future__ import annotations

from typing import Final

from ...typecheck.types.types import TENSOR, Type
from ..graphs.graph import Graph, Node, Use, Value
from ..graphs.kinds import KINDS, has_effects

__all__ = ["append_late"]

_APPEND: Final = "aten::append"


def append_late(graph: Graph) -> bool:
    """Move what appends tensors behind operators; whether there was any."""
    changed = False
    for node in reversed(list(graph.all_nodes)):
        if node.kind == _APPEND and not node.output.uses and _is_own(node):
            changed |= _moved(node)
        elif node.kind == "prim::ListConstruct" and not node.inputs:
            changed |= _made_late(node)
    return changed


def _made_late(node: Node) -> bool:
    """Move what makes an empty list to the first that reads it; whether that goes over tensors."""
    block, users = node.owner, set[Node]()
    for use in node.output.uses:
        user: Node | None = use.user
        while user is not None and user.owner is not block:
            user = None if user.owner is None else user.owner.node
        if user is None:
            return False
        users.add(user)
    following, passed = node.next, False
    while users and following not in users:
        passed = passed or any(value.type == TENSOR for value in following.outputs)
        following = following.next
    if passed:
        node.move_before(following)
    return passed


def _is_own(node: Node) -> bool:
    """Whether a list with tensors is made here, and has no other names where a node appends."""
    values = node.inputs[0]
    element = values.type.list_of
    if element is None or not _holds_tensors(element):
        return False
    is_made = values.node.kind == "prim::ListConstruct"
    return is_made and all(_keeps_no_name(use, node) for use in values.uses)


def _holds_tensors(type: Type) -> bool:
    """Whether values of a type are tensors, or tuples with some."""
    if type.optional_of is not None:
        return _holds_tensors(type.optional_of)
    return type == TENSOR or any(map(_holds_tensors, type.tuple_of or ()))


def _keeps_no_name(use: Use, node: Node) -> bool:
    """Whether what has a list gives it no other name but that of a result of the graph, or of the
    block where it is made and a node appends to it."""
    values, user, end = node.inputs[0], use.user, node.graph.block.ret
    if user.kind == "prim::TupleConstruct":
        return all(each.user is end for each in user.output.uses)
    if user.signature is None:
        is_block = node.owner is values.node.owner
        return user is end or (is_block and node.owner is not None and user is node.owner.ret)
    is_held = user.signature.is_mutable and use.number > 0
    return not is_held and all(not each.uses or each.type != values.type for each in user.outputs)


def _moved(node: Node) -> bool:
    """Move a node, with the tuple that is made for it, behind operators that see neither; whether
    that goes over any."""
    moving, passed = [node], 0
    made = node.inputs[1].node
    if made.kind == "prim::TupleConstruct" and made.owner is node.owner and _is_for(made, node):
        moving.insert(0, made)
    assert node.owner is not None
    following = node.next
    while following is not node.owner.ret and _is_passed(following, node.inputs[0]):
        passed += following.signature is not None or bool(following.blocks)
        following = following.next
    for each in moving if passed else ():
        each.move_before(following)
    return bool(passed)


def _is_for(made: Node, node: Node) -> bool:
    return all(use.user is node for use in made.output.uses)


def _is_passed(node: Node, values: Value) -> bool:
    """Whether a node does not read a list, and changes nothing, or what is in a tensor."""
    if has_effects(node) or values in node.inputs:
        return False
    if node.blocks:
        is_given = any(values in block.outputs for block in node.blocks)
        inside = (each for block in node.blocks for each in block.nodes)
        return not is_given and all(_is_passed(each, values) for each in inside)
    if node.signature is None:
        kind = KINDS.get(node.kind)
        return kind is not None and kind.effect != "write"
    return not node.signature.is_mutable or node.inputs[0].type == TENSOR
