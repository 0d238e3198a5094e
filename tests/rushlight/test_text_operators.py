"""Corners of the string operators that are torch's own."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight


def lines(x: str, keep: bool) -> list[str]:
    return x.splitlines(keep)


def number(x: str) -> int:
    return int(x)


def character(x: int) -> str:
    return chr(x)


def filled(x: str) -> str:
    return x.zfill(5)


def either(x: Any) -> bool:
    return isinstance(x, (str, bool, int))


@pytest.mark.parametrize(
    ("text", "keep", "wanted"),
    [
        ("a\n", False, ["a"]),
        ("a\nb\r\nc", False, ["a", "b", "", "c"]),
        ("\na", True, ["", "\n", "a"]),
        ("a\n", True, ["a", "\n"]),
        ("", False, []),
    ],
)
def test_lines(text: str, keep: bool, wanted: list[str]) -> None:
    assert rushlight.jit.script(lines)(text, keep) == wanted


def test_a_number_may_have_space_before_it_alone() -> None:
    scripted = rushlight.jit.script(number)
    assert scripted(" +12") == 12
    for text in ("4x", "12 ", "1_0"):
        with pytest.raises(RuntimeError, match="invalid literal for int"):
            scripted(text)


def test_characters_are_bytes() -> None:
    assert rushlight.jit.script(character)(300) == ","
    assert rushlight.jit.script(filled)("-42") == "00-42"


def test_types_of_isinstance_stand_in_the_order_of_unions() -> None:
    assert "isinstance(x, (int, str, bool))" in rushlight.jit.script(either).code


def whole(x: Any) -> str:
    return "%d" % x  # noqa: UP031


def small(x: Any) -> str:
    return "%e" % x  # noqa: UP031


def letter(x: Any) -> str:
    return "%c" % x  # noqa: UP031


@pytest.mark.parametrize(
    ("format", "value", "message"),
    [
        (whole, "1", "%d requires a number for formatting, but got String"),
        (whole, [1], "%d requires a number for formatting, but got GenericList"),
        (whole, rushlight.ones(1), "%d requires a number for formatting, but got Tensor"),
        (small, "1", "%e requires a number for formatting, but got String"),
        (letter, "foo", "%c requires an int or char for formatting, but got String"),
        (letter, 3.0, "%c requires an int or char for formatting, but got Double"),
    ],
)
def test_formats_refuse_other_kinds_of_values(format: Any, value: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        rushlight.jit.script(format)(value)
    assert rushlight.jit.script(letter)("f") == "f"


def test_what_was_found_in_place_of_a_member_of_a_union() -> None:
    def either(x: list[int] | dict[str, int]) -> int:
        return 1

    with pytest.raises(RuntimeError, match=r"but instead found type Dict\[str, str\]"):
        rushlight.jit.script(either)({"a": "b"})
