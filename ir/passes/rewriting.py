"""Patterns in a graph replaced: both pattern and replacement are graphs.

    graph(%x):                      graph(%x):
      %a = aten::conv(%x)     ->      %r = my::conv_relu(%x)
      %r = aten::relu(%a)             return (%r)
      return (%r)

A match is found from the pattern's result backwards.  What is matched, its last node aside, must
not be used by anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...frontend.sources.source import UNKNOWN
from ..graphs.constants import same_constant
from ..graphs.graph import Graph, Node, Value
from .context import PassContext
from .dead_code import eliminate_dead_code

__all__ = ["Match", "find_matches", "rewrite"]


@dataclass(frozen=True)
class Match:
    """Where a pattern was found: the graph's node and value for each of the pattern's."""

    anchor: Node
    nodes: Mapping[Node, Node]
    values: Mapping[Value, Value]


def rewrite(
    graph: Graph,
    pattern: Graph,
    replacement: Graph,
    context: PassContext,
    accept: Callable[[Match], bool] = lambda match: True,
    spans: Mapping[Value, Value] | None = None,
) -> bool:
    """Replace all matches that `accept` wants; matches that overlap an earlier one stay.

    `spans` says from which value of the pattern a value of the replacement takes its place in the
    source, others have none; without it that is the last node's.
    """
    taken: set[Node] = set()
    found = []
    for match in find_matches(graph, pattern):
        if taken.isdisjoint(match.nodes.values()) and accept(match):
            taken.update(match.nodes.values())
            found.append(match)
    for match in found:
        _replace(match, pattern, replacement, spans)
    if found:
        eliminate_dead_code(graph, context)
    return bool(found)


def find_matches(graph: Graph, pattern: Graph) -> list[Match]:
    """All matches, in the order of their last nodes."""
    (result,) = pattern.outputs[:1]
    found = []
    for node in graph.all_nodes:
        if node.kind == result.node.kind:
            match = _match(node, pattern)
            if match is not None:
                found.append(match)
    return found


def _match(anchor: Node, pattern: Graph) -> Match | None:
    matching = _Matching(pattern, anchor)
    last = pattern.outputs[0].node
    if not matching.node(last, anchor):
        return None
    return Match(anchor, matching.nodes, matching.values)


class _Matching:
    def __init__(self, pattern: Graph, anchor: Node) -> None:
        self.inputs = set(pattern.inputs)
        self.results = set(pattern.outputs)
        self.anchor = anchor
        self.nodes: dict[Node, Node] = {}
        self.values: dict[Value, Value] = {}

    def node(self, wanted: Node, found: Node) -> bool:
        if wanted in self.nodes:
            return self.nodes[wanted] is found
        if found.owner is not self.anchor.owner and not found.is_constant:
            return False
        if not _alike(wanted, found):
            return False
        self.nodes[wanted] = found
        inputs = zip(wanted.inputs, found.inputs, strict=True)
        outputs = zip(wanted.outputs, found.outputs, strict=True)
        return all(self.value(w, f) for w, f in inputs) and all(
            self.output(w, f) for w, f in outputs
        )

    def value(self, wanted: Value, found: Value) -> bool:
        if wanted in self.values:
            return self.values[wanted] is found
        self.values[wanted] = found
        return wanted in self.inputs or self.node(wanted.node, found.node)

    def output(self, wanted: Value, found: Value) -> bool:
        if self.values.setdefault(wanted, found) is not found:
            return False
        outside = wanted in self.results or found.node.is_constant
        return outside or len(found.uses) == len(wanted.uses)


def _is_module_of(found: Node, name: object) -> bool:
    """Whether a node reads a submodule whose class has that name."""
    if found.kind != "prim::GetAttr" or not found.output.type.is_module:
        return False
    return str(found.output.type).rpartition(".")[2] == name


def _alike(wanted: Node, found: Node) -> bool:
    if wanted.kind == "match::module":
        return _is_module_of(found, wanted.attributes.get("name"))
    if wanted.kind != found.kind or wanted.blocks or found.blocks:
        return False
    if len(wanted.inputs) != len(found.inputs) or len(wanted.outputs) != len(found.outputs):
        return False
    if wanted.is_constant:
        return same_constant(wanted, found)
    return all(found.attributes.get(name) == v for name, v in wanted.attributes.items())


def _replace(
    match: Match, pattern: Graph, replacement: Graph, spans: Mapping[Value, Value] | None
) -> None:
    graph = match.anchor.graph
    known = {
        new: match.values[old] for old, new in zip(pattern.inputs, replacement.inputs, strict=True)
    }
    with graph.inserting_before(match.anchor):
        for node in replacement.nodes:
            copy = graph.insert(_copy(node, graph, known))
            known.update(zip(node.outputs, copy.outputs, strict=True))
            copy.span = match.anchor.span if spans is None else UNKNOWN
            copy.call_stack = match.anchor.call_stack
            for output in node.outputs:
                if spans and output in spans:
                    copy.span = match.values[spans[output]].node.span
    for old, new in zip(pattern.outputs, replacement.outputs, strict=True):
        result = known[new]
        if new not in replacement.inputs:
            result.type = match.values[old].type
        match.values[old].replace_uses(result)
    _remove(match)


def _copy(node: Node, graph: Graph, known: Mapping[Value, Value]) -> Node:
    copy = Node(graph, node.kind, node.span, node.signature)
    copy.attributes = dict(node.attributes)
    for value in node.inputs:
        copy.add_input(known[value])
    for output in node.outputs:
        copy.add_output(output.type)
    return copy


def _remove(match: Match) -> None:
    """Take away what was matched, users first."""
    left = list(match.nodes.values())
    while left:
        free = [n for n in left if not any(output.uses for output in n.outputs)]
        for node in free:
            left.remove(node)
            if not node.is_constant:
                node.destroy()
        if not free:
            return
