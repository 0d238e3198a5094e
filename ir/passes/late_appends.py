"""What is put into lists of tensors, as late as nobody sees that.

    %h : Tensor = aten::gru_cell(...)               %h : Tensor = aten::gru_cell(...)
    %1 : Tensor[] = aten::append(%states, %h)   ->  %y : Tensor = aten::linear(%h, ...)
    %y : Tensor = aten::linear(%h, ...)             %1 : Tensor[] = aten::append(%states, %h)

Operators over tensors stand together then, and may be one call.  Only of lists that the graph makes
and gives to operators alone, or gives back: what fails amid it is seen by nobody then.  It is done
to graphs that run, not to those that are shown.
"""

from __future__ import annotations

from typing import Final

from ...typecheck.types.types import TENSOR
from ..graphs.graph import Graph, Node, Use, Value
from ..graphs.kinds import KINDS, has_effects

__all__ = ["append_late"]

_APPEND: Final = "aten::append"


def append_late(graph: Graph) -> bool:
    """Move what appends tensors behind operators; whether there was any."""
    changed = False
    for node in reversed(list(graph.all_nodes)):
        if node.kind == _APPEND and not node.output.uses and _is_own(node.inputs[0], graph):
            changed |= _moved(node)
    return changed


def _is_own(values: Value, graph: Graph) -> bool:
    """Whether a list of tensors is made here, and has no other names."""
    if values.type.list_of != TENSOR or values.node.kind != "prim::ListConstruct":
        return False
    return all(_keeps_no_name(use, graph) for use in values.uses)


def _keeps_no_name(use: Use, graph: Graph) -> bool:
    """Whether what has a list gives it no other name but that of a result of the graph."""
    user, end = use.user, graph.block.ret
    if user.kind == "prim::TupleConstruct":
        return all(each.user is end for each in user.output.uses)
    if user.signature is None:
        return user is end
    is_held = user.signature.is_mutable and use.number > 0
    return not is_held and all(
        not each.uses or each.type.list_of != TENSOR for each in user.outputs
    )


def _moved(node: Node) -> bool:
    """Move a node behind operators that do not see it; whether that goes over any."""
    values, passed = node.inputs[0], 0
    assert node.owner is not None
    following = node.next
    while following is not node.owner.ret and _is_passed(following, values):
        passed += following.signature is not None
        following = following.next
    if passed:
        node.move_before(following)
    return bool(passed)


def _is_passed(node: Node, values: Value) -> bool:
    """Whether a node does not read a list, and changes nothing, or what is in a tensor."""
    if node.blocks or has_effects(node) or values in node.inputs:
        return False
    if node.signature is None:
        kind = KINDS.get(node.kind)
        return kind is not None and kind.effect != "write"
    return not node.signature.is_mutable or node.inputs[0].type == TENSOR
