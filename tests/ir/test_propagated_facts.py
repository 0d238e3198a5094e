"""Sizes, element types and devices that follow from those of a graph's inputs."""

from __future__ import annotations

import re
from typing import Any

import pytest

import rushlight as torch
from rushlight import _C, Tensor
from rushlight.jit._passes import _property_propagation as propagation
from rushlight.typecheck.types.tensor_facts import RefinedTensor, has_facts, without_facts
from rushlight.typecheck.types.types import INT, ListType, TupleType


def graph_of(*lines: str, arguments: str = "x, y") -> Any:
    body = "\n".join(f"    {line}" for line in lines)
    return torch.jit.CompilationUnit(f"def f({arguments}):\n{body}\n").f.graph


def text_of(graph: Any) -> str:
    return re.sub(" #.*", "", str(graph))


def given(graph: Any, *tensors: Tensor | list[int] | None) -> Any:
    for value, tensor in zip(graph.inputs(), tensors, strict=True):
        if isinstance(tensor, Tensor):
            value.setType(_C.TensorType.create_from_tensor(tensor))
        elif tensor is not None:
            value.setType(value.type().with_sizes(tensor))
    return graph


def test_sizes_then_dtypes_then_devices() -> None:
    graph = given(graph_of("return x + y"), torch.zeros(3, 1, 5), torch.zeros(4, 1, 8, 5))
    _C._jit_pass_propagate_shapes_on_graph(graph)
    assert "%5 : Tensor(4, 3, 8, 5) = aten::add(%x.1, %y.1, %4)" in text_of(graph)
    _C._jit_pass_propagate_dtype(graph)
    assert "%5 : Float(4, 3, 8, 5) = aten::add(%x.1, %y.1, %4)" in text_of(graph)
    _C._jit_pass_propagate_device(graph)
    assert "%5 : Float(4, 3, 8, 5, device=cpu) = aten::add(%x.1, %y.1, %4)" in text_of(graph)


def test_sizes_alone_tell_no_dtype() -> None:
    graph = given(graph_of("z = x.relu()", "return torch.mm(z, y)"), [2, 3], [3, 4])
    _C._jit_pass_propagate_shapes_on_graph(graph)
    _C._jit_pass_propagate_dtype(graph)
    shown = text_of(graph)
    assert "%z.1 : Tensor(2, 3) = aten::relu" in shown
    assert ": Tensor(2, 4) = aten::mm" in shown


def test_sizes_go_through_lists_and_questions() -> None:
    graph = graph_of("return torch.cat([x, y], 0).view(x.size(0), -1)")
    _C._jit_pass_propagate_shapes_on_graph(given(graph, [2, 3], [2, 3]))
    assert ": Tensor(2, 6) = aten::view" in text_of(graph)


def test_a_list_that_is_changed_tells_nothing() -> None:
    graph = graph_of("s = [1, 6]", "s[0] = 2", "return x.view(s)", arguments="x")
    _C._jit_pass_propagate_shapes_on_graph(given(graph, [6]))
    assert ": Tensor = aten::view" in text_of(graph)


@pytest.mark.parametrize(("other", "joined"), [("x - 1", "Tensor(2, 3)"), ("x[0]", "Tensor")])
def test_branches_agree_or_nothing_is_known(other: str, joined: str) -> None:
    lines = ("if n > 1:", "    z = x + 1", "else:", f"    z = {other}", "return z")
    graph = given(graph_of(*lines, arguments="x, n: int"), [2, 3], None)
    _C._jit_pass_propagate_shapes_on_graph(graph)
    assert f" : {joined} = prim::If" in text_of(graph)


def test_rounds_agree_or_nothing_is_known() -> None:
    lines = ("z = x", "for i in range(n):", "    z = z + 1", "    x = x[None]", "return z, x")
    graph = given(graph_of(*lines, arguments="x, n: int"), [2, 3], None)
    _C._jit_pass_propagate_shapes_on_graph(graph)
    assert "%z : Tensor(2, 3), %x : Tensor = prim::Loop" in text_of(graph)


def test_what_is_written_keeps_its_sizes() -> None:
    graph = given(graph_of("return x.div_(y)"), [4, 8], None)
    _C._jit_pass_propagate_shapes_on_graph(graph)
    assert ": Tensor(4, 8) = aten::div_" in text_of(graph)


