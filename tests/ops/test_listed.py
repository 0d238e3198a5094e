"""Operators that take lists of tensors, as functions of their elements one by one."""

from __future__ import annotations

import pytest

from rushlight.ops.table.listed import listed
from rushlight.ops.table.table import TABLE


def taken(name: str) -> list[object]:
    """Some value for each argument of an operator."""
    entry = TABLE.operator(name)
    assert entry is not None
    types = [str(each.type) for each in entry.signature.arguments]
    return [
        [f"{i}{j}" for j in range(i + 2)] if t == "Tensor[]" else i for i, t in enumerate(types)
    ]


@pytest.mark.parametrize(
    "name", ["aten::cat", "aten::lstm_cell", "aten::lstm.input", "aten::stack"]
)
def test_what_is_put_together_is_taken_apart_again(name: str) -> None:
    entry = TABLE.operator(name)
    assert entry is not None
    form = listed(entry)
    assert form is not None
    values = taken(name)

    def function(*values: object) -> list[object]:
        return list(values)

    assert form.put_together(form.taken_apart(function))(*values) == values
    text = form.written([f"v[{i}]" for i in range(len(values))])
    space = {"v": values, "f": form.taken_apart(function)}
    assert eval(f"f({text})", space) == values


def test_others_are_none() -> None:
    entry = TABLE.operator("aten::add.Tensor")
    assert entry is not None
    assert listed(entry) is None
