"""Printing and reading of graphs: constants, types, spans, errors."""

from __future__ import annotations

import numpy as np
import pytest
from ir_support import functions_of, graph_from

from rushlight.ir.functions.define import graph_of
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.graphs.verify import verify
from rushlight.ir.text import parser
from rushlight.ir.text.parser import GraphSyntaxError, parse_ir
from rushlight.ir.text.printer import print_graph, print_node
from rushlight.ir.text.text import constant_text
from rushlight.ops.memory.dtype import Device
from rushlight.typecheck.types import types
from rushlight.typecheck.types.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    STRING,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)

# the right column is what torch 2.13 prints
ONE_ROW_EACH = "(1,.,.) =   1  2  (2,.,.) =   3  4 [ CPULongType{2,1,2} ]"
CONSTANTS: list[tuple[object, Type, str]] = [
    (True, BOOL, "1"),
    (-3, INT, "-3"),
    (1.0, FLOAT, "1."),
    (-0.0, FLOAT, "-0."),
    (0.1, FLOAT, "0.10000000000000001"),
    (1e-7, FLOAT, "9.9999999999999995e-08"),
    (1e10, FLOAT, "10000000000"),
    (1e20, FLOAT, "1e+20"),
    (123456789.123, FLOAT, "123456789.123"),
    (float("inf"), FLOAT, "inf"),
    (1.5 + 2j, COMPLEX, "1.5+2.j"),
    (3j, COMPLEX, "0.+3.j"),
    (
        "a\"b\n\t\\é'x'",
        STRING,
        r"""\"a\"b\n\t\\\0)+\/.)\'x\'\"""".replace('\\"', '"', 1)[:-2] + '"',
    ),
    ((1, 2.0, "a"), TupleType((INT, FLOAT, STRING)), '(1, 2., "a")'),
    ((1,), TupleType((INT,)), "(1,)"),
    ([True, False], ListType(BOOL), "[True, False]"),
    ([], ListType(INT), "annotate(List[int], [])"),
    ({"a": 2, "b": 3}, DictType(STRING, INT), '{"a": 2, "b": 3}'),
    ({}, DictType(STRING, INT), "annotate(Dict[str, int],{})"),
    (
        {"a": None},
        DictType(STRING, OptionalType(INT)),
        'annotate(Dict[str, Optional[int]],{"a": None})',
    ),
    ([None, 1], ListType(OptionalType(INT)), "annotate(List[Optional[int]], [None, 1])"),
    (Device("cuda:0"), DEVICE, '"cuda:0"'),
    (np.array(1.5, np.float32), TENSOR, "{1.5}"),
    (np.array(1), TENSOR, "{1}"),
    (np.ones(2, np.float32), TENSOR, " 1  1 [ CPUFloatType{2} ]"),
    (np.zeros(0, np.float32), TENSOR, "[ CPUFloatType{0} ]"),
    (np.array([-3.43, 0.93]) * 0.01, TENSOR, "0.01 * -3.4300  0.9300 [ CPUDoubleType{2} ]"),
    (np.array([100000.0, 1.5]), TENSOR, " 1.0000e+05  1.5000e+00 [ CPUDoubleType{2} ]"),
    (np.array([[[1, 2]], [[3, 4]]]), TENSOR, ONE_ROW_EACH),
    (np.zeros(100, np.float32), TENSOR, "<Tensor>"),
]


@pytest.mark.parametrize(("value", "type", "text"), CONSTANTS)
def test_constants_are_spelled_as_torch_spells_them(value: object, type: Type, text: str) -> None:
    assert constant_text(value, type) == text


@pytest.mark.parametrize(("value", "type", "text"), CONSTANTS[:-1])
def test_constants_read_back(value: object, type: Type, text: str) -> None:
    line = f"graph():\n  %0 : {type} = prim::Constant[value={text}]()\n  return (%0)\n"
    graph = parse_ir(line)
    assert str(graph) == line
    assert np.array_equal(np.asarray(next(graph.nodes).value), np.asarray(value))


TYPES = """
graph(%a : Dict(str, (int, float?)[]),
      %b : NamedTuple(x : int, y : Tensor),
      %c : Union(float, int, str),
      %d : Future[Tensor],
      %e : __torch__.M,
      %f : Enum<__torch__.Color>,
      %g : (),
      %h : int[][]?):
  %1 : bool = prim::isinstance[types=[int, str]](%c)
  %w.1 : Tensor = prim::GetAttr[name="w"](%e)
  return (%1)
"""


