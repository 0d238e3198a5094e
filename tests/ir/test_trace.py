"""Tracing: graphs and code as PyTorch writes them (recorded), results, warnings and refusals."""

from __future__ import annotations

import gc
import io
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.ops.tensors.tracing import ACTIVE

_RECORDED = json.loads(Path(__file__).with_name("traces.json").read_text(encoding="utf-8"))


def _program(name: str, folder: Path) -> tuple[Any, tuple[Any, ...]]:
    source = _RECORDED[name]["source"]
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    names: dict[str, Any] = {"torch": torch, "__name__": "__main__"}
    exec(compile(source, str(path), "exec"), names)
    return names["f"], names["inputs"]


def _clean(text: object) -> list[str]:
    bare = re.sub(r" # .*", "", str(text))
    return re.sub(r"___torch_mangle_\d+\.", "", bare).splitlines()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", _RECORDED)
def test_graph_and_code_are_torchs(name: str, tmp_path: Path) -> None:
    function, inputs = _program(name, tmp_path)
    traced = torch.jit.trace(function, inputs)
    wanted = _RECORDED[name]
    assert _clean(traced.code) == wanted["code"]
    assert _clean(traced.graph) == wanted["graph"]
    if "inlined" in wanted:
        assert _clean(traced.inlined_graph) == wanted["inlined"]
    assert not ACTIVE


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for each in value for leaf in _leaves(each)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", _RECORDED)
def test_saved_traces_compute_the_same(name: str, tmp_path: Path) -> None:
    function, inputs = _program(name, tmp_path)
    traced = torch.jit.trace(function, inputs)
    buffer = io.BytesIO()
    torch.jit.save(traced, buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    for wanted, *found in zip(
        _leaves(function(*inputs)),
        _leaves(traced(*inputs)),
        _leaves(loaded(*inputs)),
        strict=True,
    ):
        assert all(torch.equal(wanted, each) for each in found)


def test_sizes_are_not_fixed() -> None:
    traced = torch.jit.trace(lambda x: x.view(x.shape[0] * x.shape[1]), (torch.ones(2, 3),))
    assert traced(torch.ones(4, 5)).shape == (20,)


def test_modules_keep_their_hierarchy() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    traced = torch.jit.trace(net, torch.ones(1, 2))
    assert type(traced) is torch.jit.TopLevelTracedModule
    assert [n for n, _ in traced.named_parameters()] == ["0.weight", "0.bias"]
    assert "original_name=Linear" in repr(traced)
    net[0].bias.data.fill_(3.0)
    assert torch.equal(traced(torch.zeros(1, 2)), net(torch.zeros(1, 2)))


def test_several_methods() -> None:
    class Both(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x + 1

        def twice(self, x: Any) -> Any:
            return x * 2

    given = {"forward": torch.ones(1), "twice": torch.ones(1)}
    traced = torch.jit.trace_module(Both(), given)
    assert (traced(torch.ones(1)).item(), traced.twice(torch.ones(1)).item()) == (2.0, 2.0)


def test_conversions_to_python_are_warned_of() -> None:
    def branches(x: Any) -> Any:
        return x if x.sum() > 0 else -x

    with pytest.warns(torch.jit.TracerWarning, match="Converting a tensor to a Python boolean"):
        torch.jit.trace(branches, (torch.ones(1),))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.jit.trace(lambda x: x + 1, (torch.ones(1),))


def _constant_that_needs_gradients() -> Any:
    weight = torch.ones(2, requires_grad=True)
    return lambda x: x + weight


@pytest.mark.parametrize(
    ("function", "inputs", "words"),
    [
        (lambda x, n: x + n, (torch.ones(1), 3), r"Type 'Tuple\[Tensor, int\]' cannot be traced"),
        (lambda x: 3, (torch.ones(1),), "Only tensors, lists, tuples of tensors"),
        (lambda x: None, (torch.ones(1),), "didn't return any values"),
        (lambda x: {"a": x}, (torch.ones(1),), "Encountering a dict at the output"),
        (
            lambda x: (x, torch.arange(2)[1:].data),
            (torch.ones(1),),
            r"output 1 \( 1\n\[ torch\.LongTensor\{1\} \]\) of traced region did not have ",
        ),
        (lambda x: torch.nn.Parameter(x.data), (torch.ones(1),), "requires grad as a constant"),
        (
            _constant_that_needs_gradients(),
            (torch.ones(2),),
            r"(?s)Cannot insert a Tensor.*\nTensor:\n 1\n 1\n\[ torch\.FloatTensor\{2\} \]$",
        ),
    ],
)
def test_refusals(function: Any, inputs: Any, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        torch.jit.trace(function, inputs)
    assert not ACTIVE


def test_a_program_that_changes_is_found_out() -> None:
    calls = [0]

    def function(x: Any) -> Any:
        calls[0] += 1
        return x + calls[0]

    with (
        pytest.warns(torch.jit.TracerWarning, match="does not match"),
        pytest.raises(torch.jit.TracingCheckError, match="Tracing failed sanity checks"),
    ):
        torch.jit.trace(function, (torch.ones(1),))


def test_arguments_by_name() -> None:
    given = {"x": torch.ones(1), "y": torch.zeros(1)}
    traced = torch.jit.trace(lambda x, y: x - y, example_kwarg_inputs=given)
    assert traced(y=torch.ones(1), x=torch.ones(1)).item() == 0.0


def test_graph_with_parameters_as_inputs() -> None:
    graph, result = torch.jit._get_trace_graph(torch.nn.Linear(2, 3), torch.ones(1, 2))
    assert len(list(graph.inputs())) == 3
    assert result.shape == (1, 3)


def test_gradients_through_a_trace() -> None:
    traced = torch.jit.trace(lambda x: (x * x).sum(), (torch.ones(2),))
    x = torch.ones(2, requires_grad=True)
    traced(x).backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_sizes_as_numbers_are_read_in_every_trace() -> None:
    def counts(x: Tensor) -> Tensor:
        return torch.arange(x.shape[0])

    for _ in range(2):
        traced = torch.jit.trace(counts, torch.ones(5, 3))
        assert traced(torch.ones(7, 1)).tolist() == list(range(7))
        assert traced(torch.ones(7, 1)).dtype is torch.int64


def test_detaching_in_place_is_written_down() -> None:
    def product(x: Tensor, w: Tensor) -> Tensor:
        y = x @ w
        y.detach_()
        return y

    traced = torch.jit.trace(product, (torch.ones(3, 4), torch.ones(4, 5)))
    result = traced(torch.ones(3, 4), torch.ones(4, 5, requires_grad=True))
    assert not result.requires_grad
    assert [n.kind() for n in traced.graph.nodes()] == ["aten::matmul", "aten::detach"]


def test_moves_keep_the_dtype_of_the_example() -> None:
    for move in (lambda x: x.cpu(), lambda x: x.to("cpu")):
        (node,) = torch.jit.trace(move, torch.ones(2)).graph.findAllNodes("aten::to")
        given = [value.toIValue() for value in list(node.inputs())[1:]]
        assert given == [6, 0, torch.device("cpu"), None, False, False, None]


def test_state_methods_of_traced_modules() -> None:
    class Keeps(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = 3

        @torch.jit.export
        def __getstate__(self):
            return (3, self.training)

        @torch.jit.export
        def __setstate__(self, state):
            self.a = state[0]
            self.training = state[1]

        def forward(self, x: Tensor) -> Tensor:
            return x + self.a

    traced = torch.jit.trace(Keeps(), torch.ones(2))
    assert traced._c._method_names() == ["__getstate__", "__setstate__", "forward"]
    assert traced(torch.ones(2)).tolist() == [4.0, 4.0]
    file = io.BytesIO()
    torch.jit.save(traced, file)
    file.seek(0)
    assert torch.jit.load(file)(torch.ones(2)).tolist() == [4.0, 4.0]


def test_inputs_of_trace_graphs() -> None:
    class Shares(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.b = self.a = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: Tensor) -> Tensor:
            return x * self.a + self.b

    graph, _, inputs = torch.jit._get_trace_graph(Shares(), (torch.ones(2),), return_inputs=True)
    assert len(list(graph.inputs())) == len(inputs) == 2


def test_an_index_is_no_reason_to_warn(recwarn: pytest.WarningsRecorder) -> None:
    torch.jit.trace(lambda x: x + [1, 2][x], torch.tensor([1]), check_trace=False)
    assert not recwarn.list


def test_compiled_modules_outside_the_caller() -> None:
    traced = torch.jit.trace(torch.nn.ReLU(), torch.ones(2))

    def calls(x: Tensor) -> Tensor:
        return traced(x) + 1

    with pytest.raises(RuntimeError, match="Cannot call a ScriptModule that is not a submodule"):
        torch.jit.script(calls)


def test_dictionaries_of_tensors_by_tensors() -> None:
    def swapped(x: Tensor, y: Tensor) -> dict[Tensor, Tensor]:
        return {x: y, y: x}

    x, y = torch.ones(2), torch.zeros(2)
    traced = torch.jit.trace(swapped, (x, y), strict=False, check_trace=False)
    assert [t.tolist() for t in traced(x, y).values()] == [[0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize("train", [False, True])
def test_dropout_is_traced_as_such_where_gradients_are_recorded(train: bool) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.25)).train(train)
    traced = torch.jit.trace(net, torch.ones(1, 2), check_trace=not train)
    kinds = [node.kind() for node in traced.inlined_graph.nodes()]
    assert kinds.count("aten::dropout") == 1
    assert not {"aten::mul", "aten::bernoulli_", "aten::native_dropout"} & set(kinds)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64])
def test_numbers_in_traces_do_not_widen_what_has_no_dimensions(dtype: torch.dtype) -> None:
    x = torch.tensor(4, dtype=dtype)
    wide = torch.tensor(2.0, dtype=torch.float64)

    def on_the_right(x: Tensor) -> tuple[Tensor, ...]:
        return x - 0.5, torch.add(x, 0.5, alpha=2), x * wide, x / wide

    def elsewhere(x: Tensor) -> tuple[Tensor, ...]:
        return wide * x, torch.remainder(x, wide), wide - x, x * torch.ones([1]).double()

    def loaded(function: Any) -> Any:
        archive = io.BytesIO()
        torch.jit.save(function, archive)
        archive.seek(0)
        return torch.jit.load(archive)

    traced = torch.jit.trace(on_the_right, x, check_trace=False)
    others = torch.jit.trace(elsewhere, x, check_trace=False)
    narrow = torch.float32 if dtype is torch.int64 else dtype
    for called, other in ((traced, others), (loaded(traced), loaded(others))):
        assert [y.dtype for y in called(x)] == [narrow] * 4
        assert [y.item() for y in called(x)] == [3.5, 5.0, 8.0, 2.0]
        assert [y.dtype for y in other(x)] == [torch.float64] * 4


def test_whole_numbers_in_traces_do_not_widen_either() -> None:
    x, wide = torch.tensor(3, dtype=torch.int8), torch.tensor(6)
    traced = torch.jit.trace(lambda x: (x * 5, x - wide, wide * x), x, check_trace=False)
    assert [y.dtype for y in traced(x)] == [torch.int8, torch.int8, torch.int64]
    assert [y.item() for y in traced(x)] == [15, -3, 18]


def test_sizes_may_be_computed_in_floats() -> None:
    def to_even(x: Tensor) -> Tensor:
        side = x.shape[0]
        missing = (side / 2).ceil() * 2 - side if isinstance(side, Tensor) else side % 2
        return torch.nn.functional.pad(x, [missing // 1, 0]) + torch.zeros(side / 1, 1).sum()

    traced = torch.jit.trace(to_even, torch.ones(3), check_trace=False)
    assert str(traced.graph).count("aten::Int(") == 2
    assert traced(torch.ones(5)).shape == (6,)
    with pytest.raises(TypeError, match="found element of type Tensor at pos 0"):
        torch.nn.functional.pad(torch.ones(3), [torch.tensor(1.0), 0])  # type: ignore[list-item]


def test_sizes_put_together_are_not_fixed() -> None:
    one, last = (1,), (1, 2)

    def rows(x: Tensor) -> Tensor:
        return x.view(-1, 2).view(x.size()[:-1] + last) + x.new_zeros(one + x.shape[1:2] + last[1:])

    traced = torch.jit.trace(rows, torch.ones(2, 3, 2))
    assert traced(torch.ones(5, 4, 2)).shape == (5, 4, 4, 2)
    assert torch.Size([torch.tensor(2), 3]) == (2, 3)


def test_groups_of_products_are_not_fixed() -> None:
    a, b = torch.ones(6, 8), torch.arange(48.0).view(2, 8, 3)
    product = torch.nn.functional.grouped_mm
    ends = torch.tensor([2, 6], dtype=torch.int32)
    traced = torch.jit.trace(lambda a, b, ends: product(a, b, offs=ends), (a, b, ends))
    other = torch.tensor([5, 6], dtype=torch.int32)
    assert torch.equal(traced(a, b, other), product(a, b, offs=other))


def test_exported_methods_of_traced_modules_count_containers() -> None:
    class Layers(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)])
            self.named = torch.nn.ModuleDict({"a": torch.nn.ReLU()})

        def forward(self, x: Tensor) -> Tensor:
            for layer in self.layers:
                x = layer(x)
            return x

        def some(self, x: Tensor, n: int) -> Tensor:
            if n > len(self.layers) or "a" not in self.named:
                raise ValueError("so many layers there are not")
            return x * n

    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Layers()

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x)

        @torch.jit.export
        def some(self, x: Tensor, n: int) -> Tensor:
            return self.inner.some(x, n)

    traced = torch.jit.trace(Whole(), torch.ones(1, 2))
    assert traced.some(torch.ones(2), 2).tolist() == [2, 2]
    with pytest.raises(torch.jit.Error, match="so many layers"):
        traced.some(torch.ones(2), 3)


def test_what_an_inner_module_gives_to_another_is_given_once() -> None:
    class Doubled(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 2

    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Doubled()

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            doubled = self.inner(x)
            return doubled, doubled.relu()

    class Using(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.sin() + x.cos() + x.tan()

    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.outer, self.using = Outer(), Using()

        def forward(self, x: Tensor) -> Tensor:
            return self.using(self.outer(x)[0])

    traced = torch.jit.trace(Whole(), torch.ones(2))
    assert "prim::TupleUnpack" not in str(traced.graph)
    assert len(list(traced.using.graph.inputs())) == 2
    x = torch.tensor([0.5, 1.5])
    assert torch.equal(traced(x), Whole()(x))


def test_constants_of_traces_keep_their_element_types() -> None:
    added = torch.tensor([1, 2])
    traced = torch.jit.trace(lambda x: x + added, torch.ones(2))
    constants = traced.graph.findAllNodes("prim::Constant")
    tensors = [n.t("value") for n in constants if n.kindOf("value") == "t"]
    assert [each.dtype for each in tensors] == [torch.int64]


def test_sizes_within_a_trace_are_whole_numbers() -> None:
    def program(x: Tensor) -> Tensor:
        for wrong in (1.5, None, "a"):
            with pytest.raises(TypeError, match=r"torch.Size\(\) takes an iterable of 'int'"):
                torch.Size([wrong])
        return x.reshape(torch.Size([x.size(0), 1]))

    assert torch.jit.trace(program, torch.ones(2))(torch.ones(3)).shape == (3, 1)


def test_an_operator_itself_is_traced() -> None:
    input = torch.ones(2)  # whose name is not the program's
    graph = torch.jit.trace(torch.ops.aten.neg, input).graph
    assert "graph(%0 :" in str(graph)


def test_python_looks_for_no_garbage_while_a_program_is_traced():
    looked = []

    def double(x):
        looked.append(gc.isenabled())
        return 2 * x

    class Double(torch.nn.Module):
        def forward(self, x):
            return double(x)

    x = torch.ones(2)
    torch.jit.trace(double, x)
    torch.jit.trace(Double(), x)
    assert len(looked) > 2
    assert not any(looked)
    assert gc.isenabled()


def test_examples_by_name_come_in_the_order_of_the_parameters() -> None:
    def less(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x - y

    two, one = torch.full((2,), 2.0), torch.ones(2)
    traced = torch.jit.trace(less, example_kwarg_inputs={"y": one, "x": two})
    assert [each.name for each in traced.schema.arguments] == ["x", "y"]
    assert traced(two, one).tolist() == [1.0, 1.0]


def test_one_number_for_all_dimensions_is_written_for_each() -> None:
    def pooled(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.avg_pool2d(x, 2)

    code = torch.jit.trace(pooled, (torch.ones(1, 1, 4, 4),)).code
    assert "torch.avg_pool2d(x, [2, 2], annotate(List[int], []), [0, 0])" in code


def test_numbers_have_the_types_they_are_of() -> None:
    def twice(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.rsub(x, 1.5 - 2j), torch.norm(x)

    traced = torch.jit.trace(twice, (torch.ones(2),))
    assert " : complex = prim::Constant[value=1.5-2.j]()" in str(traced.graph)
    assert "torch.linalg_vector_norm(x)" in traced.code  # by its default, a whole number
