"""Passes that put nodes together: groups, products of matrices, activations in place."""

from __future__ import annotations

import io

import pytest
from ir_support import CONTEXT, graph_from

import rushlight as torch
from rushlight._C import ScriptFunction
from rushlight.ir.functions.graph_functions import function_of_graph
from rushlight.ir.graphs.clone import clone_graph
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.graphs.verify import verify
from rushlight.ir.passes.activations import write_activations, write_no_activations
from rushlight.ir.passes.batched_products import batch_products
from rushlight.ir.passes.differentiable_groups import differentiate_in_groups
from rushlight.ir.passes.groups import open_groups
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE

GROUP = "prim::DifferentiableGraph"


def kinds(graph: Graph) -> list[str]:
    return [node.kind for node in graph.all_nodes if not node.is_constant]


def of(body: str, inputs: str = "x: torch.Tensor, y: torch.Tensor, n: int") -> Graph:
    lines = "\n    ".join(body.split("; "))
    return clone_graph(graph_from(f"def f({inputs}):\n    {lines}"))


@pytest.mark.parametrize(
    ("body", "fewest", "groups"),
    [
        ("a = x * y; b = a.tanh(); return b", 2, [["aten::mul", "aten::tanh"]]),
        ("return x.tanh()", 2, []),
        ("return x.tanh()", 1, [["aten::tanh"]]),
        ("return x.tanh(), y.exp()", 1, [["aten::tanh"], ["aten::exp"]]),
        # what one result goes to may lie between, if nothing there reads what is moved
        (
            "a = x * y; b = torch.ones([n]); return a * b",
            2,
            [["aten::mul", "aten::mul"]],
        ),
        ("a = x * y; b = torch.ones([int(a)]); return a * b", 1, [["aten::mul"]] * 2),
        ("a = x.exp(); x.add_(1); return a * x", 1, [["aten::exp"], ["aten::mul"]]),
        # views stay outside where their memory is seen in another way as well
        ("a = x.exp().t(); return a", 2, [["aten::exp", "aten::t"]]),
        ("a = x.exp(); return a, a.t()", 1, [["aten::exp"]]),
        ("a = x.exp(); b = a.t(); return a, b, b.exp()", 1, [["aten::exp"]]),
        ("return x.t().exp()", 1, [["aten::exp", "aten::t"]]),
        ("return torch.dropout(x, 0.5, True)", 1, [["aten::dropout"]]),
        ("return torch.dropout(x, 0.5, False)", 1, []),
        ("return x.reshape([2, -1])", 1, []),
        ("if n > 1:;     x = x.exp().tanh(); return x", 2, [["aten::exp", "aten::tanh"]]),
        ("a = x * y; b = a.exp(); c = a.tanh(); return b + c, b", 2, [None]),
    ],
)
def test_what_is_differentiated_together_is_a_node(
    body: str, fewest: int, groups: list[list[str] | None]
) -> None:
    graph = of(body)
    before = clone_graph(graph)
    assert differentiate_in_groups(graph, fewest) == bool(groups)
    verify(graph)
    made = [node.attributes["Subgraph"] for node in graph.all_nodes if node.kind == GROUP]
    assert len(made) == len(groups)
    for inner, wanted in zip(made, groups, strict=True):
        assert isinstance(inner, Graph)
        verify(inner)
        assert wanted is None or sorted(kinds(inner)) == wanted
    assert open_groups(graph) == bool(groups)
    verify(graph)
    assert sorted(kinds(graph)) == sorted(kinds(before))


def test_graphs_with_groups_run_print_and_show_what_wants_gradients() -> None:
    @torch.jit.script
    def f(x: torch.Tensor) -> torch.Tensor:
        return (x * 2).tanh()

    x = torch.rand(3, requires_grad=True)
    expected = f(x)
    assert GROUP not in str(f.graph_for(x.detach()))
    shown = f.graph_for(x)
    assert f"with {GROUP}_0 = graph(" in str(shown)
    assert GROUP not in str(f.graph)
    torch._C._jit_pass_create_autodiff_subgraphs(f.graph)
    f._debug_flush_compilation_cache()
    assert GROUP in str(f.graph)
    assert f(x).tolist() == expected.tolist()
    assert GROUP in kinds(parse_ir(str(shown), table=TABLE))
    with pytest.raises(RuntimeError, match=f"{GROUP} has no form in code"):
        torch.jit.save(f, io.BytesIO())