def test_types_read_back() -> None:
    graph = parse_ir(TYPES)
    verify(graph)
    assert str(graph) == TYPES.lstrip()


def test_sizes_and_strides_become_plain_tensors() -> None:
    text = "graph(%x : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)):\n  return (%x)\n"
    assert parse_ir(text).inputs[0].type == TENSOR


def test_tasks_read_back() -> None:
    text = (
        "graph(%x.1 : Tensor):\n"
        "  %f.1 : Future[Tensor] = prim::fork_0(%x.1)\n"
        "  return (%f.1)\n"
        "with prim::fork_0 = graph(%x.1 : Tensor):\n"
        '  %1 : Function = prim::Constant[name="g"]()\n'
        "  %2 : Tensor = prim::CallFunction(%1, %x.1)\n"
        "  return (%2)\n"
    )
    graph = parse_ir(text)
    assert str(graph) == text
    assert isinstance(next(graph.nodes).attributes["Subgraph"], Graph)


def test_comments_become_spans() -> None:
    text = "graph(%x : int):\n  %1 : int = aten::neg(%x) # some/file.py:12:4\n  return (%1)\n"
    span = next(parse_ir(text).nodes).span
    assert (span.filename, span.line, span.column) == ("some/file.py", 12, 4)
    assert "#" not in print_graph(parse_ir(text), comments=False)


def test_a_node_prints_with_its_blocks() -> None:
    graph = graph_from("def f(x: int):\n    return 1 if x > 2 else x\n")
    node = next(n for n in graph.nodes if n.kind == "prim::If")
    assert print_node(node, comments=False).count("block") == 2


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("graph(%x : int):\n  return (%x\n", 2, 11),
        ("graph(%x : int):\n  %y : int = aten::neg(%z)\n  return (%y)\n", 2, 24),
        ("graph(%x : int, %x : int):\n  return (%x)\n", 1, 17),
        ("graph():\n  %y : Tensor = prim::Constant[value=<Tensor>]()\n  return (%y)\n", 2, 32),
    ],
)
def test_faults_have_a_place(text: str, line: int, column: int) -> None:
    with pytest.raises(GraphSyntaxError) as caught:
        parse_ir(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_classes_and_functions_may_be_given() -> None:
    program = "def g(x: int):\n    return x\n\ndef f(x: int):\n    return g(x)\n"
    callee, caller = functions_of(program)
    graph = parse_ir(str(graph_of(caller)), functions={"g": callee})
    call = next(n for n in graph.nodes if n.kind == "prim::CallFunction")
    assert getattr(call.inputs[0].type, "function", None) is callee


HEAD = "graph(%x : Tensor):\n"


def doubled(times: int) -> str:
    """A pair of pairs of pairs of ints."""
    text = "int"
    for _ in range(times):
        text = f"({text}, {text})"
    return text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}  %1 : int, %2 : int = prim::Constant[value=1]()\n  return (%1)\n", "one output"),
        (f"{HEAD}   = prim::Constant[value=1]()\n  return (%x)\n", "one output"),
        (f'{HEAD}  %1 : str = prim::Constant[value="a\\07"]()\n  return (%1)\n', "backslash"),
        (f'{HEAD}  %1 : str = prim::Constant[value="\\xyz"]()\n  return (%1)\n', "backslash"),
        (f"{HEAD}  %1 : Function = prim::Constant()\n  return (%1)\n", "no name"),
        (f"{HEAD}  %1 : Tensor = prim::Constant[value=[]]()\n  return (%1)\n", "a list is no"),
        (f"{HEAD}  %1 : int[] = prim::Constant[value=(1, 2)]()\n  return (%1)\n", "a tuple is no"),
        (
            f"{HEAD}  %1 : int = prim::Constant[value=annotate(Dict[str, int], {{}})]()\n"
            "  return (%1)\n",
            "a dict is no",
        ),
        (f"graph(%x : Float({'9' * 5000})):\n  return (%x)\n", "cannot be"),
        (f"graph(%x : Tensor{'[]' * 5000}):\n  return (%x)\n", "too deeply"),
        (f"graph(%x : {'(' * 5000}int{')' * 5000}):\n  return (%x)\n", "too deeply, line 1, col"),
        (f"{HEAD}  %1 : int = prim::Constant[value={'1' * 100_000}]()\n  return (%x)\n", "digits"),
    ],
)
def test_texts_that_ask_too_much(text: str, message: str) -> None:
    with pytest.raises(GraphSyntaxError, match=message):
        parse_ir(text)


