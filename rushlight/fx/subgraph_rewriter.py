"""`torch.fx.subgraph_rewriter`: putting one piece of graph in the place of another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..nn.modules.module import Module
from ._attributes import assign_attr, get_attr, has_attr
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node

if TYPE_CHECKING:
    from .passes.utils.matcher_utils import InternalMatch

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

Pattern = Callable[..., object] | Graph | GraphModule
Filter = Callable[["InternalMatch", Graph, Graph], bool]
Made = Callable[["InternalMatch", Graph, Graph], Graph]


class Match(NamedTuple):
    """What was replaced: the pattern's last node, and what stood for each of its nodes."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """The same, with the nodes that were put in."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(
    gm: GraphModule,
    pattern: Callable[..., object] | GraphModule,
    replacement: Callable[..., object] | GraphModule,
) -> list[Match]:
    """Put a graph wherever a module's graph looks like another one, and recompile the module.

    Args:
        pattern: what is looked for; its inputs stand for any value.
        replacement: what takes its place, with as many inputs.
    """
    made = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(each.anchor, each.nodes_map) for each in made]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Pattern,
    replacement: Pattern | None = None,
    match_filters: list[Filter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Made | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """`replace_pattern` for the places that all filters accept.

    Args:
        match_filters: each is given the match, the graph and the pattern.
        ignore_literals: numbers and strings of the pattern stand for any.
        replacement_callback: makes the replacement for a match, whatever else is given.
        node_name_match: nodes whose names hold this look like any node.
    """
    from .passes.utils.matcher_utils import SubgraphMatcher

    graph, wanted = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(wanted, ignore_literals=ignore_literals)
    matches = [
        match
        for match in matcher.match(graph, node_name_match)
        if all(accept(match, graph, wanted) for accept in match_filters or ())
    ]
    if replacement is None and replacement_callback is None:
        raise AssertionError(
            "Must provide either a replacement GraphModule or a replacement callback"
        )
    common = None if replacement is None else _graph_of(replacement)
    changed: dict[Node, Node] = {}
    done: list[ReplacedPatterns] = []
    for match in matches:
        if replacement_callback is not None:
            given = replacement_callback(match, graph, wanted)
        else:
            assert common is not None
            given = common
        done.append(_replace(graph, match, given, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _replace_attributes(gm, replacement)
    return done


def _graph_of(source: Pattern) -> Graph:
    if isinstance(source, GraphModule):
        return source.graph
    return source if isinstance(source, Graph) else symbolic_trace(source).graph


def _replace(
    graph: Graph, match: InternalMatch, replacement: Graph, changed: dict[Node, Node]
) -> ReplacedPatterns:
    """Put a copy of the replacement in the place of a match."""
    inputs = replacement.find_nodes(op="placeholder")
    if len(match.placeholder_nodes) != len(inputs):
        raise AssertionError(
            f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(inputs)}"
        )
    values: dict[Node, Node] = {}
    for node, value in zip(inputs, match.placeholder_nodes, strict=True):
        values[node] = changed.get(value, value) if isinstance(value, Node) else value
    known = set(values)
    before = _place(match, values.values())
    with graph.inserting_before(before):
        copied = graph.graph_copy(replacement, values)
    returned = copied if isinstance(copied, (list, tuple)) else (copied,)
    for old, new in zip(match.returning_nodes, returned, strict=True):
        old.replace_all_uses_with(new)
        changed[old] = new
    _erase(graph, match)
    made = [values[node] for node in replacement.nodes if node in values and node not in known]
    return ReplacedPatterns(match.anchors[0], match.nodes_map, made)


def _place(match: InternalMatch, inputs: Iterable[object]) -> Node:
    """The node before which all that comes in is there, and nothing of what goes out used."""
    users = [user for node in match.returning_nodes for user in node.users]
    first = min(users, default=match.returning_nodes[-1])
    last = max((node for node in inputs if isinstance(node, Node)), default=None)
    return last.next if last is not None and last >= first else first


def _erase(graph: Graph, match: InternalMatch) -> None:
    kept = ("placeholder", "output")
    nodes = [gn for pn, gn in match.nodes_map.items() if pn.op not in kept]
    for node in sorted(nodes, reverse=True):
        if not node.users and not node._erased:
            graph.erase_node(node)


def _replace_attributes(gm: GraphModule, replacement: Module) -> None:
    """Give the module what the new nodes name, and take away what no node does."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        target = str(node.target)
        if node.op in ("call_module", "get_attr") and not has_attr(gm, target):
            if not has_attr(replacement, target):
                raise RuntimeError(
                    'Attempted to create a "' + node.op + '" node during subgraph rewriting '
                    f"with target {node.target}, but the referenced attribute does not exist in "
                    "the replacement GraphModule"
                )
            assign_attr(get_attr(replacement, target), gm, target)
    gm.graph.lint()