MATRICES = "a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, n: int"
FOUR = "torch.mm(a, b) + torch.mm(c, b) + torch.mm(c, b) + torch.mm(a, b)"
EIGHT = ", ".join(["torch.mm(a, b)", "torch.mm(a, c)"] * 4)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (f"return {FOUR}", ["prim::MMTreeReduce"]),
        (f"x = {FOUR}; return x + {FOUR}", ["prim::MMTreeReduce"]),
        ("return torch.mm(a, b) + torch.mm(c, b)", ["aten::mm"] * 2),
        (f"c.relu_(); return {FOUR}", ["aten::mm"] * 4),
        (f"return torch.add({FOUR}, torch.mm(a, b), alpha=2)", ["prim::MMTreeReduce", "aten::mm"]),
        (f"if n > 1:;     return {FOUR}; return a", ["prim::MMTreeReduce"]),
        (f"return [{EIGHT}]", ["prim::MMBatchSide"]),
        (f"a.relu_(); return [{EIGHT}]", ["aten::mm"] * 8),
        (
            f"return [{EIGHT.replace('a, b', 'b, a').replace('a, c', 'c, a')}]",
            ["prim::MMBatchSide"],
        ),
        (
            f"d = torch.mm(a, b); return [{EIGHT}, torch.mm(a, d)]",
            ["prim::MMBatchSide", "aten::mm"],
        ),
    ],
)
def test_products_are_computed_together(body: str, wanted: list[str]) -> None:
    graph = of(body, MATRICES)
    before = clone_graph(graph)
    assert batch_products(graph, CONTEXT) == ("prim" in wanted[0])
    verify(graph)
    assert [k for k in kinds(graph) if "mm" in k or "MM" in k] == wanted
    if ".relu_" not in body:
        _agree(before, graph)


def _agree(one: Graph, other: Graph) -> None:
    a = torch.arange(9.0).reshape(3, 3) / 7
    given = (a, a + 1, a.flip(0).contiguous(), 2)
    for x, y in zip(_results(one, *given), _results(other, *given), strict=True):
        assert torch.allclose(x, y)


def _results(graph: Graph, *given: object) -> list[torch.Tensor]:
    result = ScriptFunction(function_of_graph("f", clone_graph(graph)))(*given)
    return result if isinstance(result, list) else [result]


def test_products_of_different_sizes_are_computed_one_by_one() -> None:
    graph = of(f"return {FOUR.replace('torch.mm(c, b)', 'torch.mm(a, c)')}", MATRICES)
    a, b, c = torch.rand(2, 3), torch.rand(3, 2), torch.rand(3, 1)
    expected = 2 * (a @ b) + 2 * (a @ c)
    assert batch_products(graph, CONTEXT)
    assert torch.allclose(_results(graph, a, b, c, 0)[0], expected)


@pytest.mark.parametrize(
    ("body", "in_place"),
    [
        ("z = x + 1; return z.relu()", True),
        ("z = x + 1; return torch.celu(z)", True),
        ("return x.relu()", False),
        ("return x[0].relu()", False),
        ("z = x + 1; return z.relu() + z", False),
        ("z = x + 1; v = z.view([-1]); return z.relu().sum() + v.sum()", False),
        ("z = x + 1; v = z.view([-1]); s = v.sum(); return z.relu() + s", True),
        ("z = x + 1; l = [z]; return z.relu(), l", False),
        ("z = x + 1; return z.sigmoid()", False),
        ("z = x.expand([3, 3]); return z.relu()", False),
        ("z = x + 1; for i in range(n):;     x = x + z.relu(); return x", False),
    ],
)
def test_activations_write_what_nobody_reads_later(body: str, in_place: bool) -> None:
    scripted = of(body)
    assert write_activations(scripted, CONTEXT) == in_place
    verify(scripted)
    names = ("aten::relu_", "aten::celu_")
    assert any(kind in names for kind in kinds(scripted)) == in_place
    undone = write_no_activations(scripted, CONTEXT)
    verify(scripted)
    assert undone == in_place or "view" in body  # which would have been told of the change
    assert any(kind in names for kind in kinds(scripted)) == (in_place and not undone)
