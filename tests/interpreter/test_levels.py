"""Containers that are taken to the machine level by level are as conversions make them."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.values.inward import inward
from rushlight.interpreter.values.levels import Unusual, taken_by_levels
from rushlight.typecheck.types.types import (
    BOOL,
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

Tensor = torch.Tensor
A, B = torch.ones(2), torch.nn.Parameter(torch.zeros(3))
PAIR = TupleType((TENSOR, INT))
ROWS = ListType(DictType(STRING, ListType(FLOAT)))

VALUES: list[tuple[Type, Any]] = [
    (ListType(TENSOR), [A, B, A]),
    (ListType(TENSOR), []),
    (ListType(PAIR), [(A, 1), (B, -2)]),
    (ListType(PAIR), [(A, (1 << 63) - 1), (B, -(1 << 63))]),
    (ListType(PAIR), []),
    (ListType(ListType(PAIR)), [[(A, 1)], [], [(B, 2), (A, 3)]]),
    (ListType(DictType(STRING, TENSOR)), [{"a": A, "b": B}, {}, {"b": A}]),
    (DictType(INT, TupleType((ListType(TENSOR), BOOL))), {3: ([A], True), 1: ([], False)}),
    (ListType(OptionalType(TENSOR)), [None, A, None, B]),
    (DictType(STRING, OptionalType(ListType(INT))), {"a": None, "b": [1, 2]}),
    (TupleType((ListType(OptionalType(PAIR)), STRING)), ([None, (A, 4)], "x")),
    (ROWS, [{"box": [0.5, 1.5], "size": []}, {}]),
]

OTHERS: list[tuple[Type, Any]] = [
    (ListType(PAIR), [(A, 1), (A, 2, 3)]),
    (ListType(PAIR), [(A, 1), [A, 2]]),
    (ListType(PAIR), [(A, True)]),
    (ListType(PAIR), [(A, 1 << 63)]),
    (ListType(PAIR), [(A, -(1 << 63) - 1)]),
    (ListType(PAIR), [(A, 1 << 64)]),
    (ListType(PAIR), ((A, 1),)),
    (ListType(TENSOR), [A, None]),
    (ListType(TENSOR), [A, 1]),
    (ListType(TENSOR), [A, A.as_subclass(type("Own", (Tensor,), {}))]),
    (ROWS, [types.MappingProxyType({"box": [0.5]})]),
    (ROWS, [{1: [0.5]}]),
    (ROWS, [{"box": [1]}]),
]


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and same([*one.values()], [*other.values()])
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one is other if isinstance(one, np.ndarray) else bool(one == other)


def tensors_in(value: Any) -> list[Tensor]:
    if isinstance(value, dict):
        return tensors_in([*value.values()])
    if isinstance(value, (list, tuple)):
        return [found for each in value for found in tensors_in(each)]
    return [value] if isinstance(value, Tensor) else []


@pytest.mark.parametrize(("type", "value"), VALUES, ids=lambda each: str(each)[:30])
def test_values_are_those_of_conversions(type: Type, value: Any) -> None:
    taken = taken_by_levels(type)
    assert taken is not None
    made, tensors = taken(value)
    assert same(made, inward(type)(value))
    assert made is not value
    assert sorted(map(id, tensors)) == sorted(map(id, tensors_in(value)))


@pytest.mark.parametrize(("type", "value"), OTHERS, ids=lambda each: str(each)[:30])
def test_what_is_not_as_usual_is_left_alone(type: Type, value: Any) -> None:
    taken = taken_by_levels(type)
    assert taken is not None
    with pytest.raises(Unusual):
        taken(value)


def test_only_containers_have_levels() -> None:
    for type in (TENSOR, INT, OptionalType(ListType(TENSOR))):
        assert taken_by_levels(type) is None


def count_of(items: list[tuple[Tensor, int]], others: dict[str, list[Tensor]]) -> Tensor:
    total = torch.zeros(2)
    for x, n in items:
        total = total + x * n
    for xs in others.values():
        for x in xs:
            total = total + x
    return total


def test_calls_with_nested_containers() -> None:
    scripted = torch.jit.script(count_of)
    x = torch.tensor([1.0, 2.0])
    for _ in range(40):
        assert scripted([(x, 2), (x, 3)], {"a": [x], "b": []}).tolist() == [6.0, 12.0]
    assert scripted(((x, 2),), {"a": (x,)}).tolist() == [3.0, 6.0]
    wanted = x.clone().requires_grad_()
    scripted([(x, 1), (wanted, 5)], {"a": [wanted]}).sum().backward()
    assert wanted.grad.tolist() == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="count_of"):
        scripted([(x, "a")], {})
    same = [x]
    assert scripted([(x, 2)] * 2, {"a": same, "b": same}).tolist() == [6.0, 12.0]
