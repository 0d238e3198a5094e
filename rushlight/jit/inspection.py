"""Looking at what is compiled."""

from __future__ import annotations

from typing import Any

from .._C.handles import Graph
from ..interpreter.objects import ScriptObject
from ..ir.define import graph_of
from ..ir.graph import Block
from ..ir.graph import Graph as InnerGraph
from ..ops.table import TABLE
from .function import last_run

__all__ = ["export_opnames", "last_executed_optimized_graph"]


def export_opnames(m: Any) -> list[str]:
    """The operators that a scripted module uses, each as `aten::add.Tensor`, sorted."""
    names: set[str] = set()
    _of_object(m._c, names, set())
    return sorted(names)


def _of_object(target: ScriptObject, names: set[str], seen: set[int]) -> None:
    if id(target) in seen:
        return
    seen.add(id(target))
    for method in list(target.cls.methods.values()):
        _of_block(graph_of(method).block, names)
    for value in target.slots:
        if isinstance(value, ScriptObject):
            _of_object(value, names, seen)


def _of_block(block: Block, names: set[str]) -> None:
    for node in block.all_nodes:
        if node.signature is not None and TABLE.operators(node.kind):
            names.add(node.signature.full_name)
        task = node.attributes.get("Subgraph")
        if isinstance(task, InnerGraph):
            _of_block(task.block, names)


def last_executed_optimized_graph() -> Graph:
    """The graph that ran when something compiled was last called from Python.

    Raises:
        RuntimeError: nothing has run.
    """
    return last_run()
