"""Graphs of the operators that functions come down to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.fx.experimental.proxy_tensor import make_fx


def lines(graph: Any) -> list[str]:
    """The lines of a graph's code, without what they drop."""
    return [line.partition(";")[0].strip() for line in graph.code.strip().splitlines()]


def test_operators_arguments_and_constants_are_nodes() -> None:
    outside = torch.ones(3)
    graph = make_fx(lambda x, scale: (x + 1).relu() * outside * scale)(outside + 1, 2.0)
    assert lines(graph) == [
        "def forward(self, x_1, scale_1):",
        "add = torch.ops.aten.add.Tensor(x_1, 1)",
        "relu = torch.ops.aten.relu.default(add)",
        "_tensor_constant0 = self._tensor_constant0",
        "mul = torch.ops.aten.mul.Tensor(relu, _tensor_constant0)",
        "mul_1 = torch.ops.aten.mul.Tensor(mul, 2.0)",
        "return mul_1",
    ]
    assert graph(torch.full((3,), -2.0), 2.0).tolist() == [0, 0, 0]


def test_layers_are_what_they_come_down_to() -> None:
    layer = torch.nn.Linear(3, 2)
    graph = make_fx(layer)(torch.ones(4, 3))
    targets = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    assert targets == ["aten.t.default", "aten.addmm.default"]
    assert [name for name, _ in graph.named_parameters()] == [
        "_param_constant0",
        "_param_constant1",
    ]
    x = torch.randn(4, 3)
    assert torch.equal(graph(x), layer(x))


def test_containers_writes_and_several_results() -> None:
    def parts(xs: list[torch.Tensor]) -> dict[str, Any]:
        joined = torch.cat(xs)
        joined[0] = 5.0
        return {"parts": joined.split(2), "t": xs[0].clone().add_(1).view(-1)}

    graph = make_fx(parts)([torch.zeros(2), torch.zeros(2)])
    given = [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])]
    found, wanted = graph(given), parts(given)
    assert [each.tolist() for each in found["parts"]] == [[5, 2], [3, 4]]
    assert torch.equal(found["t"], wanted["t"])


def test_decompositions_run_in_the_place_of_operators() -> None:
    table = {torch.ops.aten.silu.default: lambda x: x * torch.sigmoid(x)}
    graph = make_fx(torch.nn.functional.silu, table)(torch.ones(3))
    targets = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    assert targets == ["aten.sigmoid.default", "aten.mul.Tensor"]


def test_what_a_graph_would_get_wrong_is_refused() -> None:
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="get value out of a tracing tensor"):
        make_fx(lambda x: x * x.sum().item())(torch.ones(3))
    with pytest.raises(NotImplementedError, match="computes gradients"):
        make_fx(lambda x: torch.autograd.grad(x.sin().sum(), x))(x)
    with pytest.raises(NotImplementedError, match=r"x\.detach\(\)"):
        make_fx(lambda x: (x * 2).data + 1)(torch.ones(3))
    with pytest.raises(NotImplementedError, match="sizes are ints"):
        make_fx(torch.relu, tracing_mode="symbolic")
    with pytest.raises(ValueError, match="Unexpected tracing type: other"):
        make_fx(torch.relu, tracing_mode="other")


@pytest.mark.parametrize(
    "make",
    [
        lambda x: torch.tensor([1.0, 2.0]),
        lambda x: torch.as_tensor([1.0, 2.0]),
        lambda x: torch.as_tensor(np.array([1.0, 2.0], np.float32)),
        lambda x: torch.from_numpy(np.array([1.0, 2.0], np.float32)),
        lambda x: torch.Tensor([1.0, 2.0]),
        lambda x: torch.FloatTensor([1.0, 2.0]),
        lambda x: x.new_tensor([1.0, 2.0]),
    ],
)
def test_tensors_of_data_are_new_in_each_run(make: Callable[[torch.Tensor], torch.Tensor]) -> None:
    graph = make_fx(lambda x: make(x).mul_(2) + x)(torch.zeros(2))
    assert "lift_fresh_copy = torch.ops.aten.lift_fresh_copy.default(_tensor_const" in graph.code
    for _ in range(2):
        assert graph(torch.ones(2)).tolist() == [3, 5]


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
def test_copies_of_tensors_depend_on_them() -> None:
    graph = make_fx(lambda x: torch.tensor(x, dtype=torch.float64) * 2)(torch.zeros(2))
    made = graph(torch.ones(2))
    assert (made.tolist(), made.dtype) == ([2, 2], torch.float64)


def test_parts_named_by_slices_and_tensors_are_in_the_graph() -> None:
    def f(x: Any, i: Any, m: Any) -> Any:
        return x[1:], x[:, i], x[:, m], x[::2]

    given = torch.arange(16.0).reshape(4, 4), torch.tensor([0, 1]), torch.tensor([True, False] * 2)
    made = make_fx(f)(*given)
    assert "slice.Tensor(x_1, 0, 1, 9223372036854775807)" in made.code
    assert "slice.Tensor(x_1, 0, 0, 9223372036854775807, 2)" in made.code
    assert made.code.count("torch.ops.aten.index.Tensor(x_1, [None, ") == 2
    other = torch.randn(4, 4), *given[1:]
    assert all(map(torch.equal, made(*other), f(*other)))
