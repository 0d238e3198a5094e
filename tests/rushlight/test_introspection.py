"""What Python sees of graphs, types, schemas and settings, under torch's names."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import rushlight as torch
from rushlight import nn

C = torch._C


def branchy(x, y: int):
    z = x + y
    if y > 1:
        z = z * 2
    return z, [y]


@pytest.fixture
def graph():
    return torch.jit.script(branchy).graph.copy()


def test_nodes_values_and_uses(graph) -> None:
    add = graph.findNode("aten::add")
    assert add.kind() == "aten::add"
    assert add.schema() == "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"
    assert [value.debugName() for value in add.inputs()][:2] == ["x.1", "y.1"]
    assert add.namedInput("alpha").toIValue() == 1
    assert add.output().uses()[0].user.kind() == "aten::mul"
    assert add == graph.findNode("aten::add")
    assert hash(add) == hash(graph.findNode("aten::add"))
    branch = graph.findNode("prim::If")
    assert [node.kind() for node in next(branch.blocks()).nodes()] == ["aten::mul"]
    assert graph.findNode("aten::mul", recurse=False) is None
    assert len(graph.findAllNodes("prim::Constant")) == 2
    assert branch.isAfter(add)
    assert add.next().kind() == "aten::gt"
    assert "    z = x + y" in add.sourceRange()
    with pytest.raises(RuntimeError, match="single input on node 'aten::add'"):
        add.input()
    with pytest.raises(RuntimeError, match="all symbols must have a namespace"):
        graph.findNode("add")


def test_graphs_are_changed_in_place(graph) -> None:
    value = next(graph.inputs())
    node = graph.insertNode(graph.create("aten::relu", [value]))
    assert node.schema() == "aten::relu(Tensor self) -> Tensor"
    node.output().setDebugName("rectified")
    add = graph.findNode("aten::add")
    node.moveBefore(add)
    add.replaceInput(0, node.output())
    graph.lint()
    constant = graph.insertConstant([1, 2])
    assert (constant.type().str(), constant.toIValue()) == ("int[]", [1, 2])
    constant.node().destroy()
    extra = graph.addInput("extra")
    assert str(graph).splitlines()[2] == "      %extra : Tensor):"
    graph.eraseInput(2)
    assert extra.unique() > 0
    with pytest.raises(RuntimeError, match="still used"):
        node.destroy()
    with pytest.raises(RuntimeError, match="Invalid name: '5'"):
        value.setDebugName("5")


def test_attributes_are_read_and_set_by_kind(graph) -> None:
    node = graph.create("my::op", 2)
    node.i_("a", 3).s_("b", "q").f_("c", 1.5).is_("d", [1, 2]).ss_("e", ["x"]).t_(
        "t", torch.ones(1)
    )
    assert node.attributeNames() == ["a", "b", "c", "d", "e", "t"]
    assert [node.kindOf(name) for name in node.attributeNames()] == ["i", "s", "f", "is", "ss", "t"]
    assert (node.i("a"), node.s("b"), node.f("c"), node.ss("e")) == (3, "q", 1.5, ["x"])
    assert node.outputsSize() == 2
    with pytest.raises(RuntimeError, match="required keyword attribute 'zz' is undefined"):
        node.i("zz")
    with pytest.raises(RuntimeError, match="has the wrong type"):
        node.i("b")


def test_types() -> None:
    assert C.ListType(C.IntType.get()) == C.ListType.ofInts()
    assert str(C.DictType(C.StringType.get(), C.TensorType.get())) == "Dict[str, Tensor]"
    assert C.OptionalType.ofTensor().getElementType() == C.TensorType.get()
    assert C.IntType.get().isSubtypeOf(C.OptionalType(C.IntType.get()))
    assert C.TupleType([C.IntType.get(), C.FloatType.get()]).elements()[1].kind() == "FloatType"
    complete = C.TensorType.create_from_tensor(torch.ones(2, 3))
    assert (complete.sizes(), complete.strides(), complete.scalarType()) == (
        [2, 3],
        [3, 1],
        "Float",
    )
    assert complete.str() == "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"
    assert str(complete) == "Tensor"
    assert complete != C.TensorType.get()
    assert complete.isSubtypeOf(C.TensorType.get())
    assert complete.with_sizes([4, None]).varyingSizes() == [4, None]
    assert C.TensorType.get().sizes() is None


class Pair(NamedTuple):
    first: int
    second: torch.Tensor


def with_defaults(
    p: Pair, k: dict[str, int], s: str = 'a"b', f: float = 1.5, t: tuple[int, int] = (1, 2)
) -> tuple[int, torch.Tensor]:
    return p.first, p.second


def test_schemas() -> None:
    schema = torch.jit.script(with_defaults).schema
    name = f"__torch__.{__name__}.Pair" if __name__ != "__main__" else "__torch__.Pair"
    assert str(schema) == (
        f'with_defaults({name} p, Dict(str, int) k, str s="a\\"b", float f=1.5, '
        "(int, int) t=(1, 2)) -> ((int, Tensor))"
    )
    assert [a.default_value for a in schema.arguments[2:]] == ['a"b', 1.5, (1, 2)]
    pool = torch.ops.aten.max_pool2d_with_indices.default
    padding = pool._schema.arguments[3]  # type: ignore[attr-defined]
    assert (padding.N, padding.default_value) == (2, [0, 0])
    text = "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    parsed = C.parse_schema(text)
    assert str(parsed) == text
    assert (parsed.name, parsed.overload_name, parsed.is_mutable) == ("aten::add_", "Tensor", True)
    assert parsed.arguments[2].kwarg_only
    assert (
        str(C._jit_get_schemas_for_operator("aten::relu")[0]) == "aten::relu(Tensor self) -> Tensor"
    )
    assert len(C._jit_get_all_schemas()) > 1000


@pytest.mark.parametrize(
    ("new", "old", "compatible"),
    [
        ("a(int x, int y=1) -> int", "a(int x) -> int", True),
        ("a(int x) -> int", "a(int x, int y=1) -> int", False),
        ("a(int? x) -> int", "a(int x) -> int", True),
        ("a(int x) -> int", "a(int? x) -> int", False),
        ("a(int z) -> int", "a(int x) -> int", False),
        ("a(int x, int y) -> int", "a(int x) -> int", False),
        ("a(int x) -> int?", "a(int x) -> int", False),
    ],
)
def test_schemas_that_stand_for_older_ones(new: str, old: str, compatible: bool) -> None:
    assert C.parse_schema(new).is_backward_compatible_with(C.parse_schema(old)) is compatible


def test_graph_text_becomes_a_function() -> None:
    text = "graph(%x : int):\n  %y : int = aten::add(%x, %x)\n  return (%y)"
    graph = C.parse_ir(text)
    assert str(graph) == "graph(%x : int):\n  %1 : int = aten::add(%x, %x)\n  return (%1)\n"
    function = C._create_function_from_graph("twice", graph)
    assert function(4) == 8
    assert str(function.schema) == "twice(int x) -> int"
    with pytest.raises(RuntimeError, match="unexpected text"):
        C.parse_ir("graph(%x : int):\n  oh no")
    constant = "graph():\n  %1 : Long(1, 2) = prim::Constant[value=<Tensor>]()\n  return (%1)"
    with pytest.raises(RuntimeError):
        C.parse_ir(constant)
    made = C._create_function_from_graph("made", C.parse_ir(constant, True))()
    assert (made.dtype, tuple(made.shape)) == (torch.int64, (1, 2))


def test_objects_behind_modules() -> None:
    target = torch.jit.script(nn.Linear(2, 3))._c
    assert target._method_names() == ["forward"]
    assert (target.hasattr("weight"), target.hasattr("nothing")) == (True, False)
    assert tuple(target.getattr("weight").shape) == (3, 2)
    target.setattr("training", False)
    assert target.training is False
    assert target._type().name() == "Linear"
    assert target.forward.graph.findNode("aten::linear") is not None
    assert "module __torch__.torch.nn" in target.dump_to_str(True, True, False)
    with pytest.raises(AttributeError, match="does not have a field with name 'nothing'"):
        target.getattr("nothing")
    with pytest.raises(RuntimeError, match="Method 'nothing' is not defined"):
        target._get_method("nothing")


def test_what_ran_last_and_which_operators_there_are() -> None:
    function = torch.jit.script(branchy)
    function(torch.ones(1), 2)
    assert torch.jit.last_executed_optimized_graph().findNode("aten::mul") is not None
    assert torch.jit.export_opnames(torch.jit.script(nn.Linear(1, 1))) == ["aten::linear"]


def test_settings_are_kept() -> None:
    assert torch.jit.set_fusion_strategy([("STATIC", 3)]) == [("STATIC", 2), ("DYNAMIC", 10)]
    assert C._jit_set_fusion_strategy([("STATIC", 2), ("DYNAMIC", 10)]) == [("STATIC", 3)]
    with torch.jit.optimized_execution(False):
        assert C._get_graph_executor_optimize() is False
    assert C._get_graph_executor_optimize() is True
    C._jit_set_texpr_fuser_enabled(False)
    assert C._jit_texpr_fuser_enabled() is False
    C._jit_set_texpr_fuser_enabled(True)
    with torch.jit.fuser("fuser1"):
        assert torch.jit.script(branchy)(torch.ones(1), 0)[1] == [0]
    with (
        pytest.raises(Exception, match="unrecognized fuser option"),
        torch.jit.fuser("none at all"),
    ):
        pass


def test_passes_by_torchs_names() -> None:
    def f(x):
        a = x + 1
        b = x + 1
        return a * b

    graph = torch.jit.script(f).graph.copy()
    assert C._jit_pass_cse(graph)
    assert graph.findAllNodes("aten::add") == [graph.findNode("aten::add")]
    pattern = "graph(%a, %b):\n  %r = aten::mul(%a, %b)\n  return (%r)"
    fused = "graph(%a, %b):\n  %r = my::mul(%a, %b)\n  return (%r)"
    C._jit_pass_custom_pattern_based_rewrite_graph(pattern, fused, graph)
    C._jit_pass_lint(graph)
    assert graph.findNode("my::mul") is not None
    assert "_jit_pass_peephole" in dir(C)
    with pytest.raises(AttributeError, match="no attribute '_jit_pass_nothing'"):
        _ = C._jit_pass_nothing


def test_functions_say_what_runs_without_what_is_known() -> None:
    @torch.jit.script
    def f(x: torch.Tensor) -> torch.Tensor:
        return nn.functional.softmax(x, 0)

    shown = f.graph_for(torch.ones(2))
    assert [n.kind() for n in shown.nodes() if n.kind() != "prim::Constant"] == ["aten::softmax"]
    f(torch.ones(2))
    assert str(torch.jit.last_executed_optimized_graph()) == str(shown)


def test_texts_may_hold_tables_that_stand_further_left() -> None:
    unit = torch.jit.CompilationUnit("""
        # a comment
        def f(x):
            return x + torch.tensor([[1,
     2],
  [3, 4]])
        def g(x):
            return f(x) * 2
    """)
    assert unit.g(torch.zeros(2, 2)).tolist() == [[2, 4], [6, 8]]


def test_modules_say_which_graph_runs() -> None:
    layers = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    x = torch.ones(1, 1)
    for module in (torch.jit.script(layers), torch.jit.trace(layers, x)):
        text = str(module.graph_for(x))
        assert "aten::relu" in text
        assert "prim::CallMethod" not in text
