"""GraphModules are scripted, saved, changed by passes and run."""

from __future__ import annotations

import copy
import gc
import inspect
import io
import linecache
import operator
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import fx, nn
from rushlight.fx.experimental import const_fold, normalize, optimization, proxy_tensor
from rushlight.fx.passes import pass_manager, tools_common
from rushlight.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops
from rushlight.fx.passes.infra.pass_base import PassResult
from rushlight.fx.passes.infra.pass_manager import (
    PassManager,
    pass_result_wrapper,
    this_before_that_pass_constraint,
)
from rushlight.fx.passes.param_fetch import extract_attrs_for_lowering
from rushlight.fx.passes.shape_prop import ShapeProp
from rushlight.fx.passes.utils.matcher_utils import SubgraphMatcher
from rushlight.nn import functional


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.layers = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout())

    def forward(self, x: Any, y: Any) -> Any:
        first, second = torch.split(self.linear(x), 1, dim=1)
        return functional.relu(torch.cat([first, second], 1)) + 1, self.layers(y).mean([2, 3])


Net.forward.__annotations__.clear()  # texts, which scripts of generated code cannot read
INPUTS = torch.ones(3, 2), torch.rand(1, 1, 5, 5)


@pytest.fixture
def net() -> Net:
    made = Net().eval()
    made.layers[1].running_mean.fill_(0.5)
    return made


def same(left: Any, right: Any) -> bool:
    return all(torch.allclose(a, b) for a, b in zip(left, right, strict=True))


def test_a_traced_module_is_scripted_and_saved_in_both_ways(net: Net) -> None:
    traced = fx.symbolic_trace(net)
    scripted = torch.jit.script(traced)
    assert "torch.nn.functional.relu(cat, False, )" in scripted.code
    archive, pickled = io.BytesIO(), io.BytesIO()
    torch.jit.save(scripted, archive)
    torch.save(traced, pickled)
    archive.seek(0)
    pickled.seek(0)
    loaded = torch.load(pickled, weights_only=False)
    assert loaded.code == traced.code
    for each in (traced, scripted, torch.jit.load(archive), loaded):
        assert same(each(*INPUTS), net(*INPUTS))


def test_layers_are_fused_and_dropouts_removed(net: Net) -> None:
    fused = optimization.fuse(net)
    lean = optimization.optimize_for_inference(net)
    assert [node.name for node in fused.graph.nodes if "layers" in node.name] == [
        *("layers_0", "layers_2"),
    ]
    assert "layers_2" not in lean.code
    assert same(fused(*INPUTS), net(*INPUTS))
    assert same(lean(*INPUTS), net(*INPUTS))
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        optimization.fuse(Net())


def test_shapes_are_noted_and_told(net: Net) -> None:
    traced = fx.symbolic_trace(net)
    ShapeProp(traced).propagate(*INPUTS)
    assert 'mean: "f32[1, 2]" = ' in traced.print_readable(print_output=False)
    wrong = fx.symbolic_trace(lambda x: torch.add(x, torch.ones(3)))
    with pytest.raises(RuntimeError, match="ShapeProp error for: node=%add") as raised:
        ShapeProp(wrong).propagate(torch.ones(2))
    assert "While executing %add" in str(raised.value)


