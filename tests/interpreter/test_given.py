"""What a stretch is given: which lists and parts of tuples and dicts its steps read."""

from __future__ import annotations

from typing import Dict, List, Tuple  # noqa: UP035

import pytest

import rushlight as torch
from rushlight.interpreter.code.code import Step, parts_of
from rushlight.interpreter.plans.given import lists_read, may_be_given, reads_of
from rushlight.interpreter.running.invoking import code_of
from rushlight.typecheck.types.types import (
    FLOAT,
    INT,
    STRING,
    TENSOR,
    DictType,
    ListType,
    TupleType,
    Type,
)

Tensor = torch.Tensor


@torch.jit.script
def reading(
    xs: List[Tensor],  # noqa: UP006
    d: Dict[str, Tensor],  # noqa: UP006
    e: Dict[str, List[int]],  # noqa: UP006
    pair: Tuple[Tensor, int],  # noqa: UP006
    key: str,
) -> Tuple[Tensor, Tensor, List[int], bool, int]:  # noqa: UP006
    known = d["a"]
    chosen = d[key]
    counts = e["x"]
    found = "q" in d
    one, number = pair
    return xs[0] + one, known + chosen, counts, found, number


def steps(kind: str) -> list[Step]:
    parts = parts_of(code_of(reading._rushlight_function).body)
    return [each for each in parts if isinstance(each, Step) and each.node.kind == kind]


def texts(kind: str) -> list[list[str]]:
    return [[text for _, text in reads_of(each)] for each in steps(kind)]


def test_parts_of_dicts_are_read_by_constant_keys_where_they_are_plain() -> None:
    # d["a"], d[key], e["x"] and xs[0]
    assert texts("aten::__getitem__") == [["(r1.get('a') if r1 else None)"], [], [], []]
    assert texts("aten::__contains__") == [["('q' in r1 if r1 else False)"]]


def test_all_parts_of_a_tuple_are_read_at_once() -> None:
    ((first, second),) = texts("prim::TupleUnpack")
    assert first.endswith("[0] if r3 else None)")
    assert second.endswith("[1] if r3 else None)")


def test_lists_of_tensors_are_read_from_the_first_register_on() -> None:
    read = [list(lists_read(each)) for each in steps("aten::__getitem__")]
    assert read == [[], [], [], [0]]


@pytest.mark.parametrize(
    ("type", "given"),
    [
        (TENSOR, True),
        (ListType(INT), True),
        (ListType(FLOAT), True),
        (ListType(TENSOR), True),
        (ListType(STRING), False),
        (DictType(STRING, TENSOR), False),
        (TupleType((INT, INT)), True),
        (TupleType((INT, TENSOR)), False),
    ],
)
def test_what_native_code_may_be_given(type: Type, given: bool) -> None:
    assert may_be_given(type) is given
