"""A tuple that is made and taken apart again is left out.

    %t = prim::TupleConstruct(%a, %b)
    %c, %d = prim::TupleUnpack(%t)       ->   (users of %c use %a, users of %d use %b)
    %e = prim::TupleIndex(%t, %one)      ->   (users of %e use %b)

Assignments of several names and operators with several results make such tuples.  The nodes
themselves go as dead code.
"""

from __future__ import annotations

from ..graphs.constants import constant_value
from ..graphs.graph import Graph, Node
from ..text.text import type_text
from .context import PassContext
from .dead_code import eliminate_dead_code

__all__ = ["forward_elements", "refine_tuple_types", "remove_tuples"]


def remove_tuples(graph: Graph, context: PassContext) -> bool:
    """Let users of the elements of known tuples use the elements, and leave the tuples out."""
    changed = forward_elements(graph)
    return eliminate_dead_code(graph, context) or changed


def forward_elements(graph: Graph) -> bool:
    """Let users of the elements of known tuples use the elements; what took these out goes, and
    tuples that nobody else has."""
    changed = False
    for node in list(graph.all_nodes):
        if node.kind in ("prim::TupleUnpack", "prim::TupleIndex"):
            construct = node.inputs[0].node
            if construct.kind == "prim::TupleConstruct" and _forward(node, construct):
                changed = True
                node.destroy()
                if not construct.output.uses:
                    construct.destroy()
    return changed


def _forward(node: Node, construct: Node) -> bool:
    if node.kind == "prim::TupleUnpack":
        for output, element in zip(node.outputs, construct.inputs, strict=True):
            output.replace_uses(element)
        return True
    index, count = constant_value(node.inputs[1]), len(construct.inputs)
    if not isinstance(index, int) or not -count <= index < count:
        return False
    node.output.replace_uses(construct.inputs[index % count])
    return True


def refine_tuple_types(graph: Graph, context: PassContext) -> bool:
    """Let the types of tuples say what those of their elements say."""
    changed = False
    for node in graph.all_nodes:
        if node.kind != "prim::TupleConstruct":
            continue
        known = node.output.type.with_contained(tuple(value.type for value in node.inputs))
        changed |= type_text(known) != type_text(node.output.type)  # facts make no other type
        node.output.type = known
    return changed
