"""Which calls are taken in where a graph's calls are inlined.

What is to be read, written or frozen has all of them.  What is only to run keeps calls of what is
large already: the call costs little beside its callee's work, and the time that inlining takes
stays in proportion to the program.  Otherwise twenty functions that each call the next one twice
would become a million copies of the last, and each of two thousand functions that call each other
in a row would be cleaned up once for every function before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from ..ops.memory.errors import OperatorError
from ..typecheck.class_types import ClassType, FunctionType
from ..typecheck.functions import Bounding, Function
from .graph import Graph, Node
from .passes.autocast import is_entering

__all__ = ["Calls", "callee", "calls_for_running", "every_call"]

Calls = Mapping[Graph, Counter[Function]]
"""For a graph, and for that of each function that is taken in: how often calls of which functions
are inlined there."""

LARGEST: Final = 1_000_000
"""The most nodes of a graph with all its calls inlined."""

LARGEST_PART: Final = 2_000
"""The most nodes of what is taken in by what is only to run."""

ROOM: Final = 8_000
"""Nodes that calls may add to a graph that is only to run; large graphs have more room."""


def callee(node: Node) -> Function | None:
    """The function that a call node calls, if it is known."""
    if node.kind == "prim::CallFunction":
        type = node.inputs[0].type
        return type.function if isinstance(type, FunctionType) else None
    if node.kind == "prim::CallMethod":
        type = node.inputs[0].type
        name = str(node.attributes["name"])
        return type.method(name) if isinstance(type, ClassType) else None
    return None


def every_call(graph: Graph) -> Calls:
    """All calls that may be inlined.

    Raises:
        OperatorError: the graph would become too large.
    """
    found = _Measured(graph.guard, is_whole=True)
    found.measure(graph)
    if found.sizes[graph] > LARGEST:
        raise OperatorError(
            f"the graph has more than {LARGEST} nodes once its calls are inlined",
            code="limit-exceeded",
            headline="the program becomes too large when its calls are inlined",
        )
    return found.taken


def calls_for_running(graph: Graph) -> Calls:
    """The calls that are worth inlining where the graph is only to run; with autocast, all.

    Raises:
        OperatorError: the graph would become too large with all of them: calls of calls, doubled
            some forty times, would not come to an end.
    """
    every = every_call(graph)
    found = _Measured(graph.guard, is_whole=False)
    found.measure(graph)
    return every if found.enters_autocast else found.taken


class _Measured:
    """The graphs that a graph's calls reach, those that are called before those that call."""

    def __init__(self, guard: Bounding | None, *, is_whole: bool) -> None:
        self.guard = guard
        self.is_whole = is_whole
        self.taken: dict[Graph, Counter[Function]] = {}
        self.sizes: dict[Graph, int] = {}
        self.cleaned: dict[Graph, int] = {}
        """The nodes that are cleaned up, one graph after the other, until this one is clean."""
        self.enters_autocast = False

    def measure(self, root: Graph) -> None:
        begun: dict[Graph, tuple[int, Counter[Function]]] = {}
        waiting = [root]
        while waiting:
            graph = waiting[-1]
            if graph in begun:
                waiting.pop()
                if graph not in self.sizes:
                    self._choose(graph, *begun[graph])
                continue
            begun[graph] = self._counted(graph)
            waiting.extend(each for each in map(_graph, begun[graph][1]) if each not in begun)

    def _counted(self, graph: Graph) -> tuple[int, Counter[Function]]:
        """How many nodes it has, and how often it calls what may be taken in."""
        size, calls = 0, Counter[Function]()
        for part in graph.with_tasks:
            for node in part.all_nodes:
                size += 1
                self.enters_autocast |= is_entering(node)
                function = callee(node)
                if function is not None and self._may_be_taken(function):
                    calls[function] += 1
        return size, calls

    def _may_be_taken(self, function: Function) -> bool:
        graph = function.graph
        return isinstance(graph, Graph) and graph.guard in (None, self.guard)

    def _choose(self, graph: Graph, size: int, calls: Counter[Function]) -> None:
        known = Counter({each: n for each, n in calls.items() if _graph(each) in self.sizes})
        taken = known if self.is_whole else Counter(dict(self._small(known, ROOM + 10 * size)))
        self.taken[graph] = taken
        self.sizes[graph] = size + sum(n * self.sizes[_graph(each)] for each, n in taken.items())
        before = sum(self.cleaned[_graph(each)] for each in taken)
        self.cleaned[graph] = self.sizes[graph] + before

    def _small(self, calls: Counter[Function], room: int) -> Iterator[tuple[Function, int]]:
        """What there is room for, the smallest first."""
        for function in sorted(calls, key=lambda each: self.sizes[_graph(each)]):
            size, count = self.sizes[_graph(function)], calls[function]
            room -= size * count
            if size > LARGEST_PART or room < 0:
                return
            if self.cleaned[_graph(function)] <= 4_000 + 12 * size:
                yield function, count


def _graph(function: Function) -> Graph:
    assert isinstance(function.graph, Graph)
    return function.graph
