"""Calls of script functions replaced by what they do.

    %f : Function = prim::Constant[name="double"]()      %f : Function = ...
    %y.1 : Tensor = prim::CallFunction(%f, %x)     ->    %two : int = prim::Constant[value=2]()
                                                         %y.1 : Tensor = aten::mul(%x, %two)

Calls out of a graph into one with another guard stay calls: code that is not trusted keeps its
bounds wherever it is called from, and gets no others.  Guarded code takes in unguarded code, which
is bounded with it.

What is put in is the callee's graph after its own calls were inlined and after a second clean-up.
The inserted nodes' call stacks say through which calls they came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container

from ...frontend.syntax.deep_stack import goes_deep
from ...typecheck.definitions.functions import Function
from ..graphs.callee import callee
from ..graphs.clone import clone_graph, insert_graph, take_graph
from ..graphs.graph import Block, CallSite, Graph, Node, Value
from ..passes.constant_pooling import pool_constants
from ..passes.constant_propagation import propagate_constants
from ..passes.context import PassContext
from ..passes.peephole import peephole
from .inlined_sizes import Calls, every_call

__all__ = ["call_path", "inline", "inline_in_place", "module_path"]


@goes_deep
def inline(
    graph: Graph,
    name: str,
    context: PassContext,
    choose: Callable[[Graph], Calls] = every_call,
) -> Graph:
    """A copy of a graph with its calls of script functions and methods inlined.

    `name` is the function's own name, for the call stacks.  Calls of functions without a graph
    (methods of interfaces, Python functions) stay, and those that are not chosen.

    Raises:
        OperatorError: the graph would become too large.
    """
    copy = clone_graph(graph)
    inline_in_place(copy, name, context, choose)
    return copy


def inline_in_place(
    graph: Graph,
    name: str,
    context: PassContext,
    choose: Callable[[Graph], Calls] = every_call,
) -> None:
    """Inline calls in the graph itself.

    Raises:
        OperatorError: the graph would become too large.
    """
    with graph.entered():
        calls = choose(graph)
        _Inlining(context, graph, calls).block(graph.block, name, calls[graph])


class _Inlining:
    def __init__(self, context: PassContext, root: Graph, calls: Calls) -> None:
        self.context = context
        self.calls = calls
        self.done: dict[Function, Graph] = {}
        self.left = _all_calls(root, calls)
        """How many calls of a function are still to come: the last one takes its body."""

    def block(self, block: Block, name: str, taken: Container[Function]) -> None:
        for node in block.nodes:
            function = callee(node)
            if function is not None and function in taken:
                self.call(node, function, name)
            for inner in node.blocks:
                self.block(inner, name, taken)
            task = node.attributes.get("Subgraph")
            if isinstance(task, Graph):
                node.attributes["Subgraph"] = copy = clone_graph(task)
                self.block(copy.block, name, taken)

    def call(self, node: Node, function: Function, name: str) -> None:
        is_method = node.kind == "prim::CallMethod"
        arguments = list(node.inputs if is_method else node.inputs[1:])
        path = module_path(arguments[0]) if is_method else ""
        outer = node.call_stack
        if outer:  # it was inlined itself, before it was known what it calls
            name, path = outer[-1].callee, path.removeprefix(f"{call_path(outer)}.")
        sites = (*outer, CallSite(name, node.span, path, function.name, is_method))
        body = self.body(function)
        self.left[function] -= 1
        put = insert_graph
        if self.left[function] == 0:
            put = take_graph
            del self.done[function]
        with node.graph.inserting_before(node):
            results = put(node.graph, body, arguments, sites)
        for old, new in zip(node.outputs, results, strict=True):
            if old.name is not None:
                new.name = old.name
            old.replace_uses(new)
        node.destroy()

    def body(self, function: Function) -> Graph:
        """The callee's graph, its own calls inlined, cleaned up again."""
        if function not in self.done:
            assert isinstance(function.graph, Graph)
            graph = clone_graph(function.graph)
            self.block(graph.block, function.qualified_name, self.calls[function.graph])
            peephole(graph, self.context)
            propagate_constants(graph, self.context)
            pool_constants(graph, self.context)
            self.done[function] = graph
        return self.done[function]


def _all_calls(root: Graph, calls: Calls) -> Counter[Function]:
    """Count the calls that will be met, each function's own ones once."""
    met = Counter[Function]()
    waiting = [root]
    while waiting:
        for function, count in calls[waiting.pop()].items():
            if function not in met:
                assert isinstance(function.graph, Graph)
                waiting.append(function.graph)
            met[function] += count
    return met


def module_path(value: Value) -> str:
    """Which attributes lead from the first input of the graph to an object: `encoder.proj`."""
    names: list[str] = []
    while value.node.kind == "prim::GetAttr":
        names.append(str(value.node.attributes["name"]))
        value = value.node.inputs[0]
    return ".".join(reversed(names))


def call_path(call_stack: tuple[CallSite, ...]) -> str:
    """The module in which a node with this call stack runs, seen from the root."""
    return ".".join(site.module for site in call_stack if site.module)