def test_everything_follows_from_examples() -> None:
    graph = graph_of("z = x.t()", "return z, torch.cat([x, x], 1), x.sub(y), x.max(0)")
    example = (torch.zeros(2, 3), torch.zeros(2, 3))
    _C._jit_pass_complete_shape_analysis(graph, example, False)
    shown = text_of(graph)
    assert "%z.1 : Float(3, 2, strides=[1, 3], requires_grad=0, device=cpu) = aten::t" in shown
    assert ": Float(2, 6, strides=[6, 1], requires_grad=0, device=cpu) = aten::cat" in shown
    assert ": Float(2, 3, strides=[3, 1], device=cpu) = aten::sub" in shown
    assert ": Long(3, strides=[1], requires_grad=0, device=cpu) = aten::max" in shown


def test_examples_of_any_size_give_ranks() -> None:
    graph = graph_of("return x.mm(y)")
    made = _C._propagate_shapes(graph, (torch.zeros(2, 3), torch.zeros(3, 4)), False)
    assert "%x.1 : Float(*, *, requires_grad=0, device=cpu)" in text_of(made)
    assert ": Float(*, *, device=cpu) = aten::mm" in text_of(made)
    assert "Float" not in text_of(graph)


def on(graph: Any, *devices: str | None) -> Any:
    for value, device in zip(graph.inputs(), devices, strict=True):
        if device is not None:
            value.setType(value.type().with_device(torch.device(device)))
    _C._jit_pass_propagate_device(graph)
    return next(graph.outputs()).type().device()


@pytest.mark.parametrize(
    ("line", "devices", "found"),
    [
        ("return x + y", ("cpu", "cpu"), "cpu"),
        ("return x + y", ("cuda", "cuda"), "cuda"),
        ("return x + y", ("cuda", "cpu"), None),
        ("return x + y", ("cpu", None), None),
        ("return x.view_as(y)", ("cuda", None), "cuda"),
        ("return x.type_as(y)", (None, "cuda"), "cuda"),
        ("return (x + y).to('cpu')", ("cuda", "cuda"), "cpu"),
        ("return x.cpu()", ("cuda", "cpu"), "cpu"),
    ],
)
def test_devices(line: str, devices: tuple[str | None, ...], found: str | None) -> None:
    device = on(graph_of(line), *devices)
    assert (None if device is None else device.type) == found


def test_single_numbers_lie_anywhere() -> None:
    graph = given(graph_of("return x * y"), [2, 2], [])
    assert str(on(graph, "cuda", "cpu")) == "cuda"
    assert str(on(given(graph_of("return x * y"), [2, 2], [1]), "cuda", "cpu")) == "None"


def test_examples_tell_of_the_inputs_of_a_graph() -> None:
    graph = graph_of("return x * n + y", arguments="x, y, n: int")
    propagation.apply_input_props_using_example(graph, [torch.ones(2, 3).double(), None, 2])
    shown = text_of(graph)
    assert "%x.1 : Double(2, 3, strides=[3, 1], requires_grad=0, device=cpu)," in shown
    assert "%y.1 : Tensor,\n      %n.1 : int):" in shown


def test_a_method_gets_no_example_for_itself() -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 2

    graph = torch.jit.script(Twice()).graph
    propagation.apply_input_props_using_example(graph, [torch.ones(4, dtype=torch.int16)])
    _C._jit_pass_propagate_dtype(graph)
    assert ": ShortTensor = aten::mul(%x.1, " in text_of(graph)


def test_examples_that_do_not_fit_are_refused() -> None:
    graph = graph_of("return x + y")
    with pytest.raises(RuntimeError, match="Number of inputs in graph does not match"):
        propagation.apply_input_props_using_example(graph, [torch.ones(1)])
    with pytest.raises(RuntimeError, match="Input 1 does not match type of example"):
        propagation.apply_input_props_using_example(graph, [torch.ones(1), 3])


