"""Which calls are taken in where a graph's calls are inlined.

What is to be read, written or frozen has all of them.  What is only to run keeps calls of what is
large already: the call costs little beside its callee's work, and the time that inlining takes
stays in proportion to the program.  Otherwise twenty functions that each call the next one twice
would become a million copies of the last, and each of two thousand functions that call each other
in a row would be cleaned up once for every function before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from typing import Final

from ...ops.memory.errors import OperatorError
from ...typecheck.definitions.functions import Function
from ..graphs.callee import callee
from ..graphs.graph import Graph
from ..passes.autocast import is_entering

__all__ = ["Calls", "calls_for_running", "every_call"]

Calls = Mapping[Graph, Counter[Function]]
"""For a graph, and for that of each function that is taken in: how often calls of which functions
are inlined there."""

LARGEST: Final = 1_000_000
"""The most nodes of a graph with all its calls inlined."""

LARGEST_PART: Final = 2_000
"""The most nodes of what is taken in by what is only to run."""

ROOM: Final = 8_000
"""Nodes that calls may add to a graph that is only to run; large graphs have more room."""


def every_call(graph: Graph) -> Calls:
    """All calls that may be inlined.

    Raises:
        OperatorError: the graph would become too large.
    """
    return _all_of(_Reached(graph))


def calls_for_running(graph: Graph, called: Collection[Function] | None = None) -> Calls:
    """The calls that are worth inlining where the graph is only to run; with autocast, all.

    Of the graph's own calls, only those of functions that are `called`, where these are said.

    Raises:
        OperatorError: the graph would become too large with all of them: calls of calls, doubled
            some forty times, would not come to an end.
    """
    reached = _Reached(graph)
    every = _all_of(reached)
    found = every if reached.enters_autocast else _worth_it(reached)
    if called is None:
        return found
    return {**found, graph: Counter({f: n for f, n in found[graph].items() if f in called})}


class _Reached:
    """The graphs that a graph's calls reach, those that are called before those that call, each
    with its nodes and how often it calls which functions that may be taken in."""

    def __init__(self, root: Graph) -> None:
        self.root = root
        self.graphs: dict[Graph, tuple[int, Counter[Function]]] = {}
        self.enters_autocast = False
        begun: dict[Graph, tuple[int, Counter[Function]]] = {}
        waiting = [root]
        while waiting:
            graph = waiting[-1]
            if graph in begun:
                self.graphs.setdefault(waiting.pop(), begun[graph])
                continue
            begun[graph] = self._counted(graph)
            waiting.extend(each for each in map(_graph, begun[graph][1]) if each not in begun)

    def _counted(self, graph: Graph) -> tuple[int, Counter[Function]]:
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
        return isinstance(graph, Graph) and graph.guard in (None, self.root.guard)


def _all_of(reached: _Reached) -> Calls:
    """All calls, but those that come back to a function amid its own.

    Raises:
        OperatorError: the graph would become too large.
    """
    taken: dict[Graph, Counter[Function]] = {}
    sizes: dict[Graph, int] = {}
    for graph, (size, calls) in reached.graphs.items():
        taken[graph] = _among(calls, sizes)
        sizes[graph] = _with_calls(size, taken[graph], sizes)
    if sizes[reached.root] > LARGEST:
        raise OperatorError(
            f"the graph has more than {LARGEST} nodes once its calls are inlined",
            code="limit-exceeded",
            headline="the program becomes too large when its calls are inlined",
        )
    return taken


def _worth_it(reached: _Reached) -> Calls:
    """Calls of what is small, and has not been cleaned up often."""
    taken: dict[Graph, Counter[Function]] = {}
    sizes: dict[Graph, int] = {}
    cleaned: dict[Graph, int] = {}  # nodes, one graph after the other, until this one is clean

    def small(calls: Counter[Function], room: int) -> Iterator[tuple[Function, int]]:
        """What there is room for, the smallest first."""
        for function in sorted(calls, key=lambda each: sizes[_graph(each)]):
            size, count = sizes[_graph(function)], calls[function]
            room -= size * count
            if size > LARGEST_PART or room < 0:
                return
            if cleaned[_graph(function)] <= 4_000 + 12 * size:
                yield function, count

    for graph, (size, calls) in reached.graphs.items():
        taken[graph] = Counter(dict(small(_among(calls, sizes), ROOM + 10 * size)))
        sizes[graph] = _with_calls(size, taken[graph], sizes)
        cleaned[graph] = sizes[graph] + sum(cleaned[_graph(each)] for each in taken[graph])
    return taken


def _among(calls: Counter[Function], known: Container[Graph]) -> Counter[Function]:
    return Counter({each: n for each, n in calls.items() if _graph(each) in known})


def _with_calls(size: int, calls: Counter[Function], sizes: Mapping[Graph, int]) -> int:
    """The nodes of a graph once calls are inlined."""
    return size + sum(n * sizes[_graph(each)] for each, n in calls.items())


def _graph(function: Function) -> Graph:
    assert isinstance(function.graph, Graph)
    return function.graph
