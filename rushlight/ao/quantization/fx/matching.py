"""Where the patterns of a backend lie in a traced graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ....fx.node import Node
from ....nn.modules.module import Module
from ..backend_config.backend_config import BackendConfig, BackendPatternConfig

__all__ = ["Found", "find", "kind_of"]


@dataclass(frozen=True)
class Found:
    """A pattern in a graph: its nodes in the order in which they compute."""

    nodes: tuple[Node, ...]
    entry: BackendPatternConfig

    @property
    def first(self) -> Node:
        """The node with the operands."""
        return self.nodes[0]

    @property
    def last(self) -> Node:
        """The node with the result."""
        return self.nodes[-1]


def kind_of(node: Node, modules: Mapping[str, Module]) -> object:
    """What a pattern says of a node: a class, a function or a method's name; None for others."""
    if node.op == "call_module":
        module = modules.get(str(node.target))
        return None if module is None else type(module)
    if node.op == "call_function":
        is_shape = node.target is getattr and len(node.args) == 2
        return node.args[1] if is_shape else node.target
    return node.target if node.op == "call_method" else None


def find(
    nodes: list[Node],
    modules: Mapping[str, Module],
    backend: BackendConfig,
    wanted: Callable[[BackendPatternConfig], bool] = lambda entry: True,
) -> list[Found]:
    """The patterns in a graph, none of which overlap: the longest from each last node.

    What lies within a pattern is used by nothing else.
    """
    ending: dict[object, list[tuple[tuple[object, ...], BackendPatternConfig]]] = {}
    for entry in backend.configs:
        if wanted(entry):
            pattern = entry.pattern if isinstance(entry.pattern, tuple) else (entry.pattern,)
            ending.setdefault(pattern[-1], []).append((pattern, entry))
    for entries in ending.values():
        entries.sort(key=lambda each: -len(each[0]))
    found, taken = list[Found](), set[Node]()
    for node in reversed(nodes):
        if node in taken:
            continue
        for pattern, entry in ending.get(kind_of(node, modules), ()):
            matched = _matched(node, pattern, modules)
            if matched is not None and taken.isdisjoint(matched):
                taken.update(matched)
                found.append(Found(matched, entry))
                break
    return found[::-1]


def _matched(
    node: Node, pattern: tuple[object, ...], modules: Mapping[str, Module]
) -> tuple[Node, ...] | None:
    nodes = [node]
    for kind in reversed(pattern[:-1]):
        before = nodes[0].args[0] if nodes[0].args else None
        if not isinstance(before, Node) or len(before.users) > 1:
            return None
        if kind_of(before, modules) != kind:
            return None
        nodes.insert(0, before)
    return tuple(nodes)
