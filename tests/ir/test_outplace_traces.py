"""`trace(_force_outplace=True)`: what was done in place is traced as done in new memory."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


def in_place(x: Any) -> Any:
    x.add_(1)
    y = x * 2
    y.mul_(3)
    return y + x


def test_inputs_are_left_alone() -> None:
    traced = torch.jit.trace(in_place, (torch.ones(2),), _force_outplace=True)
    kinds = [n.kind() for n in traced.graph.nodes() if n.kind() != "prim::Constant"]
    assert kinds == ["aten::add", "aten::mul", "aten::mul", "aten::add"]
    given = torch.ones(2)
    assert traced(given).tolist() == [14, 14]
    assert given.tolist() == [1, 1]
    usual = torch.jit.trace(in_place, (torch.ones(2),), check_trace=False)
    usual(given)
    assert given.tolist() == [2, 2]


def by_parts(x: Any) -> Any:
    y = x + 1
    y[0] = 5
    y[1:] = torch.zeros(1)
    y[torch.tensor([2])] = 7.0
    y.view(1, 3)[0, torch.tensor([1])] = 9.0
    return y


@pytest.mark.filterwarnings("ignore:torch.tensor results", "ignore:There are 2 live references")
def test_parts_are_written_where_they_lie() -> None:
    traced = torch.jit.trace(by_parts, (torch.ones(3),), _force_outplace=True, check_trace=False)
    kinds = [n.kind() for n in traced.graph.nodes()]
    assert {"aten::copy_", "aten::index_put", "aten::index_put_"} <= {*kinds}
    given = torch.ones(3)
    assert traced(given).tolist() == by_parts(given).tolist() == [5, 9, 7]
    assert given.tolist() == [1, 1, 1]


def test_copies_are_spread_and_those_into_views_are_warned_of() -> None:
    def whole(x: Any) -> Any:
        made = torch.zeros(x.size())
        made.copy_(x)
        return made

    graph, _ = torch.jit._get_trace_graph(whole, (torch.ones(2),), _force_outplace=True)
    assert "aten::expand_as(%x, %made)" in str(graph)

    def part(x: Any) -> Any:
        x[0] = torch.zeros(2)
        return x

    with pytest.warns(torch.jit.TracerWarning, match=r"operator copy_ \(possibly due to an ass"):
        torch.jit._get_trace_graph(part, (torch.ones(2, 2),), _force_outplace=True)
    with pytest.warns(torch.jit.TracerWarning, match="tracing in-place operator add_. This might"):
        torch.jit._get_trace_graph(
            lambda x: x.view(-1).add_(1), (torch.ones(2, 2),), _force_outplace=True
        )
