"""Attributes of objects that never leave a graph, as values of their own.

    %s : Stats = prim::CreateObject()
     = prim::SetAttr[name="n"](%s, %0)
    prim::Loop(%count, %true)             ->    %n = prim::Loop(%count, %true, %0)
      block0(%i):                                 block0(%i, %n.1):
        %1 = prim::GetAttr[name="n"](%s)            %2 = aten::add(%n.1, %i)
        %2 = aten::add(%1, %i)                      -> (%true, %2)
         = prim::SetAttr[name="n"](%s, %2)
        -> (%true)

Nothing but reads and writes of attributes may use the object, and each attribute must have been
written beside the object's making before anybody reads it.  Graphs that are only to run are made
so, after methods were inlined: what loops carry can then be seen.
"""

from __future__ import annotations

from ...typecheck.types.types import NONE
from ..graphs.graph import Graph, Node
from ..lowering.ssa import resolve_variables

__all__ = ["objects_as_values"]


def objects_as_values(graph: Graph) -> bool:
    """Put values in the places of attributes; whether there were any such objects."""
    found = False
    while True:
        makers = [each for each in graph.all_nodes if each.kind == "prim::CreateObject"]
        taken = [each for each in makers if _stays(each)]
        if not taken:
            return found
        for number, each in enumerate(taken):
            _take_apart(each, f"{number}.")
        resolve_variables(graph)
        found = True  # objects that others held may stay now


def _stays(maker: Node) -> bool:
    """Whether an object is only read and written, no attribute before it was written beside it."""
    users = [use.user for use in maker.output.uses]
    writes = [each for each in users if each.kind == "prim::SetAttr"]
    if any(each.inputs[1] is maker.output or not _is_declared(each) for each in writes):
        return False
    first = dict[object, Node]()
    for each in writes:
        before = first.setdefault(_name(each), each) if each.owner is maker.owner else each
        if before is not each and each.is_before(before):
            first[_name(each)] = each
    for each in users:
        if each.kind == "prim::GetAttr":
            begin = first.get(_name(each))
            if begin is None or not begin.is_before(each):
                return False
        elif each.kind != "prim::SetAttr":
            return False
    return True


def _is_declared(write: Node) -> bool:
    """Whether what is written is of the attribute's type, or of part of it where it may be None:
    of such values it is known what they are where ways meet."""
    owner, value = write.inputs
    declared = owner.type.slot_type(str(_name(write)))
    assert declared is not None
    return value.type == declared or (
        declared.optional_of is not None and value.type in (NONE, declared.optional_of)
    )


def _name(node: Node) -> object:
    return node.attributes["name"]


def _take_apart(maker: Node, prefix: str) -> None:
    """Write an object's attributes as variables."""
    graph = maker.graph
    for node in [use.user for use in maker.output.uses]:
        is_read = node.kind == "prim::GetAttr"
        made = graph.create(
            "prim::Load" if is_read else "prim::Store",
            () if is_read else (node.inputs[1],),
            (node.output.type,) if is_read else (),
        )
        made.attributes["name"] = f"{prefix}{_name(node)}"
        made.insert_before(node)
        if is_read:
            node.output.replace_uses(made.output)
        node.destroy()
    maker.destroy()
