"""Operators of numbers, strings and lists against torch's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import NAMES, load

from rushlight.ops.arithmetic.scalar import wrap64
from rushlight.ops.memory.errors import OperatorError
from rushlight.ops.table.table import TABLE

INT64 = st.integers(-(2**63), 2**63 - 1)


def run(name: str, *arguments: Any) -> Any:
    entry = TABLE.operator(name)
    assert entry is not None
    defaults = [a.default for a in entry.signature.arguments[len(arguments) :]]
    return entry.forward(*arguments, *defaults)


def agrees(found: Any, text: str) -> bool:
    if isinstance(found, str):
        return found == text
    if repr(found) == text:
        return True
    expected = eval(text, dict(NAMES))
    if isinstance(found, (float, complex)):
        return abs(found - expected) <= 1e-12 * abs(expected)
    return found == expected and type(found) is type(expected)


@pytest.mark.parametrize(("name", "arguments", "expected"), load("scalars.json"))
def test_results_are_torchs(name: str, arguments: str, expected: str) -> None:
    values = eval(arguments, dict(NAMES))
    if expected.startswith("!"):
        with pytest.raises(OperatorError) as caught:
            run(name, *values)
        assert str(caught.value) == expected.partition(": ")[2]
    else:
        assert agrees(run(name, *values), expected)


@given(INT64, INT64)
def test_whole_numbers_wrap_at_64_bits(a: int, b: int) -> None:
    for name, exact in (("add", a + b), ("sub", a - b), ("mul", a * b)):
        found = run(f"aten::{name}.int", a, b)
        assert -(2**63) <= found < 2**63
        assert (found - exact) % 2**64 == 0
        assert found == wrap64(exact)


@given(INT64, INT64.filter(bool))
def test_division_rounds_down(a: int, b: int) -> None:
    assert run("aten::floordiv.int", a, b) == wrap64(a // b)
    if abs(b) <= 2**62:  # else torch may add two numbers that are too large together
        assert run("aten::remainder.int", a, b) == a % b


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("remainder.int", (5, 2**63 - 1), 4 - 2**63),
        ("remainder.int", (-7, -(2**63)), 2**63 - 7),
        ("remainder.int", (-7, 2**63 - 1), 2**63 - 8),
        ("floor.int", (2**53 + 3,), 2**53 + 4),
        ("floor.int", (2**63 - 1,), -(2**63)),
        ("ceil.int", (2**53 + 1,), 2**53 + 1),
        ("factorial.int", (2**32 + 5,), 120),
        ("ldexp", (1.5, 2**32 - 1), 0.75),
        ("pow.int", (-(2**63), 2**63 - 1), float("inf")),
    ],
)
def test_large_numbers_take_the_way_of_torchs(
    name: str, arguments: tuple[Any, ...], expected: float
) -> None:
    """Through floats of 64 bits, C's `int` or sums that wrap."""
    assert repr(run(f"aten::{name}", *arguments)) == repr(expected)


def test_division_by_zero_says_so() -> None:
    with pytest.raises(OperatorError, match="division by 0") as caught:
        run("aten::floordiv.int", 1, 0)
    assert caught.value.code == "division-by-zero"
    with pytest.raises(OperatorError, match="ZeroDivisionError"):
        run("aten::remainder.int", 1, 0)


def test_strings_are_rows_of_bytes() -> None:
    assert run("aten::len.str", "café") == 5
    first, second = run("aten::__getitem__.str", "é", 0), run("aten::__getitem__.str", "é", 1)
    assert run("aten::add.str", first, second) == "é"
    assert run("aten::slice.str", "aéb", 0, 3, 1) == "aé"


def test_lists_and_dicts_change_in_place() -> None:
    values = [3, 1]
    assert run("aten::append.t", values, 2) is values
    assert run("aten::add_.t", values, [5]) is values
    run("aten::sort.int", values, False)
    assert values == [1, 2, 3, 5]
    with pytest.raises(IndexError, match="list index out of range") as caught:
        run("aten::__getitem__.t", values, 4)
    assert caught.value.headline == "index 4 is out of range for a list of 4 elements"  # type: ignore[attr-defined]
    words = {"a": 1}
    run("aten::_set_item.str", words, "b", 2)
    assert run("aten::items.str", words) == [("a", 1), ("b", 2)]
    with pytest.raises(OperatorError, match="KeyError: c"):
        run("aten::__getitem__.Dict_str", words, "c")


@pytest.mark.parametrize(
    ("form", "values", "expected"),
    [
        ("{} {}", ("a", 1.5), "a 1.5"),
        ("{0} {}", (1,), "{0} 1"),
        ("{}", (1, 2), "1"),
    ],
)
def test_format_fills_braces(form: str, values: tuple[Any, ...], expected: str) -> None:
    assert run("aten::format", form, *values) == expected


def test_format_needs_enough_values() -> None:
    with pytest.raises(OperatorError, match="Too few arguments for format string"):
        run("aten::format", "{} {}", 1)


def test_print_writes_values_and_a_newline(capsys: pytest.CaptureFixture[str]) -> None:
    run("prim::Print", "x", 1.0, [True])
    run("prim::Print")
    assert capsys.readouterr().out == "x 1. [True]\n\n"


def test_percent_formats_floats_as_print_does() -> None:
    forward = TABLE.operators("aten::percentFormat")[0].forward
    assert forward("%s %s", 1e-9, 3.0) == "1.0000000000000001e-09 3."


def test_to_list_wants_the_dtype_and_depth_it_was_told() -> None:
    forward = TABLE.operators("prim::tolist")[0].forward
    assert forward(np.ones((2, 1), np.float32), 2, 1) == [[1.0], [1.0]]
    assert forward(np.array(3), 0, 0) == 3
    with pytest.raises(RuntimeError, match=r"element type must match for tolist.*Long vs Float"):
        forward(np.ones(2, np.float32), 1, 0)
    with pytest.raises(RuntimeError, match="dimension must match for tolist"):
        forward(np.ones(2, np.float32), 2, 1)
