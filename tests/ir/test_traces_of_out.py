"""What `out=` writes is part of a trace."""

from __future__ import annotations

from typing import Any

import rushlight as torch


def kinds(traced: Any) -> list[str]:
    return [node.kind() for node in traced.graph.nodes() if node.kind() != "prim::Constant"]


def test_the_form_with_out_is_traced() -> None:
    traced = torch.jit.trace(
        lambda x, y, out: torch.add(x, y, out=out) * 2,
        (torch.ones(2), torch.ones(2), torch.zeros(2)),
        check_trace=False,
    )
    assert "aten::add(%x, %y, %3, %out" in str(traced.graph)
    out = torch.zeros(2)
    assert traced(torch.ones(2), torch.full((2,), 4.0), out).tolist() == [10, 10]
    assert out.tolist() == [5, 5]


def test_a_tensor_that_takes_another_shape() -> None:
    def places(x: Any) -> Any:
        out = torch.empty(0, dtype=torch.long)
        torch.nonzero(x, out=out)
        return out + 1

    traced = torch.jit.trace(places, (torch.tensor([0, 1, 2]),))
    assert traced(torch.tensor([5, 0, 7, 8])).tolist() == [[1], [3], [4]]


def test_several_results_are_written_by_one_form() -> None:
    def largest(x: Any, values: Any, places: Any) -> Any:
        torch.max(x, 0, out=(values, places))
        return values * places

    given = torch.zeros(2), torch.zeros(2, dtype=torch.long)
    traced = torch.jit.trace(largest, (torch.eye(2), *given), check_trace=False)
    assert kinds(traced) == ["aten::max", "aten::mul"]
    values, places = torch.zeros(2), torch.zeros(2, dtype=torch.long)
    assert traced(torch.tensor([[1.0, 5.0], [3.0, 4.0]]), values, places).tolist() == [3, 0]
    assert values.tolist() == [3, 5]


def test_what_makes_tensors_is_copied() -> None:
    def count(x: Any) -> Any:
        torch.arange(4, out=x)
        return x

    traced = torch.jit.trace(count, (torch.ones(4),), check_trace=False)
    assert kinds(traced)[-1] == "aten::copy_"
    assert traced(torch.ones(4)).tolist() == [0, 1, 2, 3]


def test_a_number_is_added_into_a_tensor() -> None:
    def added(x: Any) -> Any:
        y = x * 2
        torch.add(x, 1, out=y)
        return y

    traced = torch.jit.trace(added, (torch.ones(2),))
    assert traced(torch.zeros(2)).tolist() == [1, 1]
