"""Directed graphs: which module needs which others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["DiGraph"]


class DiGraph:
    """Nodes with attributes, and edges between them, in the order in which they were added."""

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, object]] = {}
        self._after: dict[str, dict[str, None]] = {}
        self._before: dict[str, dict[str, None]] = {}

    def add_node(self, n: str, **kwargs: object) -> None:
        """Add a node, or attributes to one that is there."""
        if n not in self._nodes:
            self._nodes[n] = {}
            self._after[n] = {}
            self._before[n] = {}
        self._nodes[n].update(kwargs)

    def add_edge(self, u: str, v: str) -> None:
        """Add an edge; nodes that are not there are added."""
        self.add_node(u)
        self.add_node(v)
        self._after[u][v] = None
        self._before[v][u] = None

    def successors(self, n: str) -> Iterator[str]:
        """The nodes that edges lead to from a node.

        Raises:
            ValueError: there is no such node.
        """
        return iter(self._known(n, self._after))

    def predecessors(self, n: str) -> Iterator[str]:
        """The nodes from which edges lead to a node; raises as `successors`."""
        return iter(self._known(n, self._before))

    def _known(self, n: str, table: Mapping[str, dict[str, None]]) -> dict[str, None]:
        if n not in table:
            raise ValueError(f"The node {n} is not in the digraph.")
        return table[n]

    @property
    def edges(self) -> Iterator[tuple[str, str]]:
        """All edges."""
        return ((u, v) for u, found in self._after.items() for v in found)

    @property
    def nodes(self) -> dict[str, dict[str, Any]]:
        """The attributes of all nodes."""
        return self._nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __contains__(self, n: object) -> bool:
        try:
            return n in self._nodes
        except TypeError:  # what cannot be hashed is no node
            return False

    def forward_transitive_closure(self, src: str) -> set[str]:
        """The nodes that can be reached from a node, itself included."""
        return self._reached(src, self._after)

    def backward_transitive_closure(self, src: str) -> set[str]:
        """The nodes from which a node can be reached, itself included."""
        return self._reached(src, self._before)

    def _reached(self, start: str, table: Mapping[str, dict[str, None]]) -> set[str]:
        found, left = {start}, [start]
        while left:
            new = self._known(left.pop(), table).keys() - found
            found |= new
            left.extend(new)
        return found

    def all_paths(self, src: str, dst: str) -> str:
        """The edges on ways from one node to another, as a text of Graphviz."""
        between = self.forward_transitive_closure(src) & self.backward_transitive_closure(dst)
        part = DiGraph()
        for u, v in self.edges:
            if u in between and v in between:
                part.add_edge(u, v)
        return part.to_dot()

    def first_path(self, dst: str) -> list[str]:
        """A shortest way to a node from one that no edge leads to; itself if there is none."""
        found: dict[str, str | None] = {dst: None}
        left = deque([dst])
        while left:
            at = left.popleft()
            before = self._known(at, self._before)
            if not before and at != dst:
                return list(_back(found, at))
            for node in before.keys() - found.keys():
                found[node] = at
                left.append(node)
        return [dst]

    def to_dot(self) -> str:
        """The graph as a text of Graphviz."""
        lines = [f'"{u}" -> "{v}";\n' for u, v in self.edges]
        return "digraph G {\nrankdir = LR;\nnode [shape=box];\n" + "".join(lines) + "}\n"


def _back(found: Mapping[str, str | None], at: str | None) -> Iterator[str]:
    while at is not None:
        yield at
        at = found[at]
