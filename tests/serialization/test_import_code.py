"""Code files -> types and functions, without compiling any body."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rushlight.frontend.diagnostics.diagnostics import Collector
from rushlight.frontend.sources.source import UNKNOWN
from rushlight.ops.memory.dtype import Device
from rushlight.serialization.loading.import_code import CodeFile, CodeImporter
from rushlight.serialization.loading.unknown_operators import unknown_operators
from rushlight.typecheck.definitions.class_types import ClassType, InterfaceType
from rushlight.typecheck.definitions.functions import Function
from rushlight.typecheck.definitions.names import (
    Constant,
    FunctionName,
    Meaning,
    OperatorName,
    SpecialForm,
    TypeName,
)
from rushlight.typecheck.types.types import (
    FLOAT,
    INT,
    STRING,
    TENSOR,
    DictType,
    EnumType,
    ListType,
    OptionalType,
    TupleType,
)

MAIN = """op_version_set = 1
import __torch__.lib
class M(Module):
  __parameters__ = ["weight", ]
  __buffers__ = ["mean", ]
  weight : Tensor
  mean : Optional[Tensor]
  training : bool
  table : Dict[str, List[int]]
  empty : Tuple[()]
  __annotations__["0"] = __torch__.lib.Inner
  depth : Final[int] = 3
  slope : Final[float] = -inf
  sizes : Final[Tuple[int, int]] = (1, 2)
  def forward(self: __torch__.M,
    x: Tensor) -> Tensor:
    _0 = __torch__.lib.double
    return torch.mystery(_0(x, ), ops.prim.strange(x))
"""

LIB = """class Inner(Module):
  best : __torch__.lib.Point
  def forward(self: __torch__.lib.Inner,
    x: Tensor) -> Tensor:
    return torch.mystery(x)
class Point(NamedTuple):
  x : Tensor
  label : str
class Color(Enum):
  RED = 1
  BLUE = 2
class Shape(ModuleInterface):
  def forward(self, x: Tensor) -> Tensor:
    pass
class Plain:
  n : int
  def get(self: __torch__.lib.Plain) -> int:
    return self.n
def double(x: Tensor) -> Tensor:
  return torch.add(x, x)
def unused(x: Tensor) -> Tensor:
  return torch.nothing_calls_this(x)
