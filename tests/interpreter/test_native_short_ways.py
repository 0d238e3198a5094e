"""Short ways of native code: many numbers are put in order by their digits, texts are compared by
words, numbers that are less than what they are divided by are their own rest, and Python's numbers,
lists and tuples are read where they lie."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import rushlight
from rushlight.interpreter.native.kinds import Kind
from rushlight.interpreter.native.native import ROUNDS
from rushlight.interpreter.native.program import compile_native, llvm_text
from rushlight.interpreter.native.source import write_native
from rushlight.interpreter.running.executable import executable_of

NEVER = np.zeros(1, np.int64)


class Pair(NamedTuple):
    number: int
    share: float


def ordered(numbers: list[int], is_reversed: bool) -> list[int]:
    for _ in range(1):
        numbers.sort(reverse=is_reversed)
    return numbers


def ordered_floats(numbers: list[float], is_reversed: bool) -> list[float]:
    for _ in range(1):
        numbers.sort(reverse=is_reversed)
    return numbers


def ordered_texts(words: list[str], is_reversed: bool) -> list[str]:
    return sorted(words)


def places_of_equals(words: list[str], others: list[str]) -> tuple[list[int], dict[str, int]]:
    found: list[int] = []
    last: dict[str, int] = {}
    for place in range(len(words)):
        last[words[place]] = place
    for word in others:
        found.append(last.get(word, -1))
        for place in range(len(words)):
            if words[place] == word:
                found.append(place)
    return found, last


def rests(numbers: list[int], others: list[int]) -> list[int]:
    found: list[int] = []
    for one in numbers:
        for other in others:
            found.append(one % other)
            found.append(one // other)
    return found


def handed_through(
    numbers: list[int], floats: list[float], pairs: list[tuple[int, float]]
) -> tuple[list[int], list[float], list[tuple[int, float]]]:
    total = 0
    for number in numbers:
        total ^= number
    numbers.append(total)
    return numbers, floats, pairs


def counted(words: list[str], numbers: list[float]) -> tuple[list[int], list[int]]:
    by_word: dict[str, int] = {}
    by_number: dict[float, int] = {}
    for word in words:
        by_word[word] = by_word.get(word, 0) + len(word)
    for number in numbers:
        by_number[number] = by_number.get(number, 0) + 1
    return [by_word[word] for word in words], [by_number[number] for number in numbers]


def source_of(function: Callable[..., Any]) -> Any:
    made = rushlight.jit.script(function)._rushlight_function
    code = executable_of(made, None).code
    return write_native(code, [argument.type for argument in made.signature.arguments])


def native(function: Callable[..., Any]) -> Callable[..., Any]:
    """What does a function's calls natively, made with care."""
    run = compile_native(source_of(function))
    return lambda *given: run(ROUNDS, NEVER.ctypes.data, 0, *given)


def bits(numbers: list[float]) -> list[bytes]:
    return [struct.pack("d", number) for number in numbers]


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("count", [47, 48, 255, 1000])
def test_many_numbers_are_put_in_order(count: int, is_reversed: bool) -> None:
    draw = random.Random(count)
    run = native(ordered)
    for low, high in ((-(2**63), 2**63 - 1), (0, 255), (-5, 5), (7, 7)):
        numbers = [draw.randint(low, high) for _ in range(count)]
        wanted = sorted(numbers, reverse=is_reversed)
        assert run(list(numbers), is_reversed) == wanted
        assert run(list(wanted), is_reversed) == wanted


@pytest.mark.parametrize("is_reversed", [False, True])
def test_equal_floats_keep_their_order(is_reversed: bool) -> None:
    draw = random.Random(5)
    extremes = [0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), 5e-324, -5e-324, 1e308, -1e308]
    run = native(ordered_floats)
    for numbers in (
        [draw.choice(extremes) for _ in range(500)],
        [draw.gauss(0.0, 1.0) for _ in range(500)],
    ):
        assert bits(run(list(numbers), is_reversed)) == bits(sorted(numbers, reverse=is_reversed))


def test_texts_of_all_lengths_are_told_apart() -> None:
    long = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = [long[:size] for size in range(len(long))]
    for place in range(24):  # each differs from one of those in a single letter
        words += [f"{long[:place]}#{long[place + 1 : size]}" for size in (place + 1, 8, 16, 24)]
    words += ["größer", "grö", "grü", "\N{SNOWMAN}", "\N{SNOWMAN}a", "z"]
    others = [*words[::3], "", "#", "none"]
    assert native(places_of_equals)(list(words), others) == places_of_equals(words, others)


def test_texts_of_all_lengths_are_put_in_order() -> None:
    words = [letter * size + end for letter in "aé" for size in range(12) for end in ("", "b", "ü")]
    random.Random(3).shuffle(words)
    assert native(ordered_texts)(list(words), False) == sorted(words, key=str.encode)


def test_keys_that_begin_alike_are_found() -> None:
    words = [f"{'word' * (i % 4)}{i % 700}" for i in range(2000)]
    numbers = [*map(float, range(300)), *(i * 2.0**40 for i in range(300)), 0.0, -0.0]
    assert native(counted)(words, numbers) == counted(words, numbers)


def test_rests_are_pythons() -> None:
    numbers = [0, 1, -1, 6, 7, 8, -6, -7, -8, 2**61, -(2**61), 2**63 - 1, -(2**63)]
    others = [1, 2, 7, -2, -7, 2**61, -(2**61)]
    assert native(rests)(numbers, others) == rests(numbers, others)


def test_numbers_of_all_sizes_cross() -> None:
    sizes = [0, 1, 2**15, 2**30 - 1, 2**30, 2**31, 2**60, 2**62]
    numbers = [*sizes, *(-size for size in sizes), 2**63 - 1, -(2**63), True]
    floats = [0.5, -0.0, 3, float("inf"), np.float64(2.5)]
    pairs = [(2**40, 0.5), Pair(-3, 1.5), (True, 2)]
    wanted = handed_through(list(numbers), floats, pairs)
    given = list(numbers)
    found = native(handed_through)(given, list(floats), pairs)
    assert found == wanted
    assert given == wanted[0]


@pytest.mark.parametrize("wrong", [[2**63], [1, "a"], [None]])
def test_what_is_no_such_number_is_refused(wrong: list[Any]) -> None:
    run = native(ordered)
    before = list(wrong)
    assert repr(run(wrong, False)) == "<failed>"
    assert wrong == before


def test_only_what_a_function_calls_is_compiled_with_care() -> None:
    text = llvm_text(source_of(ordered))
    heads = [line for line in text.splitlines() if line.startswith("define internal")]
    cold = {head.split("@")[1].split("(")[0].split("_", 1)[1] for head in heads if "cold" in head}
    assert {"entry", "take_list", "give_list"} <= cold
    assert not {"native", "list_sort", "sort_by_digits"} & cold
    assert "_lines" not in text  # nothing is printed, so there is nothing that writes it
    assert isinstance(source_of(ordered).result, Kind)
