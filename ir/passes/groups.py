"""Neighbouring nodes of one sort as a node of its own, whose graph holds them.

    %2 = aten::mul(%x, %y)                  %4 = prim::DifferentiableGraph_0(%x, %y)
    %4 = aten::tanh(%2)             ->      with prim::DifferentiableGraph_0 = graph(%x, %y):
                                              %2 = aten::mul(%x, %y)
                                              %4 = aten::tanh(%2)

Who runs a graph opens them again, since they are there to be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..aliases.alias_db import AliasDb
from ..graphs.clone import clone_node, insert_graph
from ..graphs.graph import Block, Graph, Node, Value
from ..graphs.kinds import GROUPS

__all__ = ["Group", "find_groups", "made_by", "make_group", "open_groups", "used_by"]

Group = list[Node]
"""Nodes that follow each other in a block, constants between them aside."""


def find_groups(block: Block, aliases: AliasDb, is_member: Callable[[Node], bool]) -> list[Group]:
    """Put members of a block that use each other's results next to each other, as far as that
    changes no result."""
    of = {node: [node] for node in block.nodes if is_member(node)}
    changed = True
    while changed:
        changed = False
        for node in list(block.nodes_reversed):
            group = of.get(node)
            while group is not None and _take_in(group, of, aliases):
                changed = True
    return [of[node] for node in block.nodes if node in of and of[node][0] is node]


def _take_in(group: Group, of: dict[Node, Group], aliases: AliasDb) -> bool:
    """Join a group with one that makes what it uses; whether there was one."""
    for node in group:
        for value in node.inputs:
            other = of.get(value.node)
            if other is not None and other is not group and _moved(other, group[0], aliases):
                group[:0] = other
                of.update((each, group) for each in other)
                return True
    return False


def _moved(group: Group, first: Node, aliases: AliasDb) -> bool:
    """Move a group right before a node, or not at all; whether it is there."""
    for index, node in reversed(list(enumerate(group))):
        following = group[index + 1] if index + 1 < len(group) else first
        if not aliases.move(node, following, before=True):
            for before, moved in zip(group[index:], group[index + 1 :], strict=False):
                aliases.move(moved, before, before=False)
            return False
    return True


def made_by(group: Sequence[Node]) -> list[Value]:
    """The results of a group's nodes that others use."""
    return [
        value
        for node in group
        for value in node.outputs
        if any(user not in group for user, _ in value.uses)
    ]


def used_by(group: Sequence[Node]) -> list[Value]:
    """What a group's nodes use and do not make, constants aside; each once."""
    values = [value for node in group for value in node.inputs]
    return [v for v in dict.fromkeys(values) if v.node not in group and not v.node.is_constant]


def make_group(kind: str, group: Sequence[Node]) -> Node:
    """Put a node in the place of others, which hold no blocks; its graph has copies of them."""
    graph, last = group[0].graph, group[-1]
    inputs, outputs = used_by(group), made_by(group)
    inner = Graph()
    known = dict[Value, Value]()
    for value in inputs:
        known[value] = inner.add_input(value.type)
        known[value].copy_name(value)
    for node in _with_constants(group):
        copy = inner.insert(clone_node(node, inner, known.__getitem__))
        known.update(zip(node.outputs, copy.outputs, strict=True))
    for value in outputs:
        inner.block.add_output(known[value])
    made = graph.create(kind, inputs, [value.type for value in outputs], last.span)
    made.attributes["Subgraph"] = inner
    made.insert_after(last)
    for old, new in zip(outputs, made.outputs, strict=True):
        new.copy_name(old)
        old.replace_uses(new)
    for node in reversed(group):
        node.destroy()
    return made


def _with_constants(group: Iterable[Node]) -> Iterable[Node]:
    seen = set[Node]()
    for node in group:
        for value in node.inputs:
            if value.node.is_constant and value.node not in seen:
                seen.add(value.node)
                yield value.node
        yield node


def open_groups(graph: Graph) -> bool:
    """Put the nodes of groups back where their groups are."""
    found = [node for node in graph.all_nodes if node.kind in GROUPS]
    for node in found:
        inner = node.attributes["Subgraph"]
        assert isinstance(inner, Graph)
        with graph.inserting_before(node):
            results = insert_graph(graph, inner, node.inputs)
        for old, new in zip(node.outputs, results, strict=True):
            old.replace_uses(new)
        node.destroy()
    return bool(found)
