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
