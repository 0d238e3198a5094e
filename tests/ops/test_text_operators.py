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


def test_percent_formats_take_cs_float_and_int() -> None:
    def f(x: float, n: int) -> str:
        return "%f|%F|%e|%E|%d|" % (x, x, x, x, x) + "%f|%d|%c" % (n, n, n)  # noqa: UP031

    function = rushlight.jit.script(f)
    assert function(123456.789, 2**24 + 1) == (
        "123456.789062|123456.789062|1.234568e+05|1.234568E+05|123456|16777216.000000|16777217|\x01"
    )
    assert (
        function(1e39, 2**33 + 66) == "inf|inf|inf|INF|-2147483648|8589934592.000000|8589934658|B"
    )
    assert function(-float("nan"), 65).startswith("-nan|-nan|-nan|-NAN|-2147483648|")


def test_percent_c_takes_one_byte() -> None:
    def f(word: str) -> str:
        return "%c" % word  # noqa: UP031

    function = rushlight.jit.script(f)
    assert function("a") == "a"
    with pytest.raises(RuntimeError, match="%c requires an int or char for formatting"):
        function("é")


def test_words_and_strips_are_of_bytes() -> None:
    def f(text: str, chars: str):  # type: ignore[no-untyped-def]
        parts = [[ord(c) for c in part] for part in text.split()]
        return parts, text.split(None, 1), text.lstrip(chars) == text

    function = rushlight.jit.script(f)
    assert function("a b c\x1f", "x") == (
        [[97], [98], [99, 31]],
        ["a", "b", "c\x1f"],
        True,
    )
    assert function("日", "é")[0] == [[0xE6, 0x97, 0xA5]]
    with pytest.raises(UnicodeDecodeError):
        function("é", "é")  # the second byte counts as white space


def test_a_fill_is_one_byte() -> None:
    def f(text: str, fill: str) -> str:
        return text.center(5, fill)

    function = rushlight.jit.script(f)
    assert function("ab", "*") == "**ab*"
    for fill in ("", "ab", "é"):
        with pytest.raises(RuntimeError, match="TypeError: The fill character must be exactly one"):
            function("ab", fill)


def test_messages_end_at_a_null_character() -> None:
    def f(text: str) -> None:
        assert not text, text

    with pytest.raises(rushlight.jit.Error) as caught:
        rushlight.jit.script(f)("a\0b")
    assert str(caught.value).endswith("AssertionError: a")


def test_print_gives_no_value() -> None:
    def f(text: str):  # type: ignore[no-untyped-def]
        return print(text)

    with pytest.raises(RuntimeError, match="None cannot be used as a value"):
        rushlight.jit.script(f)
