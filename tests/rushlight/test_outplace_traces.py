"""`trace(_force_outplace=True)`: what was done in place is traced as done in new memory."""

from __future__ import annotations

from typing import Any

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
