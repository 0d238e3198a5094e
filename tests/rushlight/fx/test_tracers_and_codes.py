"""Kept asserts, placeholders with notes, generators of code, copies and what a line raises."""

from __future__ import annotations

import copy
import re
from typing import Any, NamedTuple

import pytest

import rushlight as torch
from rushlight import fx, nn
from rushlight.fx import PH, Proxy
from rushlight.fx._symbolic_trace import PHWithMeta
from rushlight.fx.experimental.rewriter import RewritingTracer
from rushlight.fx.graph import CodeGen

LIMIT = 2


class Checked(nn.Module):
    def forward(self, x: Any, y: int = LIMIT) -> Any:
        assert y == LIMIT, "other"
        return super().extra_repr() or x + y


class Checking(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.below = Checked()
        self.norm = nn.BatchNorm1d(2, affine=False)

    def forward(self, x: Any, y: int) -> Any:
        assert y
        return self.norm(self.below(x, y))


def test_asserts_become_nodes() -> None:
    tracer = RewritingTracer()
    graph = tracer.trace(Checking().eval())
    traced = fx.GraphModule(tracer.root, graph)
    assert [node.name for node in graph.nodes] == "x y _assert eq _assert_1 add norm output".split()
    assert traced(torch.zeros(1, 2), 2).tolist()[0][0] == pytest.approx(2, abs=1e-4)
    with pytest.raises(AssertionError, match="other"):
        traced(torch.zeros(1, 2), 3)


def test_asserts_of_closures_become_nodes() -> None:
    least = 1

    def above(x: Any, *, by: int = 0) -> Any:
        assert x > least + by
        return x

    graph = RewritingTracer().trace(above)
    assert [node.name for node in graph.nodes] == ["x", "by", "add", "gt", "_assert", "output"]


def test_annotated_variables_have_their_type() -> None:
    def twice(x: Any) -> Any:
        y: int = x + 1
        return y + y

    node = list(RewritingTracer().trace(twice).nodes)[1]
    assert node.type is int


class Several(nn.Module):
    def forward(self, *args: Any) -> Any:
        return args[0] + args[1]


def test_inputs_of_stars_are_as_many_as_said() -> None:
    traced = fx.symbolic_trace(Several(), (PH, PH))  # type: ignore[arg-type]
    assert [node.name for node in traced.graph.nodes] == ["input_0", "input_1", "add", "output"]
    assert traced(1, 2) == 3


def test_notes_of_inputs_are_attributes_of_their_nodes() -> None:
    traced = fx.symbolic_trace(lambda a: a, {"a": PHWithMeta("key")})
    (node, *_) = traced.graph.nodes
    assert (node.name, node.ph_key, node.meta) == ("a_1", "key", {})  # type: ignore[attr-defined]


class Listed(CodeGen):
    def generate_output(self, output_args: Any) -> str:  # type: ignore[override]
        return f"return list({output_args!r})"


def test_generators_need_not_know_how_values_are_shown() -> None:
    traced = fx.symbolic_trace(lambda a, b: (a, b))
    traced.graph.set_codegen(Listed())
    traced.recompile()
    assert traced(1, 2) == [1, 2]


class Pair(NamedTuple):
    x: Any
    y: Any

    def _custom_fx_repr_fn(self) -> str:
        return "a pair"


def summed(pair: Any) -> Any:
    return pair.x + pair.y[0]


def test_code_makes_named_tuples_though_these_show_themselves_otherwise() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(summed, (Pair(x, [x]),)))
    assert fx.GraphModule(nn.Module(), graph)(2) == 4


def test_copies_of_proxies_have_graphs_of_their_own() -> None:
    traced = fx.symbolic_trace(nn.Sequential(nn.ReLU()))
    node = list(traced.graph.nodes)[1]
    proxy = Proxy(node)
    node.proxy = proxy  # type: ignore[attr-defined]
    made = copy.deepcopy(proxy)
    assert made.node is not node
    assert made.node.name == node.name
    assert made.node.graph is made.tracer.graph is not traced.graph


def test_what_does_something_stays_though_nothing_uses_it() -> None:
    graph = fx.Graph()
    profiler: Any = torch.ops.profiler
    handle = graph.call_function(profiler._record_function_enter_new, ("name",))
    graph.call_function(profiler._record_function_exit._RecordFunction, (handle,))
    graph.output(None)
    assert not graph.eliminate_dead_code()
    assert len(graph.nodes) == 3


def test_the_line_that_raised_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    def product(x: Any) -> Any:
        return torch.dot(x.relu(), torch.ones(5))

    inner = fx.symbolic_trace(product)
    outer = fx.Graph()
    outer.output(outer.call_module("inner", (outer.placeholder("x"),)))
    with pytest.raises(RuntimeError):
        fx.GraphModule({"inner": inner}, outer)(torch.ones(3))
    said = capsys.readouterr().err
    assert said.count("Call using an FX-traced Module, line 7 of the traced Module's") == 1
    assert re.search(r"    dot = torch.dot\(relu, .* = None\n\n~+ <--- HERE\n    return dot", said)
    with pytest.raises(TypeError):
        inner()
    assert capsys.readouterr().err == ""


def test_replicas_have_the_graph() -> None:
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(1, 1)))
    made = traced._replicate_for_data_parallel()
    assert made.graph is not None
    assert torch.equal(made(torch.ones(1)), traced(torch.ones(1)))


class Named(fx.Tracer):
    """A tracer whose `create_proxy` takes what that of older ones took."""

    def create_proxy(  # type: ignore[override]
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Proxy:
        return super().create_proxy(kind, target, args, kwargs, name, type_expr)


class Multiplied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Any) -> Any:
        return x * self.weight


def test_tracer_that_makes_proxies_of_its_own() -> None:
    graph = Named(param_shapes_constant=True).trace(Multiplied())
    assert [node.op for node in graph.nodes] == "placeholder get_attr call_function output".split()