def test_blocks_may_lie_deep_in_each_other() -> None:
    text = "graph(%c : bool):\n"
    text += "= prim::If(%c) block0():\n" * 1000 + "-> () block1(): -> ()\n" * 1000
    graph = parse_ir(f"{text} return (%c)\n")
    assert sum(1 for _ in graph.all_nodes) == 1000


def test_texts_that_are_too_large_are_refused_where_they_become_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = f"graph(%x : {doubled(5)}):\n  %y : int = prim::Constant[value=1]()\n  return (%x)\n"
    monkeypatch.setattr(types, "MOST_PARTS", 30)
    with pytest.raises(
        GraphSyntaxError, match=r"this type cannot be: .* parts .*line 1, column 7$"
    ):
        parse_ir(text)
    monkeypatch.setattr(parser, "MOST_WORDS", 140)
    with pytest.raises(GraphSyntaxError, match=r"than 140 words and signs, line 2, col"):
        parse_ir(text)
    monkeypatch.setattr(parser, "MOST_PARTS", 30)
    with pytest.raises(GraphSyntaxError, match=r"more than 30 names, line 1, col"):
        parse_ir(text)


@pytest.mark.parametrize("column", ["999999999", "9" * 30])
def test_places_far_to_the_right_are_forgotten(column: str) -> None:
    graph = parse_ir(
        f"{HEAD}  %1 : int = prim::Constant[value=1]() # a.py:1:{column}\n  return (%1)"
    )
    assert "a.py" not in print_graph(graph)


def test_names_that_only_look_like_numbers() -> None:
    long = "9" * 5000
    graph = parse_ir(f"graph(%² : Tensor, %{long} : Tensor):\n  return (%²)\n")
    assert [value.name for value in graph.block.param.outputs] == ["²", long]


def test_an_attribute_called_value_is_typed_on_constants_alone() -> None:
    text = f"{HEAD}  %1 : Tensor = aten::neg[value=annotate(List[int], [])](%x)\n  return (%1)\n"
    printed = print_graph(parse_ir(text))
    assert "aten::neg[value=[]](%x)" in printed
    assert print_graph(parse_ir(printed)) == printed


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udcff\ud83d", "é\U0001f600"])
def test_halves_of_pairs_have_a_text(text: str) -> None:
    printed = print_graph(graph_from(f"def f(x: torch.Tensor):\n    return x, {text!a}\n"))
    assert print_graph(parse_ir(printed)) == printed


_GENERATOR = """\
graph():
  %0 : Generator = prim::Constant[value=torch.Generator({})]()
  return (%0)
"""


def test_generators_are_read_back() -> None:
    text = _GENERATOR.format('device="cpu", seed=2024')
    assert print_graph(parse_ir(text)) == text
    assert "seed=67280421310721)" in print_graph(parse_ir(_GENERATOR.format("")))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("seed=-1", "Seed must be a non-negative integer"),
        (f"seed={1 << 63}", "Number is too big"),
        ("seed=2.5", "Expected int literal for seed argument"),
        ('device="meta"', "Only cpu device is supported for Generator"),
        ("other=1", "is no constant"),
    ],
)
def test_generators_that_cannot_be(settings: str, words: str) -> None:
    with pytest.raises(GraphSyntaxError, match=words):
        parse_ir(_GENERATOR.format(settings))


def test_types_are_attributes_and_sizes_have_symbols() -> None:
    text = """graph(%a : Float(SS(-2), 3, SS(-3))):
  %1 : Tensor = prim::profile[profiled_type=Float(2, requires_grad=0)](%a)
  return (%1)
"""
    assert print_graph(parse_ir(text)) == text.replace("SS(-2)", "*").replace("SS(-3)", "*")


def test_the_parts_of_a_tuple_are_read_by_their_types() -> None:
    line = '  %0 : (str, Device) = prim::Constant[value=("cpu", "cpu")]()\n'
    graph = parse_ir(f"graph():\n{line}  return (%0)\n")
    assert next(graph.nodes).value == ("cpu", Device("cpu"))


def test_named_values_take_the_numbers_after_those_of_the_text() -> None:
    graph = parse_ir("graph(%x : int, %y : int):\n  %4 : int = aten::mul(%x, %y)\n  return (%4)\n")
    ids = [value.id for value in graph.inputs]
    made = graph.create("prim::Uninitialized", (), [INT]).insert_before(graph.block.ret).output
    assert (ids, graph.outputs[0].id, made.debug_name) == ([5, 6], 4, "7")
