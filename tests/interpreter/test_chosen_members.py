"""Members of containers that are chosen while a program runs: their calls become branches."""

from __future__ import annotations

from typing import Optional

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.interpreter.running.evaluating import CONTEXT
from rushlight.ir.functions.chosen_members import MOST, call_members
from rushlight.ir.functions.define import graph_of
from rushlight.ir.functions.inline import inline
from rushlight.ir.functions.inlined_sizes import calls_for_running
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.graphs.verify import verify

Tensor = torch.Tensor


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: Tensor) -> Tensor | None:
        pass


class Scaled(nn.Module):
    def __init__(self, by: float) -> None:
        super().__init__()
        self.by = by
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.by


class Positive(nn.Module):
    def forward(self, x: Tensor) -> Optional[Tensor]:  # noqa: UP045
        return x if bool((x > 0).all()) else None


class Failing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x @ x


class Steps(nn.Module):
    def __init__(self, *members: nn.Module) -> None:
        super().__init__()
        self.by_number = nn.ModuleList(members)
        self.by_name = nn.ModuleDict({f"m{at}": each for at, each in enumerate(members)})

    def forward(self, x: Tensor, order: list[int]) -> Tensor:
        for at in order:
            step: Step = self.by_number[at]
            found = step.forward(x)
            x = x - 1 if found is None else found
        return x

    @torch.jit.export
    def named(self, x: Tensor, name: str) -> Tensor | None:
        step: Step = self.by_name[name]
        return step.forward(x)


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Steps(Scaled(2.0), Failing())

    def forward(self, x: Tensor, at: int) -> Tensor:
        return self.inner(x, [0, at])


def running(module: nn.Module, method: str = "forward") -> Graph:
    """The graph that runs."""
    script = torch.jit.script(module)
    function = script._c._get_method(method)._rushlight_function
    graph = inline(graph_of(function), method, CONTEXT, calls_for_running)
    call_members(graph, method, CONTEXT)
    verify(graph)
    return graph


def made() -> Steps:
    return Steps(Scaled(2.0), Positive(), Scaled(-3.0))


def test_members_are_called_in_order() -> None:
    script, x = torch.jit.script(made()), torch.ones(2)
    for _ in range(40):
        assert script(x, [0, 0, 1, 2, 1]).tolist() == [-13.0, -13.0]
        assert script.named(x, "m2").tolist() == [-3.0, -3.0]
        assert script.named(-x, "m1") is None
        assert script.named(x, "m1") is x
    assert [script.by_number[at].calls for at in (0, 2)] == [80, 40]


@pytest.mark.parametrize("method", ["forward", "named"])
def test_all_is_inlined(method: str) -> None:
    kinds = {node.kind for node in running(made(), method).all_nodes}
    assert kinds.isdisjoint({"prim::ModuleContainerIndex", "prim::CallMethod"})


def test_of_many_members_or_one_the_calls_stay() -> None:
    for count in (1, MOST + 1):
        module = Steps(*[Scaled(float(at)) for at in range(count)])
        kinds = {node.kind for node in running(module).all_nodes}
        assert {"prim::ModuleContainerIndex", "prim::CallMethod"} <= kinds
        last = torch.jit.script(module)(torch.ones(1), [count - 1])
        assert last.item() == count - 1


def test_keys_that_are_not_there() -> None:
    script, x = torch.jit.script(made()), torch.ones(2)
    with pytest.raises(RuntimeError, match="list index out of range"):
        script(x, [3])
    with pytest.raises(RuntimeError, match="KeyError: m3"):
        script.named(x, "m3")


def test_an_error_tells_the_way_through_the_calls() -> None:
    script = torch.jit.script(Outer())
    assert script(torch.ones(1, 1), 0).item() == 4.0
    with pytest.raises(RuntimeError) as failed:
        script(torch.ones(2, 3), 1)
    text = str(failed.value)
    lines = ("return self.inner(x, [0, at])", "found = step.forward(x)", "return x @ x")
    places = [text.index(line) for line in lines]
    assert places == sorted(places)


def test_a_members_place_is_told_from_the_root() -> None:
    graph = running(Outer())
    paths = {
        ".".join(site.module for site in node.call_stack if site.module)
        for node in graph.all_nodes
        if node.kind == "aten::matmul"
    }
    assert paths == {"inner.by_number.1"}
