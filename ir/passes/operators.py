"""Making operator nodes inside passes."""

from __future__ import annotations

from collections.abc import Sequence

from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import Type
from ..graphs.graph import Node, Value
from .context import PassContext

__all__ = ["insert_operator", "overload"]


def overload(context: PassContext, kind: str, name: str) -> Signature | None:
    """The overload of that name; None if there is none."""
    return next((s for s in context.table.overloads(kind) if s.overload == name), None)


def insert_operator(
    context: PassContext, before: Node, kind: str, name: str, inputs: Sequence[Value], type: Type
) -> Value:
    """Put an operator with one result before a node; gives the result.

    Raises:
        LookupError: the table has no such operator.
    """
    signature = overload(context, kind, name)
    if signature is None:
        raise LookupError(f"there is no operator {kind}.{name}")
    node = before.graph.create(kind, inputs, (type,), before.span, signature)
    node.call_stack = before.call_stack
    return node.insert_before(before).output
