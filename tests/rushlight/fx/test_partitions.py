"""Nodes that a back end supports are put together, and become modules below."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import fx, nn
from rushlight.fx.passes.infra.partitioner import CapabilityBasedPartitioner, Partition
from rushlight.fx.passes.operator_support import create_op_support
from rushlight.fx.passes.split_module import split_module
from rushlight.fx.passes.utils import fuser_utils

ADDS = create_op_support(lambda below, node: node.target in (operator.add, torch.ops.aten.view))


def chain(a: Any, b: Any) -> Any:
    first = a + b
    return (first + b).relu() + first


def crossed(a: Any, b: Any) -> Any:
    x, y = a + 1, b + 1.5
    relu_x, relu_y = x.relu(), y.relu()
    return x + relu_y, relu_x + y


def beside(a: Any, b: Any) -> Any:
    return a + 1, b + 1


def parts(a: Any, b: Any) -> Any:
    large, _ = torch.max(a, 0)
    return large + b


def viewed(a: Any, b: Any) -> Any:
    x = torch.ops.aten.view(a, [4]) + 1
    return torch.ops.aten.view(torch.ops.aten.view(x, [2, 2]) + b, [4])


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (chain, ["add_2", "add add_1"]),
        (crossed, ["add_2 add_3", "add add_1"]),
        (beside, ["add add_1"]),
        (parts, ["add"]),
        (viewed, ["view add view_1 add_1 view_2"]),
    ],
)
def test_partitions_have_nothing_between_their_nodes(
    function: Callable[..., Any], names: list[str]
) -> None:
    traced = fx.symbolic_trace(function)
    made = CapabilityBasedPartitioner(traced, ADDS, allows_single_node_partition=True)
    found = made.propose_partitions()
    assert [" ".join(n.name for n in sorted(each.nodes)) for each in found] == names
    given = torch.randn(2, 2), torch.randn(2, 2)
    wanted = function(*given)
    torch.testing.assert_close(made.fuse_partitions(found)(*given), wanted)


def test_what_computes_nothing_is_left_out_at_the_edges() -> None:
    traced = fx.symbolic_trace(viewed)
    views = ["torch.ops.aten.view"]
    made = CapabilityBasedPartitioner(traced, ADDS, non_compute_ops=views)
    found = made.propose_partitions()
    made.remove_bookend_non_compute_ops(found)
    assert [node.name for node in sorted(found[0].nodes)] == ["add", "view_1", "add_1"]


def test_single_nodes_are_left_alone_unless_that_is_wanted() -> None:
    traced = fx.symbolic_trace(chain)
    found = CapabilityBasedPartitioner(traced, ADDS).propose_partitions()
    assert [each.size() for each in found] == [2]
    alone = ["_operator.add"]
    made = CapabilityBasedPartitioner(traced, ADDS, allowed_single_node_partition_ops=alone)
    assert [each.size() for each in made.propose_partitions()] == [1, 2]
    related = CapabilityBasedPartitioner(
        fx.symbolic_trace(beside), ADDS, True, skip_horizontal_fusion=True
    )
    assert [each.size() for each in related.propose_partitions()] == [1, 1]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Any) -> Any:
        y = self.linear(x + self.weight)
        return (y * 2).relu() + y, y


def fused(names: list[str], **options: Any) -> Any:
    traced = fx.symbolic_trace(Net())
    nodes = {node.name: node for node in traced.graph.nodes}
    partition = Partition(0, [nodes[name] for name in names])
    return traced, fuser_utils.fuse_by_partitions(traced, [partition.nodes], **options)


def test_nodes_become_a_module() -> None:
    x = torch.ones(1, 2)
    traced, made = fused(["mul", "weight", "add", "linear"])
    assert made is traced
    assert [node.name for node in made.graph.nodes] == (
        "x fused_0 getitem getitem_1 relu add_1 output".split()
    )
    assert dict(made.fused_0.named_parameters()).keys() == {
        "weight",
        "linear.weight",
        "linear.bias",
    }
    assert "return (linear, mul)" in made.fused_0.code
    y = made(x)[1]
    torch.testing.assert_close(made(x)[0], (y * 2).relu() + y)
    _, other = fused(["relu"], prefix="part_", always_return_tuple=True)
    assert "return (relu,)" in other.part_0.code


def test_what_cannot_become_one_is_refused() -> None:
    with pytest.raises(AssertionError, match="found dependency cycles"):
        fused(["linear", "relu"])
    traced, _ = fused(["relu"])
    other = fx.symbolic_trace(Net())
    with pytest.raises(AssertionError, match="doesn't belong to passed in graph module"):
        fuser_utils.fuse_as_graphmodule(traced, list(other.graph.nodes)[1:2], "name")


def test_parts_have_what_the_graphs_own_module_has() -> None:
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    other = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    made = split_module(traced, other, lambda node: int(node.target == "1"))
    x = torch.ones(1, 2)
    assert torch.equal(made(x), traced(x))