def test_constants_are_computed_once() -> None:
    class Constants(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = (nn.Parameter(torch.ones(2)) for _ in range(2))

        def forward(self, x: Any) -> Any:
            return x - (self.a + self.b)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folded = const_fold.split_const_subgraphs(Constants())
    assert "+" not in folded.code
    assert folded(torch.ones(2)).tolist() == [-1, -1]


def test_several_constants_keep_what_is_noted_of_them() -> None:
    class Constants(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = (nn.Parameter(torch.ones(2)) for _ in range(2))

        def forward(self, x: Any) -> Any:
            return x - (self.a + self.a) * self.b.sin().cos().relu() + x * (self.b + 1)

    traced = fx.symbolic_trace(Constants())
    for node in traced.graph.nodes:
        node.meta["said"] = node.name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folded = const_fold.split_const_subgraphs(traced)
    read = [n.meta["said"] for n in folded.graph.nodes if n.target is operator.getitem]
    assert read == ["mul", "add_1"]
    assert torch.equal(folded(torch.ones(2)), traced(torch.ones(2)))


def test_passes_run_in_an_order_that_constraints_allow() -> None:
    def first(module: Any) -> PassResult:
        return PassResult(module, False)

    def second(module: Any) -> None:
        for node in module.graph.nodes:
            if node.target is operator.add:
                node.target = operator.sub

    manager = PassManager([pass_result_wrapper(second), first])
    manager.add_constraint(this_before_that_pass_constraint(first, manager.passes[0]))
    result = manager(fx.symbolic_trace(lambda x: x + 1))
    assert [each.__name__ for each in manager.passes] == ["first", "second"]
    assert result.modified
    assert "x - 1" in result.graph_module.code
    with pytest.raises(Exception, match="running the 'second' pass after the following passes"):
        PassManager([second])(fx.symbolic_trace(lambda x: x + 1))
    assert pass_manager.loop_pass(lambda x: x + 1, n_iter=3)(1) == 4


def test_graphs_are_put_in_order_and_lose_what_is_computed_twice() -> None:
    traced = fx.symbolic_trace(lambda x: (x + 1) * (x + 1))
    x, add = list(traced.graph.nodes)[:2]
    add.append(x)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        traced.graph.lint()
    tools_common.legalize_graph(traced).graph.lint()
    result = CSEPass()(traced)
    assert result is not None
    assert result.graph_module.code.count("+") == 1
    assert traced.code.count("+") == 2
    drawn = proxy_tensor.make_fx(lambda x: x.cos() + x.cos() + torch.rand_like(x))
    module = drawn(torch.ones(2))
    result = CSEPass(banned_ops=get_CSE_banned_ops())(module)
    assert result is not None
    assert (result.modified, len(result.graph_module.graph.nodes)) == (True, 6)
    assert torch.ops.aten.rand_like in get_CSE_banned_ops()
    assert torch.ops.aten.add_ in get_CSE_banned_ops()
    assert torch.ops.aten.cos not in get_CSE_banned_ops()


def test_arguments_take_their_normal_form() -> None:
    traced = fx.symbolic_trace(lambda x: functional.relu(torch.flatten(x, 1)))
    code = normalize.NormalizeArgs(traced).transform().code
    assert "torch.flatten(input = x, start_dim = 1, end_dim = -1)" in code
    assert "relu(input = flatten, inplace = False)" in code
    add = next(n for n in fx.symbolic_trace(lambda x: torch.add(x, x)).graph.nodes if n.args)
    with pytest.raises(RuntimeError, match="schema match was ambiguous"):
        add.normalized_arguments(nn.Module())
    both = add.normalized_arguments(nn.Module(), (torch.Tensor, torch.Tensor), None, True)
    assert [*both.kwargs] == ["input", "other", "alpha"]


def test_what_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="make_fx"):
        proxy_tensor.make_fx(lambda x: x, tracing_mode="symbolic")
    with pytest.raises(RuntimeError, match="not in the module_fetch_book"):
        extract_attrs_for_lowering(nn.LSTM(1, 1))


def test_annotations_survive_pickling() -> None:
    class Typed(nn.Module):
        def forward(self, x, y=None, z=None):  # type: ignore[no-untyped-def]
            return x + 1

    found = {"x": torch.Tensor, "y": int | None, "z": list[int] | None}
    Typed.forward.__annotations__.update(found)
    traced = fx.symbolic_trace(Typed())
    line = "x : torch.Tensor, y : int|NoneType = None, z : list[int]|NoneType = None):\n"
    assert line in traced.code
    assert pickle.loads(pickle.dumps(traced)).code == traced.code


def test_tracers_can_be_copied() -> None:
    tracer = fx.Tracer()
    empty = copy.deepcopy(tracer)
    tracer.trace(lambda x: x + 1)
    full = copy.deepcopy(tracer)
    assert not hasattr(empty, "graph")
    assert full.graph is not tracer.graph
    assert str(full.graph) == str(tracer.graph)


def test_operands_in_a_list_are_recorded_as_torch_does() -> None:
    def called(function: Callable[..., object]) -> tuple[list[str], object]:
        graph = fx.symbolic_trace(function).graph
        node = next(node for node in graph.nodes if node.op == "call_function")
        return [str(each) for each in node.args], node.kwargs

    flat = (["i,i->", "a", "b"], {})
    assert called(lambda a, b: torch.einsum("i,i->", (a, b))) == flat
    assert called(lambda a, b: torch.einsum("i,i->", [a, b])) == flat
    assert called(lambda a, b: torch.meshgrid([a, b])) == (["[a, b]"], {})
    assert called(lambda a, b: torch.meshgrid(a, b)) == (["a", "b"], {"indexing": None})


def test_sources_are_let_go_with_their_modules() -> None:
    def sources() -> set[str]:
        gc.collect()
        return {name for name in linecache.cache if name.startswith("<eval_with_key>")}

    before = sources()
    made = fx.symbolic_trace(nn.Linear(2, 3))
    assert len(sources() - before) > 0
    assert "def forward" in inspect.getsource(made.forward)
    del made
    assert sources() == before


def test_functions_of_one_name_stay_apart() -> None:
    def adding(number: int) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            return x + number

        return function

    graph, one = fx.Graph(), adding(1)
    x = graph.placeholder("x")
    for each in (one, adding(10), one):
        x = graph.call_function(each, (x,))
    graph.output(x)
    made = fx.GraphModule(nn.Module(), graph)
    assert made(torch.zeros(1)).item() == 12
    assert made.code.count("function(") == 2


@pytest.mark.parametrize(
    ("arg", "most", "text"),
    [
        ([1, 2, 3], 2, "[1, 2, ...[total_len=3]]"),
        ([1, 2, 3], 3, "[1, 2, 3]"),
        ((1, 2, 3), 1, "(1, ...[total_len=3])"),
        ((1,), 1, "(1,)"),
    ],
)
def test_long_arguments_are_cut(arg: Any, most: int, text: str) -> None:
    assert fx.node._format_arg(arg, most) == text


def test_places_with_something_between_their_nodes_are_no_match() -> None:
    def pattern(a: Any, b: Any) -> Any:
        first = a.relu()
        return first, first * b

    def between(x: Any) -> Any:
        first = x.relu()
        return first * first.sigmoid()

    def beside(x: Any, y: Any) -> Any:
        first = x.relu()
        return first.sigmoid(), first * y

    matcher = SubgraphMatcher(fx.symbolic_trace(pattern).graph)
    assert [len(matcher.match(fx.symbolic_trace(f).graph)) for f in (between, beside)] == [0, 1]


def count(pattern: Any, function: Any) -> int:
    """How many places of a function's graph look like a pattern."""
    matcher = SubgraphMatcher(fx.symbolic_trace(pattern).graph)
    return len(matcher.match(fx.symbolic_trace(function).graph))


def test_arguments_of_overloads_that_are_left_out_are_those_by_default() -> None:
    pool = torch.ops.aten.max_pool2d_with_indices.default

    def pattern(x: Any, size: Any, stride: Any) -> Any:
        return pool(x, size, stride, padding=[0, 0])

    assert count(pattern, lambda x: pool(x, [2, 2], stride=[2, 2])) == 1
    assert count(pattern, lambda x: pool(x, [2, 2], [2, 2], [0, 0], [1, 1])) == 1
    assert count(pattern, lambda x: pool(x, [2, 2], [2, 2], [1, 1])) == 0
    add = torch.ops.aten.add.Tensor
    assert count(lambda x, y: add(x, y), lambda x, y: add(x, other=y, alpha=1)) == 1
    assert count(lambda x, y: add(x, y, alpha=2), lambda x, y: add(x, y)) == 0
    fold = torch.ops.aten.sum.dim_IntList
    assert count(lambda x, dim: fold(x, dim, False), lambda x: fold(x, [1])) == 1


def test_arguments_of_other_functions_are_given_alike() -> None:
    assert count(lambda x, y: torch.add(x, y), lambda x, y: torch.add(x, y)) == 1
    assert count(lambda x, y: torch.add(x, y), lambda x, y: torch.add(x, other=y)) == 0
    assert count(lambda x, y: torch.add(x, y, alpha=1), lambda x, y: torch.add(x, y)) == 0


def test_a_node_stands_for_one_of_a_pattern() -> None:
    assert count(lambda x, y: torch.add(x, y), lambda x: torch.add(x, x)) == 0
    assert count(lambda x: torch.add(x, x), lambda x: torch.add(x, x)) == 1


def test_copies_keep_the_attributes_that_a_module_says_are_its_users() -> None:
    key = fx.graph_module._USER_PRESERVED_ATTRIBUTES_KEY
    traced = fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    traced.meta[key] = {"sizes": [2, 3]}
    copied = copy.deepcopy(traced)
    assert copied.sizes == copied.meta[key]["sizes"] == [2, 3]
