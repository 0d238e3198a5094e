"""Attributes of objects that never leave a graph, as values."""

from __future__ import annotations

from typing import Any, Optional

import pytest

import rushlight as torch
from rushlight.interpreter.running.evaluating import CONTEXT
from rushlight.ir.functions.define import graph_of
from rushlight.ir.functions.inline import inline
from rushlight.ir.functions.inlined_sizes import calls_for_running
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.graphs.verify import verify
from rushlight.ir.passes.objects_as_values import objects_as_values

Tensor = torch.Tensor


@torch.jit.script
class Mean:
    mean: Tensor | None

    def __init__(self, first: int) -> None:
        self.mean = torch.jit.annotate(Optional[Tensor], None)  # noqa: UP045
        self.count = first

    def add(self, x: Tensor) -> None:
        self.count += 1
        mean = self.mean
        if mean is None:
            self.mean = x
        else:
            self.mean = mean + (x - mean) / float(self.count)


@torch.jit.script
class Both:
    def __init__(self) -> None:
        self.one = Mean(0)
        self.other = Mean(1)
        self.names: list[str] = []

    def add(self, x: Tensor, name: str) -> None:
        self.names.append(name)
        if len(self.names) % 2 == 0:
            self.one.add(x)
        else:
            self.other.add(x * 2)


def running(x: Tensor) -> tuple[Tensor | None, int]:
    state = Mean(0)
    for row in x:
        state.add(row)
        if state.count == 3:
            break
    return state.mean, state.count


def nested(x: Tensor) -> tuple[Tensor | None, Tensor | None, list[str]]:
    both = Both()
    for i in range(x.size(0)):
        both.add(x[i], str(i))
    return both.one.mean, both.other.mean, both.names


def in_loops(x: Tensor) -> Tensor:
    total = torch.zeros(2)
    for i in range(x.size(0)):
        state = Mean(i)
        state.add(x[i])
        if i > 1:
            state.add(x[0])
        mean = state.mean
        assert mean is not None
        total = total + mean * state.count
    return total


def handed_on(x: Tensor) -> int:
    states: list[Mean] = []
    for i in range(x.size(0)):
        state = Mean(i)
        states.append(state)
    states[0].add(x[0])
    return states[0].count + states[-1].count


def shared(x: Tensor) -> int:
    state = Mean(0)
    same = state
    if x.size(0) > 2:
        same = Mean(7)
    same.add(x[0])
    return state.count + same.count


def graph_for_running(function: Any) -> Graph:
    inner = torch.jit.script(function)._rushlight_function
    return inline(graph_of(inner), inner.name, CONTEXT, calls_for_running)


def makers(graph: Graph) -> int:
    return sum(node.kind == "prim::CreateObject" for node in graph.all_nodes)


@pytest.mark.parametrize(
    ("function", "left"),
    [(running, 0), (nested, 0), (in_loops, 0), (handed_on, 1), (shared, 2)],
)
def test_objects_that_stay_are_values(function: Any, left: int) -> None:
    graph = graph_for_running(function)
    before = makers(graph)
    assert objects_as_values(graph) == (left < before)
    verify(graph)
    assert makers(graph) == left
    assert not objects_as_values(graph)


@pytest.mark.parametrize("function", [running, nested, in_loops, handed_on, shared])
@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("records", [False, True])
def test_programs_with_objects(function: Any, rows: int, records: bool) -> None:
    x = torch.arange(2.0 * rows).reshape(rows, 2)
    scripted = torch.jit.script(function)
    expected = function(x)
    x.requires_grad_(records)
    found = [scripted(x) for _ in range(3)]
    assert str([detached(each) for each in found]) == str([expected] * 3)


def detached(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(detached, value))
    return value.detach() if isinstance(value, Tensor) else value


def test_gradients_of_what_objects_hold() -> None:
    x = torch.arange(6.0).reshape(3, 2).requires_grad_()
    scripted = torch.jit.script(running)
    for _ in range(4):
        mean, _ = scripted(x)
        x.grad = None
        mean.sum().backward()
        assert torch.allclose(x.grad, torch.full((3, 2), 1 / 3))
