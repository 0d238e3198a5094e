"""Refusing what code that is not trusted may not do."""

from __future__ import annotations

from ...frontend.diagnostics.diagnostics import Collector, Diagnostic, Label
from ...ir.graphs.graph import Graph
from .operator_kinds import REFUSED, kind_of

__all__ = ["not_trusted", "refuse_operators"]


def not_trusted(operator: str, shown: str, *labels: Label) -> Diagnostic:
    """What is told of an operator of a refused kind, with the places where it is used.

    Args:
        operator: its qualified name (`aten::save`).
        shown: what the archive's text calls it.
    """
    return Diagnostic(
        "unsafe-op",
        f"the archive uses {shown}, which {REFUSED[kind_of(operator)]}; it was loaded with "
        'trust="none"',
        labels[0],
        secondary=labels[1:],
        torch_message=f"`{operator}` is not allowed in an archive that is not trusted",
    )


def refuse_operators(graph: Graph, collector: Collector) -> None:
    """Report every node of a graph that reaches outside of the program."""
    for node in (node for each in graph.with_tasks for node in each.all_nodes):
        if kind_of(node.kind) in REFUSED:
            place = Label(node.span, "used here")
            collector.add(not_trusted(node.kind, f"`{node.kind}`", place))
