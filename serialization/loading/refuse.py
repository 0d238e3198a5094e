"""Refusing what code that is not trusted may not do."""

from __future__ import annotations

from ...frontend.diagnostics import Collector, Diagnostic, Label
from ...ir.graph import Graph
from .operator_kinds import REFUSED, kind_of

__all__ = ["refuse_operators"]


def refuse_operators(graph: Graph, collector: Collector) -> None:
    """Report every node of a graph that reaches outside of the program."""
    for node in (node for each in graph.with_tasks for node in each.all_nodes):
        kind = kind_of(node.kind)
        if kind not in REFUSED:
            continue
        collector.add(
            Diagnostic(
                "unsafe-op",
                f"the archive uses `{node.kind}`, which {REFUSED[kind]}; it was loaded with "
                'trust="none"',
                Label(node.span, "used here"),
                torch_message=f"`{node.kind}` is not allowed in an archive that is not trusted",
            )
        )
