"""Several operators that do the same become one.

    %2 = aten::multiply(%a, %b)        ->   %2 = aten::mul(%a, %b)
    %3 = aten::rsub(%a, %b, %alpha)    ->   %3 = aten::sub(%b, %a, %alpha)
    %4 = aten::__is__(%flag, %other)   ->   %4 = aten::eq(%flag, %other)     (both bool)

So that whoever reads graphs has fewer operators to know.  Results are numbered as those of nodes
that are made anew.
"""

from __future__ import annotations

from ...ops.table.table import TABLE
from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import BOOL, NUMBER
from ..graphs.graph import Graph, Node
from .context import PassContext
from .operators import overload

__all__ = ["normalize"]


def normalize(graph: Graph, context: PassContext) -> bool:
    """Replace second names, `rsub`, and `is` between bools."""
    changed = False
    for node in graph.all_nodes:
        kind = _wanted_kind(node)
        signature = None if kind is None else _counterpart(node, kind, context)
        if kind is None or signature is None:
            continue
        if node.kind == "aten::rsub":
            first, second = node.inputs[:2]
            node.set_input(0, second)
            node.set_input(1, first)
        node.kind, node.signature = kind, signature
        for output in node.outputs:
            output.renumber()
        changed = True
    return changed


def _wanted_kind(node: Node) -> str | None:
    if node.kind in ("aten::__is__", "aten::__isnot__"):
        both_bool = all(value.type == BOOL for value in node.inputs)
        return ("aten::eq" if node.kind == "aten::__is__" else "aten::ne") if both_bool else None
    if node.kind == "aten::rsub":
        is_number = node.signature is None or node.signature.arguments[1].type == NUMBER
        return None if is_number else "aten::sub"
    first = TABLE.first_name(node.kind)
    return first if first != node.kind else None


def _counterpart(node: Node, kind: str, context: PassContext) -> Signature | None:
    """The overload of `kind` that takes the arguments the node has; None if there is none."""
    if node.signature is None:
        return None
    wanted = [argument.type for argument in node.signature.arguments]
    if node.kind.startswith("aten::__is"):
        wanted = [BOOL, BOOL]
    if node.kind == "aten::rsub":
        return overload(context, kind, "Tensor")
    for signature in context.table.overloads(kind):
        if [argument.type for argument in signature.arguments] == wanted:
            return signature
    return None
