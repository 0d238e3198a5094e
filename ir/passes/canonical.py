"""All values numbered in order of appearance.

    graph(%foo : int):                      graph(%foo : int):
      %bar = aten::add(%foo, %foo)    ->      %1 = aten::add(%foo, %foo)
      return (%bar)                           return (%1)

So that graphs which do the same print the same.  Inputs keep their names if those are to be kept;
values of inner blocks always do, as in torch.
"""

from __future__ import annotations

from ..graphs.clone import clone_graph
from ..graphs.graph import Block, Graph, Value

__all__ = ["canonical_copy"]


def canonical_copy(graph: Graph, *, keeps_names: bool = True) -> Graph:
    """A copy with canonical numbers; names of the graph's inputs stay if `keeps_names`."""
    copy = clone_graph(graph)
    values = _values(copy.block)
    for value in values:
        outer = value.node.owner is copy.block
        if outer and not (keeps_names and value in copy.inputs):
            value.name = None
    for number, value in enumerate(values):
        value.id = number
    copy._last_id = len(values) - 1
    return copy


def _values(block: Block) -> list[Value]:
    """All values: a node's outputs come before what its blocks define."""
    found = list(block.inputs)
    for node in block.nodes:
        found.extend(node.outputs)
        for inner in node.blocks:
            found.extend(_values(inner))
    return found
