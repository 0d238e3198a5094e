"""The check of a graph."""

from __future__ import annotations

from typing import Any

from ..nn.modules.module import Module
from .node import Node

__all__ = ["lint_graph"]


def lint_graph(graph: Any) -> None:
    """Check a graph.

    Raises:
        RuntimeError: a value is used before it is made or is of another graph, two have one name,
            or the module lacks what is named.
    """
    seen: set[Node] = set()
    names: set[str] = set()
    for node in graph.nodes:
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        for value in node.all_input_nodes:
            _check_value(graph, node, value, seen)
        seen.add(node)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)
        if graph.owning_module is not None and node.op in ("get_attr", "call_module"):
            _check_target(graph.owning_module, node)


def _check_value(graph: object, user: Node, value: Node, seen: set[Node]) -> None:
    if value.graph is not graph:
        raise RuntimeError(
            f"Argument '{value}' of Node '{user}' does not belong to this Graph, but was used as "
            "an argument! If you are copying nodes from another graph, make sure to use "
            f"``arg_transform`` on node_copy() to remap values\n{graph}"
        )
    if value not in seen:
        raise RuntimeError(
            f"Argument '{value}' of Node '{user}' was used before it has been defined! Please "
            f"check that Nodes in the graph are topologically ordered\n{graph}"
        )


def _check_target(root: Module, node: Node) -> None:
    """Walk down to what the node names."""
    found: object = root
    parts = str(node.target).split(".")
    for place, part in enumerate(parts):
        above = ".".join(parts[:place])
        if not hasattr(found, part):
            raise RuntimeError(
                f"Node {node} target {node.target} references nonexistent attribute {part} of "
                f"{above}"
            )
        found = getattr(found, part)
        last = place == len(parts) - 1
        if last and node.op == "call_module" and not isinstance(found, Module):
            raise RuntimeError(
                f"Node {node} target {node.target} {part} of {above} does not reference an "
                "nn.Module"
            )