@pytest.mark.parametrize(
    ("expression", "neutral"),
    [
        *((text, True) for text in ("x + 0.", "x - 0.", "x * 1.", "x / 1", "x / 1.")),
        *((text, False) for text in ("x + 1.", "x * 0.", "x + True", "torch.add(x, 0., alpha=2)")),
    ],
)
def test_neutral_numbers_go_where_the_dtype_is_known(expression: str, neutral: bool) -> None:
    graph = graph_of(f"return ({expression}).relu()", arguments="x")
    _C._jit_pass_peephole(graph)
    assert len(graph_of("return x.relu()", arguments="x").findAllNodes("aten::relu")) == 1
    count = len(list(graph.nodes()))
    _C._jit_pass_peephole(given(graph, torch.ones(2)))
    assert (len(list(graph.nodes())) < count) == neutral
    graph = given(graph_of(f"return ({expression}).relu()", arguments="x"), torch.ones(2).int())
    count = len(list(graph.nodes()))
    _C._jit_pass_peephole(graph)  # the result is of floats
    assert len(list(graph.nodes())) == count


def test_the_number_of_dimensions_is_known_by_the_length_of_sizes() -> None:
    graph = graph_of("return len(x.size())", arguments="x")
    _C._jit_pass_peephole(graph)
    assert "aten::len" in text_of(graph)
    ranks = _C.TensorType.get().with_sizes([None, None])
    next(iter(graph.inputs())).setType(ranks)
    _C._jit_pass_peephole(graph)
    assert "prim::Constant[value=2]" in text_of(graph)
    assert "aten::len" not in text_of(graph)
    changed = graph_of("s = x.size()", "s.append(4)", "return len(s)", arguments="x")
    next(iter(changed.inputs())).setType(ranks)
    _C._jit_pass_peephole(changed)
    assert "aten::len" in text_of(changed)


def test_branches_that_give_no_none_have_a_type_without_it() -> None:
    lines = ("if c:", "    r = a", "else:", "    r = b", "return r")
    graph = graph_of(*lines, arguments="a: int, b: int, c: bool")
    branch = graph.findNode("prim::If")
    next(iter(branch.outputs())).setType(_C.OptionalType(_C.IntType.get()))
    _C._jit_pass_peephole(graph)
    assert "int?" not in text_of(graph)


def test_attributes_that_are_none_are_constants() -> None:
    class Nothing(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.missing = None

        def forward(self) -> None:
            return self.missing

    graph = torch.jit.script(Nothing()).graph
    assert "prim::GetAttr" in text_of(graph)
    _C._jit_pass_peephole(graph)
    assert "prim::GetAttr" not in text_of(graph)


def test_modules_of_a_class_are_found_by_patterns() -> None:
    class Two(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = torch.nn.Linear(2, 2)
            self.other = torch.nn.ReLU()

        def forward(self, x: Tensor) -> Tensor:
            return self.other(self.one(x))

    pattern = """
        graph(%self, %x):
          %a = match::module[name="Linear"](%self)
          %y = prim::CallMethod[name="forward"](%a, %x)
          %b = match::module[name="%s"](%self)
          %z = prim::CallMethod[name="forward"](%b, %y)
          return (%z)"""
    replacement = "graph(%self, %x):\n  %z = my::both(%self, %x)\n  return (%z)"
    graph = torch.jit.script(Two()).graph
    for name, found in (("Sigmoid", False), ("ReLU", True)):
        text = pattern.replace('%s"', name + '"')
        _C._jit_pass_custom_pattern_based_rewrite_graph(text, replacement, graph)
        assert ("my::both" in text_of(graph)) == found


def test_freezing_leaves_a_detach_that_somebody_asks_about() -> None:
    class Asks(torch.nn.Module):
        def forward(self, x: Tensor) -> bool:
            return x is x.detach()

    frozen = torch.jit.freeze(torch.jit.script(Asks()).eval())
    assert "aten::detach" in str(frozen.graph)
    assert frozen(torch.ones(1)) is False


def test_facts_are_left_out_however_deep_they_lie() -> None:
    known = RefinedTensor("Tensor", scalar="Float", sizes=(2, 3))
    for type in (known, ListType(known), TupleType((INT, ListType(known)))):
        assert has_facts(type)
        assert not has_facts(without_facts(type))
        assert without_facts(type) == type  # facts make no other type
    plain = TupleType((INT, ListType(INT)))
    assert without_facts(plain) is plain
