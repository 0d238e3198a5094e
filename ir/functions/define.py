"""From a function's syntax tree to its clean graph."""

from __future__ import annotations

from functools import partial

from ...frontend.diagnostics.diagnostics import Collector
from ...frontend.limits.bounds import EXHAUSTED, report_exhausted
from ...frontend.syntax.deep_stack import deeply, is_deep
from ...ops.memory.errors import LimitExceeded
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.names import Resolver
from ...typecheck.definitions.schema import OperatorTable
from ...typecheck.definitions.turns import Postponed
from ...typecheck.relations.consequences import has_holes
from ...typecheck.statements.checker import check_function
from ...typecheck.trees.typed import TypedFunction
from ..graphs.graph import Graph
from ..graphs.kinds import TASKS
from ..lowering.emitter import Evaluate
from ..lowering.exits import transform_exits
from ..lowering.lower import lower
from ..lowering.ssa import convert_to_ssa
from ..passes import PassContext, clean
from ..passes.empty_lists import make_empty_lists
from ..passes.normalize import normalize
from .internal_fault import FAULTS, report_fault

__all__ = ["build_graph", "define_function", "graph_of", "graph_with_lines"]


def define_function(
    function: Function,
    resolver: Resolver,
    collector: Collector,
    table: OperatorTable,
    evaluate: Evaluate,
) -> None:
    """Check a function and make its graph; sets `function.typed` and `function.graph`.

    Where the checker finds errors, here or in what the function uses, they are in the collector
    and the graph stays None.
    """
    before, forget = len(collector.errors), collector.forgetting()

    def check() -> TypedFunction | None:
        typed = check_function(function, resolver, table, collector, self_type=function.owner)
        if typed is None or len(collector.errors) > before or (before and has_holes(typed)):
            return None
        return typed

    def undo() -> None:
        forget()  # all of it will be found again
        function.typed = None

    def may() -> bool:
        return is_deep(function.tree)

    def build(typed: TypedFunction) -> Graph:
        return build_graph(typed, PassContext(table, evaluate))

    try:
        typed = deeply(check, forget, may)
        if typed is not None:  # which stays so if the stack ends while the graph is built
            function.typed = typed
            built = partial(build, typed)
            function.graph = graph = deeply(built, collector.forgetting(), may)
            for each in graph.with_tasks:
                each.guard = function.guard
    except Postponed:
        undo()
        raise
    except (*EXHAUSTED, LimitExceeded) as error:
        if function.typed is not None and function.tree is not None:  # all statements are checked
            collector.at = function.tree.name_span
        report_exhausted(error, collector, f"in function `{function.name}`")
    except FAULTS as error:
        is_ours = function.typed is not None  # lowering and passes refuse no program on purpose
        if not report_fault(error, collector, f"in function `{function.name}`", is_ours):
            if len(collector.errors) > before:  # which torch would not have come past
                return
            raise


def build_graph(typed: TypedFunction, context: PassContext) -> Graph:
    """Lower a typed function and clean up its graph."""
    graph = lower(typed, context.table, context.evaluate)
    _clean(graph, context)
    return graph


def graph_with_lines(typed: TypedFunction, context: PassContext) -> Graph:
    """The graph of a function with variables, exits and a `prim::Line` for each statement."""
    graph = lower(typed, context.table, context.evaluate, keeps_lines=True)
    _clean_tasks(graph, context)
    make_empty_lists(graph, context)
    normalize(graph, context)
    return graph


def _clean_tasks(graph: Graph, context: PassContext) -> None:
    for node in graph.all_nodes:
        task = node.attributes.get("Subgraph")
        if node.kind in TASKS and isinstance(task, Graph):
            _clean(task, context)


def _clean(graph: Graph, context: PassContext) -> None:
    """Take variables and exits out, and run the passes; first in the graphs of tasks."""
    _clean_tasks(graph, context)
    convert_to_ssa(graph)
    transform_exits(graph)
    _settle_tasks(graph)
    clean(graph, context)


_LIFTED = 3
"""Values that torch makes and drops while it takes a task's body out of a graph."""


def _settle_tasks(graph: Graph) -> None:
    """Number tasks when torch makes them, which is here, and name what they are given as the graph
    does."""
    tasks = [node for node in graph.all_nodes if node.kind in TASKS]
    graph.skip_numbers(_LIFTED * len(tasks))
    for node in tasks:
        task = node.attributes.get("Subgraph")
        node.output.settle()
        if isinstance(task, Graph):
            for inner, given in zip(task.inputs, node.inputs, strict=True):
                inner.copy_name(given)


def graph_of(function: Function) -> Graph:
    """The graph of a defined function.

    Raises:
        ValueError: the function has none, because it was not defined or had errors.
    """
    function.ensure_defined()
    if not isinstance(function.graph, Graph):
        raise ValueError(f"{function.qualified_name} has no graph")
    return function.graph
