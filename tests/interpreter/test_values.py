"""Types of values, values of types, script objects, and how values are described."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np
import pytest

from rushlight.interpreter.failures.describe import describe
from rushlight.interpreter.values.inference import CannotInfer, infer_type, type_of_value
from rushlight.interpreter.values.matching import matches
from rushlight.interpreter.values.objects import EnumMember, ScriptObject
from rushlight.interpreter.values.values import CastError, from_machine, to_machine
from rushlight.ops.memory.dtype import Device, dtype_by_name
from rushlight.ops.tensors.tensor import Tensor
from rushlight.typecheck.definitions.class_types import ClassType
from rushlight.typecheck.types.types import (
    ANY,
    BOOL,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    STRING,
    TENSOR,
    DictType,
    EnumType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)

ARRAY = np.zeros(2, np.float32)


class Pair(NamedTuple):
    left: int
    right: float


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (1, INT),
        (True, BOOL),
        (1.5, FLOAT),
        ("a", STRING),
        (None, NONE),
        (Tensor._of(ARRAY), TENSOR),
        (Device("cpu"), DEVICE),
        (dtype_by_name("float32"), INT),
        ([1, 2], ListType(INT)),
        ([Tensor._of(ARRAY)], ListType(TENSOR)),
        ([1, None], ListType(OptionalType(INT))),
        ({"a": [1.0]}, DictType(STRING, ListType(FLOAT))),
        ((1, "a"), TupleType((INT, STRING))),
    ],
)
def test_the_type_of_a_value(value: Any, type: Type) -> None:
    assert type_of_value(value) == type


def test_a_named_tuple_is_a_plain_one_where_nothing_says_more() -> None:
    assert type_of_value(Pair(1, 2.0)) == TupleType((INT, FLOAT))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([], "List trace inputs must have elements"),
        ({}, "Dictionary inputs must have entries"),
        (
            [1, "x"],
            "List inputs to traced functions must have consistent element type. Found int and str",
        ),
        (
            object(),
            "Only tensors and (possibly nested) tuples of tensors, lists, or dicts are supported "
            "as inputs or outputs of traced functions, but instead got value of type object.",
        ),
    ],
)
def test_values_without_a_type(value: Any, reason: str) -> None:
    assert type_of_value(value) is None
    with pytest.raises(CannotInfer) as caught:
        infer_type(value)
    assert str(caught.value) == reason


def test_any_takes_what_has_a_type() -> None:
    assert to_machine([1, 2], ANY) == [1, 2]
    given = Tensor._of(ARRAY)
    assert to_machine([given], ANY)[0] is ARRAY
    with pytest.raises(RuntimeError, match="Tracer cannot infer type of"):
        to_machine(object(), ANY)
    (back,) = from_machine([ARRAY], ANY)
    assert isinstance(back, Tensor)


CLASS = ClassType("__torch__.C")
CLASS.add_attribute("n", INT)
CLASS.add_attribute("t", TENSOR)


@pytest.mark.parametrize(
    ("value", "type", "expected"),
    [
        (1, INT, True),
        (True, INT, False),
        (True, BOOL, True),
        (1, FLOAT, False),
        (ARRAY, TENSOR, True),
        ([1, 2], ListType(INT), True),
        ([1, "a"], ListType(INT), False),
        ([], ListType(STRING), True),
        ((1, "a"), TupleType((INT, STRING)), True),
        ((1,), TupleType((INT, STRING)), False),
        ((), TupleType(()), True),
        ((1,), TupleType(()), False),
        ({"a": 1}, DictType(STRING, INT), True),
        (None, OptionalType(INT), True),
        ("a", UnionType((INT, STRING)), True),
        (ScriptObject(CLASS), CLASS, True),
        (ScriptObject(CLASS), ClassType("__torch__.C"), False),
    ],
)
def test_matching(value: Any, type: Type, expected: bool) -> None:
    assert matches(value, type) is expected


def test_a_script_object() -> None:
    target = ScriptObject(CLASS, [1, None])
    other = ScriptObject(CLASS, [1, None])
    target.n = 5
    assert (target.n, other.n) == (5, 1)
    assert target == target
    assert target != other
    with pytest.raises(AttributeError, match="does not have a field with name 'missing'"):
        target.missing  # noqa: B018
    assert to_machine(target, CLASS) is target
    assert from_machine(target, CLASS) is target
    target.handle = "outside"
    assert from_machine(target, CLASS) == "outside"
    with pytest.raises(CastError):
        to_machine(object(), CLASS)


def test_an_object_is_taken_from_its_handle() -> None:
    class Handle:
        _c = ScriptObject(CLASS)

    assert to_machine(Handle(), CLASS) is Handle._c


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def test_members_of_an_enumeration() -> None:
    type = EnumType("__torch__.Color", INT, (("RED", 1), ("BLUE", 2)))
    member = to_machine(Color.BLUE, type)
    assert member == EnumMember(type, "BLUE")
    assert (member.value, str(member)) == (2, "Enum<Color.BLUE>")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "int = 3"),
        (None, "None"),
        ([1, 2, 3], "list[int] = [1, 2, 3]"),
        ([], "list = []"),
        ([1] * 10, "list[int] = [1, 1, 1, 1, 1, 1, 1, 1, … (10 in all)]"),
        ((1, "a"), "tuple[int, str] = (1, 'a')"),
        ({"a": 1}, "dict[str, int] = {'a': 1}"),
        (np.array([1.0, -1.0], np.float32), "float32[2] = [1., -1.]"),
        (np.array([True, False]), "bool[2] = [True, False]"),
        (np.zeros((3, 8), np.float32), "float32[3, 8]"),
        (np.array(2, np.int64), "int64[] = 2"),
        ([ARRAY], "list[Tensor] = [float32[2]]"),
        ("x" * 100, f"str = '{'x' * 56}..."),
    ],
)
def test_describe(value: Any, text: str) -> None:
    assert describe(value) == text


def test_whole_numbers_have_64_bits() -> None:
    for number in (2**63 - 1, -(2**63)):
        assert to_machine(number, INT) == number
    for number in (2**63, -(2**63) - 1):
        with pytest.raises(CastError, match="Unable to cast Python instance of type <class 'int'>"):
            to_machine(number, INT)


_NUMBER = UnionType((INT, STRING))


@pytest.mark.parametrize(
    "type", [ListType(INT), ListType(OptionalType(INT)), ListType(_NUMBER)], ids=str
)
def test_whole_numbers_in_lists_have_64_bits(type: ListType) -> None:
    edges = [2**63 - 1, 0, -(2**63)]
    assert to_machine(edges, type) == edges
    for number in (2**63, 3**63, -(2**63) - 1, -(2**64)):
        with pytest.raises(CastError):
            to_machine([0, number], type)


def test_a_dict_is_taken_as_it_is_or_entry_by_entry() -> None:
    given = {"a": 1, "b": -(2**63)}
    taken = to_machine(given, DictType(STRING, INT))
    assert taken == given
    assert taken is not given
    assert to_machine({"a": True}, DictType(STRING, INT)) == {"a": 1}
    with pytest.raises(CastError):
        to_machine({"a": 2**63}, DictType(STRING, INT))


def test_a_dict_is_given_as_another_one_with_texts_of_letters() -> None:
    for key, held in ((STRING, {"b": 1, "a": 2}), (INT, {7: 1, -1: 2})):
        rows = [held, held]
        given: Any = from_machine(rows, ListType(DictType(key, INT)))
        assert [list(each.items()) for each in given] == [list(held.items())] * 2
        assert given[0] is not held
        assert given[0] is not given[1]
    cut = {"a": 1, "\udcc3\udca9": 2}
    assert from_machine(cut, DictType(STRING, INT)) == {"a": 1, "\u00e9": 2}
    with pytest.raises(UnicodeDecodeError):
        from_machine({"\udcc3": 1}, DictType(STRING, INT))
