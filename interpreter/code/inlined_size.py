"""How large a function gets when all its calls are inlined: twenty functions that each call the
next one twice are a million copies of the last."""

from __future__ import annotations

from ...ir.define import graph_of
from ...ir.graph import Graph
from ...ir.inline import callee
from ...ops.memory.errors import OperatorError
from ...typecheck.functions import Function

__all__ = ["LARGEST", "check_inlined_size"]

LARGEST = 1_000_000
"""The most nodes of a function with its calls inlined."""


def check_inlined_size(function: Function) -> None:
    """Refuse a function that would become too large.

    Raises:
        OperatorError: it would.
    """
    size = _size(graph_of(function), {})
    if size > LARGEST:
        raise OperatorError(
            f"`{function.name}` has more than {LARGEST} nodes once its calls are inlined",
            code="limit-exceeded",
            headline=f"`{function.name}` becomes too large when its calls are inlined",
        )


def _size(graph: Graph, known: dict[Function, int]) -> int:
    size = 0
    for node in graph.all_nodes:
        size += 1
        function = callee(node)
        if function is None:
            continue
        found = known.get(function)
        if found is None:
            inner = function.graph
            found = known[function] = 0
            if isinstance(inner, Graph) and inner.guard in (None, graph.guard):
                found = known[function] = _size(inner, known)
        size += found
    return size
