"""Activations that write what nobody else reads, and such that write nothing.

    %y = aten::add(%x, %1, %1)           %y = aten::add(%x, %1, %1)
    %z = aten::relu(%y)            ->    %z = aten::relu_(%y)

Only of a tensor that the block has made, that shares no memory with anything used later, and for
activations that keep the element type.
"""

from __future__ import annotations

from typing import Final

from ...typecheck.definitions.schema import Signature
from ..aliases.alias_db import AliasDb
from ..graphs.graph import Graph, Node, Value
from .context import PassContext
from .mutation import remove_some_mutation, same_arguments

__all__ = ["write_activations", "write_no_activations"]

_KEEP_DTYPE: Final = frozenset(
    f"aten::{name}"
    for name in """
    celu elu hardsigmoid hardswish hardtanh leaky_relu relu relu6 rrelu selu silu
    """.split()
)
_WRITING: Final = frozenset(f"{kind}_" for kind in (*_KEEP_DTYPE, "aten::sigmoid", "aten::tanh"))


def write_no_activations(graph: Graph, context: PassContext) -> bool:
    """Make activations in place into new values, where nobody else knows what they change."""
    return remove_some_mutation(graph, context, _WRITING)


def write_activations(graph: Graph, context: PassContext) -> bool:
    """Make activations write their operands, where nobody reads those later."""
    changed = False
    for node in list(graph.all_nodes):
        if node.kind not in _KEEP_DTYPE:
            continue
        signature = _in_place(node, context)
        # what is written changes what shares memory, so each is asked of the graph as it is now
        if signature is not None and _is_last(node, AliasDb(graph)):
            inputs, types = node.inputs, (node.output.type,)
            made = graph.create(f"{node.kind}_", inputs, types, node.span, signature)
            made.call_stack = node.call_stack
            made.insert_before(node)
            made.output.copy_name(node.output)
            node.output.replace_uses(made.output)
            node.destroy()
            changed = True
    return changed


def _in_place(node: Node, context: PassContext) -> Signature | None:
    found = context.table.overloads(f"{node.kind}_")
    own = node.signature
    return next((s for s in found if own is not None and same_arguments(s, own)), None)


def _is_last(node: Node, aliases: AliasDb) -> bool:
    """Whether the operand is an operator's own result, which nothing reaches that runs later."""
    operand = node.inputs[0]
    made = operand.node.signature
    if made is None or operand.node.owner is not node.owner:
        return False
    result = made.returns[operand.node.outputs.index(operand)]
    if result.alias is not None or any(place.unknown for place in aliases.places(operand)):
        return False
    later = (user for value in _reaching(operand, aliases) for user, _ in value.uses)
    return all(user is node or user.is_before(node) for user in later)


def _reaching(operand: Value, aliases: AliasDb) -> list[Value]:
    values = [output for node in aliases.graph.all_nodes for output in node.outputs]
    return [value for value in values if aliases.may_contain_alias([value], [operand])]
