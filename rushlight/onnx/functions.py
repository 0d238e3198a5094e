"""Calls of modules as functions of the file (`export_modules_as_functions`).

What a call writes becomes a function whose inputs are the values that it reads, weights too, so
that modules of one kind share one.  A call that changes what others see is written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..ir.graphs.graph import Node
from ..typecheck.definitions.functions import Function
from . import proto
from .items import Cell, Item, Maybe, Operand
from .messages import NodeMessage
from .walk import Walk, graph_of
from .writer import Writer

__all__ = ["called"]


def called(
    walk: Walk, node: Node, method: Function, items: Sequence[Item], names: tuple[str, str]
) -> list[Item]:
    """The results of a method that becomes a function.

    Args:
        names: the function's domain and name; one of other contents has a number behind it.
    """
    before, told = walk.contents.saved(), len(walk.problems)
    outer, walk.w = walk.w, Writer(walk.model)
    try:
        results = walk.call(graph_of(method), items, node, method.qualified_name)
    finally:
        inner, walk.w = walk.w, outer
    if walk.contents.changed(before) or len(walk.problems) != told:
        for each in inner.nodes:
            outer.add(each)
        return results
    if not inner.nodes:
        return results
    given = [operand.name for item in results for operand in _operands(walk, item)]
    outputs = [name for name in dict.fromkeys(given) if name in inner.made]
    inputs = proto.names_from_outside(inner.nodes)
    renamed = _canonical(inner.nodes, inputs)
    body = [proto.with_names(each, renamed) for each in inner.nodes]
    domain, name = walk.model.function(
        names, body, [renamed[n] for n in inputs], [renamed[n] for n in outputs]
    )
    outer.add(proto.make_node(name, inputs, outputs, {"domain": domain}))
    return results


def _operands(walk: Walk, item: Item) -> Iterator[Operand]:
    """The operands that something outside may read of a value: also what it is a view of, and what
    it is the opposite of."""
    if isinstance(item, Cell):
        yield from _operands(walk, walk.contents.read(item))
        if item.view is not None:
            yield from _operands(walk, item.view.base)
    elif isinstance(item, Operand):
        yield item
        if item.name in walk.opposites:
            yield walk.opposites[item.name]
    elif isinstance(item, Maybe):
        yield from _operands(walk, item.present)
        yield from _operands(walk, item.value)
    elif isinstance(item, list | tuple):
        for each in item:
            yield from _operands(walk, each)
    elif isinstance(item, dict):
        for each in item.values():
            yield from _operands(walk, each)


def _canonical(nodes: Sequence[NodeMessage], inputs: Sequence[str]) -> Mapping[str, str]:
    """Names that two functions of one content have alike."""
    renamed = {name: f"input_{n}" for n, name in enumerate(inputs)}
    for name in proto.names_made(nodes):
        renamed.setdefault(name, f"value_{len(renamed) - len(inputs)}")
    return renamed
