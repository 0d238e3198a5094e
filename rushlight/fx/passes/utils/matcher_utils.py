"""`torch.fx.passes.utils.matcher_utils`: the places of a graph that look like another graph."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from ....ops.eager.packets import Overload
from ....ops.tensors.tensor import Tensor
from ....utils._pytree import tree_flatten
from ..._attributes import get_attr
from ...graph import Graph
from ...node import Node
from .fuser_utils import leads_back

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """A place that looks like a pattern.

    `anchors` are the pattern's last nodes; `nodes_map` says what stands for each of its nodes;
    `placeholder_nodes` what comes in, `returning_nodes` what goes out.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Node] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors,
            self.nodes_map.copy(),
            self.placeholder_nodes.copy(),
            self.returning_nodes.copy(),
        )


class SubgraphMatcher:
    """Finds a pattern in graphs; its inputs stand for any value.

    Args:
        match_output: results must be results.
        match_placeholder: inputs must be inputs.
        remove_overlapping_matches: of places that share nodes, only the first counts.
        ignore_literals: numbers and strings need not be equal.

    Raises:
        AssertionError: a node of the pattern is used by nothing.
        ValueError: the pattern is empty.
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op not in ("output", "placeholder") and not node.users:
                raise AssertionError(
                    "SubgraphMatcher cannot be initialized with an pattern with dead code"
                )
        self.pattern_placeholder_nodes = pattern.find_nodes(op="placeholder")
        output = pattern.output_node()
        self.pattern_returning_nodes: list[Node] = output.all_input_nodes
        self.pattern_anchors = [output]
        if not match_output:
            ends = [node for node in output.all_input_nodes if len(node.users) == 1]
            self.pattern_anchors = ends

    # -- one node ------------------------------------------------------------------------------

    def _nodes_are_equal(self, pn: Node, gn: Node, node_name_match: str = "") -> bool:
        anything = pn.op == "placeholder" and not self.match_placeholder
        if anything or (node_name_match and node_name_match in gn.name):
            return True
        if pn.op == "get_attr" == gn.op:
            return self._same_attribute(pn, gn)
        return pn.op == gn.op and (pn.op in ("placeholder", "output") or pn.target == gn.target)

    def _same_attribute(self, pn: Node, gn: Node) -> bool:
        left = get_attr(pn.graph.owning_module, str(pn.target))
        right = get_attr(gn.graph.owning_module, str(gn.target))
        return isinstance(left, Tensor) and isinstance(right, Tensor)

    def _match_literals(self, pn: object, gn: object, match: InternalMatch) -> bool:
        """Values of which one at most is a node."""
        if isinstance(pn, Node):
            if pn.op != "placeholder":
                return False
            if pn in match.nodes_map:
                return bool(match.nodes_map[pn] == gn)
            match.nodes_map[pn] = gn
            return True
        if isinstance(gn, Node):
            return False
        return type(pn) is type(gn) and bool(pn == gn)

    def _match_nodes(self, pn: Node, gn: Node, match: InternalMatch, name: str = "") -> bool:
        """Whether a node looks like one of the pattern, with all that comes before both."""
        if pn in match.nodes_map:
            return match.nodes_map[pn] is gn
        taken = any(gn is each for each in match.nodes_map.values())
        if taken or not self._nodes_are_equal(pn, gn, name):
            return False
        before = copy.copy(match.nodes_map)
        match.nodes_map[pn] = gn
        if pn.op == "placeholder" or self._match_arguments(pn, gn, match):
            return True
        match.nodes_map = before
        return False

    def _match_arguments(self, pn: Node, gn: Node, match: InternalMatch) -> bool:
        if len(pn.args) != len(gn.args) or pn.kwargs.keys() != gn.kwargs.keys():
            return self._match_normalized(pn, gn, match)
        right = gn.args, {key: gn.kwargs[key] for key in pn.kwargs}
        return self._match_values((pn.args, dict(pn.kwargs)), right, match)

    def _match_normalized(self, pn: Node, gn: Node, match: InternalMatch) -> bool:
        """Arguments of an overload that are given in other ways: by position, by name, or not at
        all."""
        target = pn.target
        if pn.op != "call_function" or not isinstance(target, Overload):
            return False
        schema: Any = target._schema
        arguments: Sequence[Any] = schema.arguments
        return self._match_parts(_all_of(arguments, pn), _all_of(arguments, gn), match)

    def _match_parts(self, left: object, right: object, match: InternalMatch) -> bool:
        """Lists by their elements, where both are; a node may stand for a whole list."""
        if not (isinstance(left, (list, tuple)) and isinstance(right, (list, tuple))):
            return self._match_value(left, right, match)
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(self._match_parts(*pair, match) for pair in pairs)

    def _match_values(self, left: object, right: object, match: InternalMatch) -> bool:
        mine, my_spec = tree_flatten(left)
        others, other_spec = tree_flatten(right)
        if my_spec != other_spec:
            return False
        return all(map(lambda a, b: self._match_value(a, b, match), mine, others))

    def _match_value(self, left: object, right: object, match: InternalMatch) -> bool:
        if isinstance(left, Node) and isinstance(right, Node):
            return self._match_nodes(left, right, match)
        return self._match_literals(left, right, match) or self.ignore_literals

    # -- whole matches -------------------------------------------------------------------------

    def _is_contained(self, nodes_map: Mapping[Node, object]) -> bool:
        """Whether nothing outside needs a value from the middle of a match."""
        inside = {
            gn: pn
            for pn, gn in nodes_map.items()
            if pn.op != "placeholder" and isinstance(gn, Node)
        }
        middle = [gn for gn, pn in inside.items() if pn not in self.pattern_returning_nodes]
        return all(user in inside for gn in middle for user in gn.users)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The places of a graph that look like the pattern, in its order."""
        found = [each for each in self._all(graph, node_name_match) if self._finish(each)]
        return _apart(found) if self.remove_overlapping_matches else found

    def _all(self, graph: Graph, name: str) -> Iterator[InternalMatch]:
        candidates = [
            [gn for gn in graph.nodes if self._nodes_are_equal(anchor, gn, name)]
            for anchor in self.pattern_anchors
        ]
        for choice in product(*candidates):
            match = InternalMatch(self.pattern_anchors)
            pairs = zip(self.pattern_anchors, choice, strict=True)
            if all(self._match_nodes(anchor, gn, match, name) for anchor, gn in pairs):
                yield match

    def _finish(self, match: InternalMatch) -> bool:
        for node in (*self.pattern_returning_nodes, *self.pattern_placeholder_nodes):
            if node not in match.nodes_map and node.users:
                return False
        if not self._is_contained(match.nodes_map) or leads_back(_computed(match.nodes_map)):
            return False
        known = match.nodes_map
        inputs, outputs = self.pattern_placeholder_nodes, self.pattern_returning_nodes
        match.placeholder_nodes = [known[node] for node in inputs if node in known]
        match.returning_nodes = [known[node] for node in outputs if node in known]
        match.name_node_map = {node.name: value for node, value in known.items()}
        return True


def _all_of(arguments: Sequence[Any], node: Node) -> list[object]:
    """What each argument of a schema is in a call, said or by default."""

    def value(at: int, argument: Any) -> object:
        if argument.name in node.kwargs:
            return node.kwargs[argument.name]
        if at < len(node.args) and not argument.kwarg_only:
            return node.args[at]
        return argument.default_value

    return [value(at, argument) for at, argument in enumerate(arguments)]


def _computed(nodes_map: Mapping[Node, object]) -> list[Node]:
    """The nodes of a match that are neither inputs nor results."""
    return [
        gn
        for pn, gn in nodes_map.items()
        if pn.op not in ("placeholder", "output") and isinstance(gn, Node)
    ]


def _apart(matches: list[InternalMatch]) -> list[InternalMatch]:
    """The matches that share no node with one before, inputs not counted."""
    kept: list[InternalMatch] = []
    taken: set[Node] = set()
    for match in matches:
        own = set(_computed(match.nodes_map))
        if not own & taken:
            taken |= own
            kept.append(match)
    return kept
