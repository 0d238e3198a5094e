"""What is put into lists of tensors stands behind operators that do not see it."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.running.evaluating import CONTEXT
from rushlight.ir.functions.define import graph_of
from rushlight.ir.functions.inline import inline
from rushlight.ir.functions.inlined_sizes import calls_for_running
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.graphs.verify import verify
from rushlight.ir.passes.late_appends import append_late

Tensor = torch.Tensor


def in_loop(x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    states: list[Tensor] = []
    given: list[Tensor] = []
    for _ in range(3):
        x = x + 1
        states.append(x)
        y = torch.tanh(x)
        given.append(y)
        x = x * y
    return states, given


def before_a_read(x: Tensor) -> tuple[int, Tensor]:
    made: list[Tensor] = []
    made.append(x)
    y = x + 1
    count = len(made)
    return count, y * count


def written_behind(x: Tensor) -> list[Tensor]:
    made: list[Tensor] = []
    y = x + 1
    made.append(y.clone())
    y.mul_(2)
    made.append(y)
    return made


def of_a_caller(x: Tensor, made: list[Tensor]) -> Tensor:
    made.append(x)
    return x @ x


def held_elsewhere(x: Tensor) -> tuple[int, Tensor]:
    made: list[Tensor] = []
    by_name = {"a": made}
    made.append(x)
    y = x + 1
    return len(by_name["a"]), y


def put_elsewhere(x: Tensor) -> tuple[int, Tensor]:
    made: list[Tensor] = []
    every: list[list[Tensor]] = []
    every.append(made)
    made.append(x)
    y = x + 1
    return len(every[0]), y


def of_pairs(x: Tensor, n: int) -> list[tuple[Tensor, Tensor]]:
    before: list[tuple[Tensor, Tensor]] = []
    for _ in range(n):
        now: list[tuple[Tensor, Tensor]] = []
        x = x + 1
        y = torch.tanh(x)
        now.append((x, y))
        if n > 2:
            y = y * 2
        now.append((y, x @ x))
        before = now
    return before


def given_on(x: Tensor, n: int) -> int:
    kept: list[Tensor] = []
    count = 0
    for _ in range(n):
        other: list[Tensor] = []
        if n > 1:
            other = kept
        kept.append(x)
        x = x + 1
        count += len(other)
    return count


def order(graph: Graph) -> list[str]:
    names = {"append", "add", "tanh", "mul", "mul_", "len", "matmul", "clone"}
    kinds = [node.kind.removeprefix("aten::") for node in graph.all_nodes]
    return [kind for kind in kinds if kind in names]


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (in_loop, "add tanh mul append append"),
        (before_a_read, "add append len mul"),
        (written_behind, "add clone mul_ append append"),
        (of_a_caller, "append matmul"),
        (held_elsewhere, "append add len"),
        (put_elsewhere, "append append add len"),
        (of_pairs, "add tanh mul matmul append append"),
        (given_on, "append add len add"),
    ],
)
def test_where_appends_stand(function: Any, wanted: str) -> None:
    inner = torch.jit.script(function)._rushlight_function
    graph = inline(graph_of(inner), inner.name, CONTEXT, calls_for_running)
    append_late(graph)
    verify(graph)
    assert order(graph) == wanted.split()


@pytest.mark.parametrize(
    "function", [in_loop, before_a_read, written_behind, held_elsewhere, of_pairs, given_on]
)
def test_results_are_the_same(function: Any) -> None:
    script, x = torch.jit.script(function), torch.tensor([0.5, -1.0])
    given = (x, 3) if function in (of_pairs, given_on) else (x,)
    wanted = function(*given)
    for _ in range(40):
        assert str(script(*given)) == str(wanted)


def test_an_empty_list_is_made_where_it_is_read_first() -> None:
    inner = torch.jit.script(of_pairs)._rushlight_function
    graph = inline(graph_of(inner), inner.name, CONTEXT, calls_for_running)
    append_late(graph)
    kinds = [node.kind for node in graph.all_nodes if "List" in node.kind or "matmul" in node.kind]
    assert kinds == ["prim::ListConstruct", "aten::matmul", "prim::ListConstruct"]


def test_what_fails_leaves_a_callers_list_as_in_python() -> None:
    made: list[Tensor] = []
    with pytest.raises(RuntimeError):
        torch.jit.script(of_a_caller)(torch.ones(2, 3), made)