"""


def importer(
    collector: Collector | None = None, files: Mapping[str, str] | None = None
) -> CodeImporter:
    texts = files or {"__torch__": MAIN, "__torch__.lib": LIB}
    return CodeImporter(
        {name: (lambda text=text: CodeFile(text)) for name, text in texts.items()},
        [Constant("a", STRING)],
        collector or Collector(),
        lambda: ["aten::add", "prim::min"],
    )


def resolve(code: CodeImporter, dotted: str) -> Meaning | None:
    first, *rest = dotted.split(".")
    meaning = code.resolver.lookup(first, UNKNOWN)
    for name in rest:
        meaning = meaning.member(name, UNKNOWN)  # type: ignore[union-attr]
    return meaning


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("True", True),
        ("-1.5", -1.5),
        ("1.-2.j", 1 - 2j),
        ('(1, (2., "x"),)', (1, (2.0, "x"))),
        ("annotate(List[int], [])", []),
        ('{"a": 1}', {"a": 1}),
        ("CONSTANTS.c0", "a"),
        ('torch.device("cuda:1")', Device("cuda:1")),
    ],
)
def test_constants_of_a_class(text: str, value: object) -> None:
    code = importer(files={"__torch__": f"class M(Module):\n  c : Final[int] = {text}\n"})
    cls = code.type_named("__torch__.M")
    assert isinstance(cls, ClassType)
    assert cls.constants == {"c": value}


@pytest.mark.parametrize(
    "text", ["torch.ones([2])", 'torch.device("nowhere")', "CONSTANTS.c1", '-"a"', "1 * 2"]
)
def test_what_is_no_constant_is_told_with_its_place(text: str) -> None:
    collector = Collector()
    files = {"__torch__": f"class M(Module):\n  c : Final[int] = {text}\n"}
    importer(collector, files).type_named("__torch__.M")
    [found] = collector.found
    assert "`c` is no constant that code files hold" in found.message
    assert found.primary is not None
    assert found.primary.span.line == 2


def test_a_module_class() -> None:
    collector = Collector()
    code = importer(collector)
    cls = code.type_named("__torch__.M")
    assert isinstance(cls, ClassType)
    assert cls.is_module
    assert [(a.name, a.type, a.kind) for a in cls.attributes.values()] == [
        ("weight", TENSOR, "parameter"),
        ("mean", OptionalType(TENSOR), "buffer"),
        ("training", cls.attributes["training"].type, "attribute"),
        ("table", DictType(STRING, ListType(INT)), "attribute"),
        ("empty", TupleType(()), "attribute"),
        ("0", code.type_named("__torch__.lib.Inner"), "attribute"),
    ]
    assert cls.constants == {"depth": 3, "slope": float("-inf"), "sizes": (1, 2)}
    method = cls.method("forward")
    assert isinstance(method, Function)
    assert method.owner is cls
    assert method.qualified_name == "__torch__.M.forward"
    assert collector.found == []


def test_other_definitions() -> None:
    code = importer()
    assert code.type_named("__torch__.lib.Point") == TupleType(
        (TENSOR, STRING), "__torch__.lib.Point", ("x", "label")
    )
    color = code.type_named("__torch__.lib.Color")
    assert isinstance(color, EnumType)
    assert (color.value, color.members) == (INT, (("RED", 1), ("BLUE", 2)))
    shape = code.type_named("__torch__.lib.Shape")
    assert isinstance(shape, InterfaceType)
    assert (shape.is_module, list(shape.methods)) == (True, ["forward"])
    plain = code.type_named("__torch__.lib.Plain")
    assert isinstance(plain, ClassType)
    assert not plain.is_module
    assert code.type_named("__torch__.lib.Absent") is None
    assert code.type_named("__torch__.lib.double") is None
    assert code.function_named("__torch__.lib.double") is not None


def test_every_archive_has_its_own_types() -> None:
    one, other = importer(), importer()
    assert one.type_named("__torch__.M") is one.type_named("__torch__.M")
    assert one.type_named("__torch__.M") is not other.type_named("__torch__.M")


def test_names() -> None:
    code = importer()
    assert resolve(code, "torch.tanh") == OperatorName("aten::tanh")
    assert resolve(code, "torch.autograd.grad") == OperatorName("aten::grad")
    assert resolve(code, "ops.prim.min") == OperatorName("prim::min")
    assert resolve(code, "CONSTANTS.c0") == Constant("a", STRING)
    assert resolve(code, "CONSTANTS.c1") is None
    assert resolve(code, "annotate") == SpecialForm("annotate")
    assert resolve(code, "inf") == Constant(float("inf"), FLOAT)
    assert resolve(code, "__torch__.lib.Color") == TypeName(code.type_named("__torch__.lib.Color"))  # type: ignore[arg-type]
    function = resolve(code, "__torch__.lib.double")
    assert isinstance(function, FunctionName)
    assert function.function.qualified_name == "__torch__.lib.double"
    assert resolve(code, "__torch__.absent") is None
    assert resolve(code, "os") is None
    assert resolve(code, "rushlight") is None


def test_unknown_operators_are_found_where_code_can_reach_them() -> None:
    known = {"aten::add"}
    found = unknown_operators(importer(), ["__torch__.M"], known.__contains__)
    assert [d.code for d in found] == ["unknown-op", "unknown-op"]
    mystery, strange = found
    assert (
        mystery.message
        == "the archive uses the operator `torch.mystery`, which does not exist here"
    )
    assert mystery.primary is not None
    assert str(mystery.primary.span) == "code/__torch__.py:18:12"
    assert [str(label.span) for label in mystery.secondary] == ["code/__torch__/lib.py:5:12"]
    assert "`ops.prim.strange`" in strange.message


def test_trees_are_not_asked_for_while_all_operators_are_known() -> None:
    code = importer()

    def everything(operator: str) -> bool:
        return operator.partition("::")[0] in ("aten", "prim")

    code.definition = None  # type: ignore[method-assign, assignment]
    assert unknown_operators(code, ["__torch__.M"], everything) == []


def test_of_very_many_places_some_are_shown() -> None:
    text = "def f(x: Tensor) -> Tensor:\n" + "  x = torch.mystery(x)\n" * 20 + "  return x\n"
    code = importer(files={"__torch__": text})
    (found,) = unknown_operators(code, ["__torch__.f"], {"aten::add"}.__contains__)
    assert (len(found.secondary), len(found.notes)) == (3, 4)
    assert found.notes[-1] == "and at 13 more places"


def test_weights_that_pytorch_left_out_are_told_as_lost() -> None:
    text = (
        "def f(x: Tensor) -> Tensor:\n"
        "  weight = ops.prim.ConstantMKLDNNTensor()\n"
        "  bias = ops.prim.ConstantMKLDNNTensor()\n"
        "  return ops.prim.mkldnn_convolution(torch.to_mkldnn(x), weight, bias, [1], [0], [1], 1)\n"
    )
    code = importer(files={"__torch__": text})
    (found,) = unknown_operators(code, ["__torch__.f"], {"aten::add"}.__contains__)
    assert (found.code, found.message) == (
        *("unsupported-value", "2 weights of the archive are not in it"),
    )
    assert found.torch_message == "required keyword attribute 'value' is undefined"


def test_an_operator_spelled_in_a_string_is_not_used() -> None:
    text = 'def f() -> str:\n  return "torch.mystery"\n'
    code = importer(files={"__torch__": text})
    assert unknown_operators(code, ["__torch__.f"], {"aten::add"}.__contains__) == []


def test_functions_become_trees_when_they_are_read() -> None:
    collector = Collector()
    text = "def good(x: Tensor):\n  return x\ndef bad():\n  yield 1\n"
    code = importer(collector, {"__torch__": text})
    good, bad = code.function_named("__torch__.good"), code.function_named("__torch__.bad")
    assert good is not None
    assert bad is not None
    assert good.tree is None
    assert code.read(good)
    assert good.tree is not None
    assert not collector.found
    for _ in range(2):  # who tries again is told again
        code.read(bad)
        assert [d.code for d in collector.found] == ["unsupported-syntax"]
        collector.found.clear()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class M(Module):\n  x : Tensr\n", "`Tensr` is not a type"),
        ("class M(dict):\n  x : int\n", "bases no class here can have"),
        ("class M(Enum):\n  A = 1\n  B = 'x'\n", "not of one type"),
        ("class M(Module:\n", "this is not code"),
    ],
)
def test_faults_are_reported_with_their_place(text: str, message: str) -> None:
    collector = Collector()
    importer(collector, {"__torch__": text}).type_named("__torch__.M")
    (found,) = collector.found
    assert message in found.message
    assert found.primary is not None
    assert found.primary.span.filename == "code/__torch__.py"


@pytest.mark.parametrize(
    ("found", "message", "column"),
    [
        ("\0y", "a null character", 3),
        ("\udcffy", "a byte that is not UTF-8", 3),
        ("9" * 5000, "value has 5000 digits", 1),
    ],
)
def test_what_stands_in_no_text_is_reported_where_it_stands(
    found: str, message: str, column: int
) -> None:
    collector = Collector()
    text = f"class M(Module):\n  x : int\n  {found} = 1\n"
    importer(collector, {"__torch__": text}).type_named("__torch__.M")
    (fault,) = collector.found
    assert message in fault.message
    assert "set_int_max_str_digits" not in fault.message
    assert fault.primary is not None
    assert str(fault.primary.span) == f"code/__torch__.py:3:{column}"


def test_a_class_may_name_itself_and_a_tuple_may_not() -> None:
    collector = Collector()
    text = "class A:\n  a : Optional[__torch__.A]\nclass T(NamedTuple):\n  t : __torch__.T\n"
    code = importer(collector, {"__torch__": text})
    cls = code.type_named("__torch__.A")
    assert isinstance(cls, ClassType)
    assert cls.attributes["a"].type == OptionalType(cls)
    code.type_named("__torch__.T")
    assert [d.code for d in collector.found] == ["unknown-type"]
