"""`[]` of which nothing said what it holds: lists like others, but made anew and without a name.

%x = prim::EmptyListLiteral()   ->   %7 = prim::ListConstruct()
"""

from __future__ import annotations

from ..graphs.graph import Graph
from .context import PassContext

__all__ = ["make_empty_lists"]


def make_empty_lists(graph: Graph, context: PassContext) -> bool:
    """Put lists in the places of literals; whether there were any."""
    found = [node for node in graph.all_nodes if node.kind == "prim::EmptyListLiteral"]
    for node in found:
        made = graph.create("prim::ListConstruct", (), (node.output.type,), node.span)
        made.insert_before(node)
        node.output.replace_uses(made.output)
        node.destroy()
    return bool(found)
