"""The code files of an archive: what they hold, in which order, under which names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rushlight.ir.graphs.graph import Graph
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.memory.dtype import Device
from rushlight.serialization.printing.classes import PrintedUnit, print_unit
from rushlight.serialization.printing.printer import PrintError
from rushlight.serialization.printing.types import TypeNames
from rushlight.typecheck.definitions.class_types import ClassType, FunctionType, InterfaceType
from rushlight.typecheck.definitions.functions import Function
from rushlight.typecheck.definitions.schema import NO_DEFAULT, Argument, Signature
from rushlight.typecheck.definitions.schema_text import parse_schema
from rushlight.typecheck.trees.typed import EnumMember
from rushlight.typecheck.types.types import (
    BOOL,
    INT,
    NONE,
    TENSOR,
    EnumType,
    OptionalType,
    TupleType,
    Type,
)

CASE = Path(__file__).parent / "cases" / "printed_unit.txt"

COLOR = EnumType("__torch__.prog.Color", INT, (("RED", 1), ("GREEN", 2)))
POINT = TupleType((TENSOR, COLOR), "__torch__.prog.Point", ("x", "color"))


class Operators:
    """A table of the two operators of the graphs."""

    def overloads(self, name: str) -> list[Signature]:
        found = [
            "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",
            "aten::mul.Scalar(Tensor self, Scalar other) -> Tensor",
            "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "aten::add.int(int a, int b) -> int",
        ]
        return [parse_schema(text) for text in found if text.startswith(f"{name}.")]

    def names(self) -> list[str]:
        return ["aten::mul", "aten::add"]


def signature(name: str, result: Type, *arguments: Argument) -> Signature:
    return Signature(name, "", arguments, (Argument("", result),))


def sections() -> dict[str, str]:
    _, *parts = re.split(r"^=== (\S+)\n", CASE.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


class Program:
    """The types and functions of the recorded program."""

    def __init__(self) -> None:
        self.step = InterfaceType("__torch__.prog.Step", is_module=True)
        self.counter = ClassType("__torch__.prog.Counter")
        self.layer = ClassType("__torch__.prog.Layer", is_module=True)
        self.main = ClassType("__torch__.prog.Main", is_module=True, constants={"depth": 3})
        self.functions: dict[str, Function] = {}
        self.types = {
            t.qualified_name: t for t in (self.step, self.counter, self.layer, self.main, COLOR)
        }
        self.add_attributes()
        self.add_functions()
        self.add_methods()

    def add_attributes(self) -> None:
        self.main.add_attribute("mean", TENSOR, "buffer")
        self.main.add_attribute("training", BOOL)
        self.main.add_attribute("_is_full_backward_hook", NONE)
        self.main.add_attribute("a-b", self.layer)
        self.main.add_attribute("step", self.step)
        self.layer.add_attribute("w", TENSOR, "parameter")
        self.layer.add_attribute("training", BOOL)
        self.layer.add_attribute("_is_full_backward_hook", OptionalType(BOOL))
        self.counter.add_attribute("n", INT)

    def add_functions(self) -> None:
        x = Argument("x", TENSOR)
        self.function("twice", TENSOR, x)
        self.function("scale", TENSOR, x, Argument("n", INT, 3))

    def add_methods(self) -> None:
        x, n = Argument("x", TENSOR), Argument("n", INT)
        red = EnumMember("RED", 1)
        self.method(self.main, "forward", TENSOR, x)
        self.method(self.main, "point", POINT, x, Argument("color", COLOR, red))
        self.method(self.layer, "forward", TENSOR, x)
        self.method(self.counter, "__init__", NONE, n)
        self.method(self.counter, "up", INT)
        declared = signature("forward", TENSOR, Argument("self", self.step), x)
        self.step.methods["forward"] = Function("__torch__.prog.Step.forward", declared=declared)

    def graph(self, name: str) -> Graph:
        text = sections()[name].split("\n", 1)[1]
        return parse_ir(text, table=Operators(), types=self.types, functions=self.functions)

    def function(self, name: str, result: Type, *arguments: Argument) -> None:
        function = Function(f"__torch__.prog.{name}", declared=signature(name, result, *arguments))
        function.graph = self.graph(name)
        self.functions[name] = function

    def method(self, cls: ClassType, name: str, result: Type, *arguments: Argument) -> None:
        declared = signature(name, result, Argument("self", cls), *arguments)
        function = Function(f"{cls.qualified_name}.{name}", declared=declared, owner=cls)
        graph = self.graph(f"{cls.name}.{name}")
        if isinstance(result, TupleType):  # graph text does not tell a NamedTuple's name
            graph.outputs[0].type = result
        function.graph = graph
        cls.methods[name] = function


def text_of(unit: PrintedUnit) -> dict[str, str]:
    return {file.namespace: file.text for file in unit.files}


def test_whole_file_is_what_torch_writes() -> None:
    program = Program()
    unit = print_unit(program.main, program.layer)
    assert text_of(unit) == {"__torch__.prog": sections()["code"]}
    assert unit.constants == []
    assert unit.files[0].records[0][0] == 0


def test_class_of_a_value_behind_an_interface_is_a_root_of_its_own() -> None:
    program = Program()
    del program.main.attributes["a-b"], program.main.methods["forward"]
    (alone,) = print_unit(program.main).files
    assert "class Layer" not in alone.text
    (both,) = print_unit(program.main, program.layer).files
    assert "class Layer" in both.text


def test_files_go_by_namespace() -> None:
    inner = ClassType("__torch__.parts.deep.Inner", is_module=True)
    outer = ClassType("__torch__.Outer", is_module=True)
    outer.add_attribute("0", inner)
    outer.add_attribute("1", inner)
    assert text_of(print_unit(outer)) == {
        "__torch__": (
            "class Outer(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
            "  __annotations__ = []\n"
            '  __annotations__["0"] = __torch__.parts.deep.Inner\n'
            '  __annotations__["1"] = __torch__.parts.deep.Inner\n'
        ),
        "__torch__.parts.deep": (
            "class Inner(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
        ),
    }


def test_types_of_one_name_are_told_apart() -> None:
    one, other = (ClassType("__torch__.Part") for _ in range(2))
    one.add_attribute("a", INT)
    other.add_attribute("b", TupleType((INT, one)))
    names = TypeNames(unique=True)
    assert names.name_of(other) == "__torch__.Part"
    assert text_of(print_unit(other, names=names)) == {
        "__torch__": "class Part:\n  b : Tuple[int, __torch__.___torch_mangle_0.Part]\n",
        "__torch__.___torch_mangle_0": "class Part:\n  a : int\n",
    }
    third = ClassType("__torch__.___torch_mangle_0.Part")
    assert names.name_of(third) == "__torch__.___torch_mangle_1.Part"


def test_a_function_used_as_a_value_is_printed_too() -> None:
    program = Program()
    graph = Graph()
    node = graph.insert(
        graph.create("prim::Constant", (), (FunctionType(program.functions["twice"]),))
    )
    graph.block.add_output(node.output)
    chosen = Function("__torch__.choose", declared=signature("choose", node.output.type))
    chosen.graph = graph
    assert text_of(print_unit(chosen)) == {
        "__torch__": "def choose() -> __torch__.prog.twice:\n  return __torch__.prog.twice\n",
        "__torch__.prog": "def twice(x: Tensor) -> Tensor:\n  return torch.mul(x, 2)\n",
    }


def test_values_of_enumerations() -> None:
    values = (("A", 'say "hi"'), ("B", 1.5), ("C", 2.0), ("D", 1e10), ("E", -3))
    (file,) = print_unit(EnumType("__torch__.E", INT, values)).files
    assert file.text == (
        'class E(Enum):\n  A = "say \\"hi\\""\n  B = 1.5\n  C = 2.\n  D = 10000000000.\n  E = -3\n'
    )


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ([1, 2], "c : Final[Tuple[int, int]] = (1, 2)"),
        ((1.5, ("a",)), 'c : Final[Tuple[float, Tuple[str]]] = (1.5, ("a",))'),
        (None, "c : Final[NoneType] = None"),
        (True, "c : Final[bool] = True"),
        ({"a": 1}, 'c : Final[Dict[str, int]] = {"a": 1}'),
        (1 - 2j, "c : Final[complex] = 1.-2.j"),
        ("é", "c : Final[str] = CONSTANTS.c0"),
        (Device("cpu"), 'c : Final[Device] = torch.device("cpu")'),
    ],
)
def test_final_constants(value: object, line: str) -> None:
    unit = print_unit(ClassType("__torch__.C", constants={"c": value}))
    assert text_of(unit) == {"__torch__": f"class C:\n  {line}\n"}
    assert unit.constants == (["é"] if "CONSTANTS" in line else [])


def test_constant_without_literal_is_refused() -> None:
    with pytest.raises(PrintError, match="c: a object cannot be a constant of printed code"):
        print_unit(ClassType("__torch__.C", constants={"c": object()}))


def test_classes_of_the_runtime_have_empty_files() -> None:
    native = ClassType("__torch__.torch.classes.quantized.Packed")
    assert text_of(print_unit(native)) == {"__torch__.torch.classes.quantized": ""}


def test_exported_function_must_return_one_value() -> None:
    function = Function("__torch__.f", declared=signature("f", NONE), graph=Graph())
    with pytest.raises(PrintError, match="must return one value"):
        print_unit(function)


def test_names_are_counted_over_a_file() -> None:
    def function(name: str) -> Function:
        text = (
            "graph(%x : Tensor):\n  %y.1 : Tensor = aten::mul(%x, %x)\n"
            "  %2 : Tensor = aten::mul(%y.1, %x)\n  %3 : Tensor = aten::mul(%2, %2)\n"
            "  return (%3)\n"
        )
        declared = signature(name, TENSOR, Argument("x", TENSOR, NO_DEFAULT))
        graph = parse_ir(text, table=Operators())
        return Function(f"__torch__.{name}", declared=declared, graph=graph)

    (file,) = print_unit(function("f"), function("g")).files
    assert re.findall(r"(\w+) = ", file.text) == ["y", "_0", "y", "_1"]
