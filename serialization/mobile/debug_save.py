"""Writing where the instructions of mobile code come from (`debug.py` says how that is told)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...interpreter.failures.call_stack import below
from ...ir.graphs.graph import CallSite
from ...ir.graphs.graph import Node as GraphNode
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import Type
from ..loading.debug_info import PlaceTags
from ..pickles.nodes import ListNode, Node, TupleNode
from ..pickles.writer import write_pickle
from ..printing.types import TypeNames

__all__ = ["Made", "debug_records"]

Made = tuple[str, ClassType, Sequence[GraphNode | None]]
"""A function's name, the class whose method it is, and the nodes that its instructions are made
of."""


def debug_records(
    version: int, functions: Iterable[Made], names: TypeNames, tags: PlaceTags
) -> Iterator[tuple[str, bytes]]:
    """The records that tell of every instruction which node it was made of, and through which calls
    that came; `tags` know the places that the records beside the code files tell."""
    places: list[Node] = []
    handles: list[Node] = [version]
    for name, owner, nodes in functions:
        numbers: list[Node] = []
        for node in nodes:
            numbers.append(len(places))
            places.append(_place(len(places), node, owner, names, tags))
        told = TupleNode((ListNode(numbers, "List[int]"),))
        handles.append(TupleNode((name, TupleNode((TupleNode(("function_debug_handles", told)),)))))
    yield "mobile_debug_handles.pkl", write_pickle(TupleNode(tuple(handles)))
    yield "callstack_debug_map.pkl", write_pickle(TupleNode(tuple(places)))


def _place(
    number: int, node: GraphNode | None, owner: ClassType, names: TypeNames, tags: PlaceTags
) -> TupleNode:
    if node is None:
        return TupleNode((number, 0, "prim::Return", None))
    calls = _calls(node.call_stack, owner, names, tags)
    return TupleNode((number, tags.known(node.span), node.kind, calls))


def _calls(
    sites: Sequence[CallSite], owner: Type | None, names: TypeNames, tags: PlaceTags
) -> TupleNode | None:
    """The inlined calls, each around the next."""
    if not sites:
        return None
    site = sites[0]
    beneath = below(owner, site.module)
    whose: Node = None
    if site.is_method and isinstance(beneath, ClassType):
        whose = TupleNode((names.name_of(beneath), site.module.rpartition(".")[2] or "SELF"))
    inner = _calls(sites[1:], beneath if site.is_method else None, names, tags)
    return TupleNode((whose, tags.known(site.span), inner, site.callee))
