"""Which calls are inlined: all where a graph is read, no more than pays where it is to run."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.ir.functions.define import graph_of
from rushlight.ir.functions.inlined_sizes import calls_for_running, every_call


def _row(count: int, times: int = 1) -> Any:
    """`count` functions, each of which calls the one before it `times` times."""
    lines = ["def f0(x):\n    return x + 1\n"]
    for number in range(1, count):
        call = f"f{number - 1}(" * times + "x" + ")" * times
        lines.append(f"def f{number}(x):\n    return {call}\n")
    return getattr(torch.jit.CompilationUnit("".join(lines)), f"f{count - 1}")


def _nodes(calls: Any) -> int:
    return sum(sum(counted.values()) for counted in calls.values())


def test_short_rows_of_calls_are_taken_in_whole() -> None:
    graph = graph_of(_row(20)._rushlight_function)
    assert calls_for_running(graph) == every_call(graph)
    assert _nodes(every_call(graph)) == 19


def test_long_rows_of_calls_are_taken_in_by_pieces() -> None:
    last = _row(400)
    graph = graph_of(last._rushlight_function)
    assert 350 < _nodes(calls_for_running(graph)) < _nodes(every_call(graph)) == 399
    assert last(torch.ones(2)).tolist() == [2, 2]


def test_calls_that_double_stay_where_much_has_been_taken_in() -> None:
    last = _row(13, times=2)
    assert last(torch.zeros(1)).item() == 4096
    assert _nodes(calls_for_running(graph_of(last._rushlight_function))) < 24


def test_a_graph_that_would_hold_millions_of_nodes_is_refused() -> None:
    last = _row(40, times=2)
    with pytest.raises(RuntimeError, match="nodes once its calls are inlined") as caught:
        last.inlined_graph  # noqa: B018
    assert caught.value.code == "limit-exceeded"  # type: ignore[attr-defined]


def test_autocast_reaches_through_every_call() -> None:
    unit = torch.jit.CompilationUnit(
        "def f0(x):\n    return x @ x\n"
        + "".join(f"def f{i}(x):\n    return f{i - 1}(x)\n" for i in range(1, 150))
    )

    class Casting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.f = unit.f149

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return self.f(x)

    assert torch.jit.script(Casting())(torch.ones(2, 2)).dtype == torch.bfloat16
