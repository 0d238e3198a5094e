"""Binding arguments: what torch 2.13 takes, and what it says of what it does not take."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight.frontend.sources.source import UNKNOWN
from rushlight.frontend.syntax import tree
from rushlight.interpreter.values.arguments import Binding
from rushlight.ops.tensors.tensor import Tensor
from rushlight.typecheck.definitions.class_types import ClassType
from rushlight.typecheck.definitions.functions import Function
from rushlight.typecheck.definitions.schema import NO_DEFAULT, Argument, Signature
from rushlight.typecheck.types.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    STRING,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)


def bind(name: str, *parameters: Any, annotated: bool = True, **options: Any) -> Binding:
    """The binding of a function with parameters `(name, type)` or `(name, type, default)`."""
    arguments = tuple(
        Argument(p[0], p[1], p[2] if len(p) > 2 else NO_DEFAULT, **options) for p in parameters
    )
    function = Function(f"__torch__.{name}")
    returns = (Argument("", parameters[0][1]),)
    if len(parameters) > 2:
        returns = (Argument("", TupleType(tuple(p[1] for p in parameters))),)
    function.declared = Signature(name, "", arguments, returns)
    annotation = tree.Name(UNKNOWN, "int") if annotated else None
    shown = tuple(tree.Parameter(UNKNOWN, p[0], annotation, None) for p in parameters)
    function.tree = tree.Function(UNKNOWN, name, UNKNOWN, shown, None, ())
    return Binding(function, function.signature)


def tensor(data: Any, dtype: Any = np.float32) -> Tensor:
    return Tensor._of(np.asarray(data, dtype))


def cast(cls: str) -> str:
    return (
        f"Cast error details: Unable to cast Python instance of type <class '{cls}'> to C++ type "
        "'?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )


POINT = TupleType((INT, TENSOR), "__torch__.P", ("a", "b"))

TAKEN: list[tuple[Type, Any, Any]] = [
    (INT, 3, 3),
    (INT, True, 1),
    (INT, np.int64(3), 3),
    (INT, tensor(3, np.int64), 3),
    (INT, tensor(3.5), 3),
    (FLOAT, 3, 3.0),
    (FLOAT, True, 1.0),
    (FLOAT, np.float64(3), 3.0),
    (FLOAT, tensor(3, np.int64), 3.0),
    (BOOL, 1, True),
    (BOOL, tensor(True, np.bool_), True),
    (COMPLEX, 3, 3 + 0j),
    (STRING, "x", "x"),
    (ListType(INT), (1, 2), [1, 2]),
    (ListType(FLOAT), [1, 2.5], [1.0, 2.5]),
    (ListType(FLOAT), range(3), [0.0, 1.0, 2.0]),
    (ListType(ListType(INT)), [[1], [2, 3]], [[1], [2, 3]]),
    (DictType(STRING, INT), {"a": True}, {"a": 1}),
    (OptionalType(INT), None, None),
    (OptionalType(INT), 4, 4),
    (TupleType((INT, STRING)), [1, "a"], (1, "a")),
    (UnionType((INT, STRING)), "x", "x"),
    (TENSOR, None, None),
]


@pytest.mark.parametrize(("type", "given", "expected"), TAKEN)
def test_taken(type: Type, given: Any, expected: Any) -> None:
    (value,) = bind("f", ("x", type)).bind((given,), None)
    assert value == expected
    assert value.__class__ is expected.__class__
    if isinstance(value, list):
        assert [v.__class__ for v in value] == [v.__class__ for v in expected]


def test_a_tensor_is_taken_as_its_array() -> None:
    given = tensor([1, 2])
    (value,) = bind("f", ("x", TENSOR)).bind((given,), None)
    assert value is given._array
    ((number, array),) = bind("f", ("t", POINT)).bind(((1, given),), None)
    assert number == 1
    assert array is given._array


def test_a_named_tuple_comes_back_with_its_fields() -> None:
    result = bind("f", ("t", POINT)).give_back((1, np.ones(1)))
    assert result._fields == ("a", "b")
    assert result.a == 1
    assert isinstance(result.b, Tensor)
    assert type(result).__name__ == "P"


F = (("x", INT), ("y", FLOAT, 2.0))
F_TEXT = "f(int x, float y=2.) -> int"
G = (("xs", ListType(INT)), ("d", DictType(STRING, INT)), ("o", OptionalType(INT), None))
G_TEXT = "g(int[] xs, Dict(str, int) d, int? o=None) -> ((int[], Dict(str, int), int?))"


@pytest.mark.parametrize(
    ("name", "parameters", "args", "kwargs", "text"),
    [
        ("f", F, (), {}, f"f() is missing value for argument 'x'. Declaration: {F_TEXT}"),
        (
            *("f", F, (1, 2, 3), {}),
            f"f() expected at most 2 argument(s) but received 3 argument(s). Declaration: {F_TEXT}",
        ),
        (
            *("f", F, (1,), {"z": 3}),
            f"Unknown keyword argument 'z' for operator 'f'. Schema: {F_TEXT}",
        ),
        (
            *("f", F, (1,), {"x": 3}),
            f"Argument 'x' specified both as positional and keyword argument. Schema: {F_TEXT}",
        ),
    ],
)
def test_wrong_calls(name: str, parameters: Any, args: Any, kwargs: Any, text: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        bind(name, *parameters).bind(args, kwargs)
    assert str(caught.value) == text


def _words(fault: Callable[[], object]) -> str:
    """What this Python says of a fault."""
    with pytest.raises(TypeError) as caught:
        fault()
    return str(caught.value)


WRONG: list[Any] = [
    ("f", F, (1.5,), "int", "x", "float", 0, "1.5", F_TEXT, cast("float")),
    ("f", F, ("a",), "int", "x", "str", 0, "'a'", F_TEXT, cast("str")),
    ("f", F, (2**70,), "int", "x", "int", 0, str(2**70), F_TEXT, cast("int")),
    ("f", F, (None,), "int", "x", "NoneType", 0, "None", F_TEXT, cast("NoneType")),
    (
        *("f", F, (np.float64(3),), "int", "x", "float64", 0, "np.float64(3.0)", F_TEXT),
        cast("numpy.float64"),
    ),
    (
        *("f", F, (tensor([1, 1]),), "int", "x", "Tensor", 0, "tensor([1., 1.])", F_TEXT),
        cast("torch.Tensor"),
    ),
    (
        *("g", G, ([1, "a"], {}), "List[int]", "xs", "list", 0, "[1, 'a']", G_TEXT),
        cast("list"),
    ),
    ("g", G, (5, {}), "List[int]", "xs", "int", 0, "5", G_TEXT, cast("int")),
    (
        *("g", G, ([1], {"a": "1"}), "Dict[str, int]", "d", "dict", 1, "{'a': '1'}", G_TEXT),
        cast("str"),
    ),
    (
        *("g", G, ([1], [1]), "Dict[str, int]", "d", "list", 1, "[1]", G_TEXT),
        f" Python error details: TypeError: {_words(lambda: dict([1]))}",  # type: ignore[list-item]
    ),
    ("g", G, ([1], {}, "a"), "Optional[int]", "o", "str", 2, "'a'", G_TEXT, cast("str")),
    (
        *("h", (("t", TupleType((INT, STRING))),), ((1,),), "Tuple[int, str]", "t", "tuple"),
        *(0, "(1,)", "h((int, str) t) -> ((int, str))"),
        "Cast error details: Object (1,) had a different number of elements than type "
        "Tuple[int, str]",
    ),
    (
        *("h", (("t", TupleType((INT, STRING))),), (3,), "Tuple[int, str]", "t", "int"),
        *(0, "3", "h((int, str) t) -> ((int, str))"),
        " Python error details: TypeError: 'int' object is not iterable",
    ),
    (
        *("hp", (("t", POINT),), (3,), "__torch__.P", "t", "int"),
        *(0, "3", "hp(__torch__.P t) -> __torch__.P"),
        " Python error details: TypeError: 'int' object is not iterable",
    ),
    (
        *("hl", (("t", ListType(TENSOR)),), ([1],), "List[Tensor]", "t", "list"),
        *(0, "[1]", "hl(Tensor[] t) -> Tensor[]", cast("list")),
    ),
    (
        *("hll", (("t", ListType(ListType(INT))),), ([1],), "List[List[int]]", "t", "list"),
        *(0, "[1]", "hll(int[][] t) -> int[][]", cast("int")),
    ),
    (
        *("hu", (("t", UnionType((INT, STRING))),), (3.5,), "Union[int, str]", "t", "float"),
        *(0, "3.5", "hu(Union(int, str) t) -> Union(int, str)"),
        "Cast error details: Expected a member of Union[int, str] but instead found type float",
    ),
    (
        *("hs", (("t", STRING),), (3,), "str", "t", "int", 0, "3", "hs(str t) -> str"),
        cast("int"),
    ),
]


@pytest.mark.parametrize(
    ("name", "parameters", "args", "type", "argument", "found", "position", "value", "decl", "end"),
    WRONG,
)
def test_wrong_types(
    name: str,
    parameters: Any,
    args: Any,
    type: str,
    argument: str,
    found: str,
    position: int,
    value: str,
    decl: str,
    end: str,
) -> None:
    with pytest.raises(RuntimeError) as caught:
        bind(name, *parameters).bind(args, None)
    assert str(caught.value) == (
        f"{name}() Expected a value of type '{type}' for argument '{argument}' but instead found "
        f"type '{found}'.\nPosition: {position}\nValue: {value}\nDeclaration: {decl}\n{end}"
    )


def test_a_tensor_without_annotation() -> None:
    with pytest.raises(RuntimeError) as caught:
        bind("ht", ("t", TENSOR), annotated=False).bind((3,), None)
    assert str(caught.value) == (
        "ht() Expected a value of type 'Tensor (inferred)' for argument 't' but instead found type "
        "'int'.\nInferred 't' to be of type 'Tensor' because it was not annotated with an explicit "
        "type.\nPosition: 0\nValue: 3\nDeclaration: ht(Tensor t) -> Tensor\n"
        "Cast error details: Unable to cast 3 to Tensor"
    )


def test_self_counts_as_an_argument() -> None:
    cls = ClassType("__torch__.M", True)
    binding = bind("forward", ("self", cls), ("x", INT))
    with pytest.raises(RuntimeError, match=r"forward\(__torch__.M self, int x\) -> __torch__.M"):
        binding.bind((object(),), None)


def test_keyword_only_arguments_are_not_taken_by_position() -> None:
    with pytest.raises(RuntimeError) as caught:
        bind("kwo", ("k", INT), keyword_only=True).bind((1,), None)
    assert str(caught.value) == (
        "kwo() takes 0 positional argument(s) but 1 was/were given.  "
        "Declaration: kwo(*, int k) -> int"
    )


def test_default_lists_are_not_shared() -> None:
    binding = bind("f", ("x", INT), ("l", ListType(INT), [1]))
    _, first = binding.bind((1,), None)
    first.append(2)
    _, second = binding.bind((1,), None)
    assert second == [1]


def test_named_tuples_of_python_are_taken_as_tuples() -> None:
    pair = namedtuple("pair", "a b")
    (value,) = bind("f", ("t", TupleType((INT, FLOAT)))).bind((pair(1, 2),), None)
    assert value == (1, 2.0)
    assert type(value) is tuple
