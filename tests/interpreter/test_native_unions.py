"""Values of one of several kinds in native code: what Python gives comes out, and nothing is left
to plans."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import pytest

import rushlight as torch
from rushlight.interpreter.native import native
from rushlight.interpreter.running.invoking import tiers_of


class Entry(NamedTuple):
    key: str
    value: int | str


@torch.jit.script
class Settings:
    mode: int | str

    def __init__(self, mode: int | str):
        self.mode = mode

    def raised(self) -> int:
        mode = self.mode
        if isinstance(mode, int):
            self.mode = "m" + str(mode)
            return mode
        self.mode = len(mode)
        return -1


class Holding(torch.nn.Module):
    mode: int | str

    def __init__(self) -> None:
        super().__init__()
        self.mode = 3

    def forward(self, n: int) -> int | str:
        for i in range(n):
            mode = self.mode
            if isinstance(mode, str):
                self.mode = len(mode) + i
            else:
                self.mode = "x" + str(mode)
        return self.mode


def sums(given: list[float | int | str]) -> dict[str, float]:
    found = {"int": 0.0, "float": 0.0, "str": 0.0}
    for each in given:
        if isinstance(each, int):
            found["int"] += float(each)
        elif isinstance(each, float):
            found["float"] += each
        else:
            found["str"] += float(len(each))
    return found


def parsed(words: list[str]) -> list[int | str]:
    found: list[int | str] = []
    for word in words:
        if word.isdigit():
            found.append(int(word))
        else:
            found.append(word)
    return found


def chosen(n: int) -> list[int | str]:
    found: list[int | str] = []
    value: int | str = 0
    for i in range(n):
        if i % 3 == 0:
            value = i
        elif i % 3 == 1:
            value = "t" + str(i)
        found.append(value)
    return found


def nothing(given: list[int | str | None]) -> tuple[int, int]:
    none = 0
    number = 0
    for each in given:
        if each is None:
            none += 1
        elif isinstance(each, (int, str)):
            number += 1
    return none, number


def narrowed(given: list[int | str | None]) -> list[str | None]:
    found: list[str | None] = []
    for each in given:
        if isinstance(each, int):
            found.append(str(each))
        else:
            found.append(each)
    return found


def widened(given: list[int | None]) -> list[int | str | None]:
    found: list[int | str | None] = []
    for each in given:
        found.append(each)
        found.append("s")
    return found


def truths(given: list[bool | int | float]) -> list[str]:
    found: list[str] = []
    for each in given:
        if isinstance(each, bool):
            found.append("bool")
        elif isinstance(each, int):
            found.append("int")
        else:
            found.append("float")
    return found


def flattened(given: list[int | list[int]]) -> int:
    total = 0
    for each in given:
        if isinstance(each, int):
            total += each
        else:
            for value in each:
                total += value
            each.append(1)
    return total


def mapped(given: dict[str, int | list[str]]) -> dict[str, int | list[str]]:
    found: dict[str, int | list[str]] = {}
    for key, value in given.items():
        if isinstance(value, int):
            found[key] = [key] * value
        else:
            found[key] = len(value)
    return found


def entries(given: list[Entry]) -> list[tuple[str, int | str]]:
    found: list[tuple[str, int | str]] = []
    for each in given:
        value = each.value
        if isinstance(value, str):
            found.append((each.key, value + "!"))
        else:
            found.append((each.key, value + 1))
    return found


def settled(n: int) -> int:
    settings = Settings(4)
    total = 0
    for _ in range(n):
        total = total * 3 + settings.raised()
    return total


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (sums, ([1, 2.5, "abc", 7, "", -0.5],)),
    (parsed, (["12", "ab", "7", "c"],)),
    (chosen, (11,)),
    (nothing, ([1, None, "a", None, 4],)),
    (narrowed, ([1, None, "a", None, 4],)),
    (widened, ([1, None, 3],)),
    (truths, ([True, 1, 1.0, False, 0],)),
    (flattened, ([1, [2, 3], [], 4],)),
    (mapped, ({"a": 2, "b": ["x", "y", "z"], "c": 0},)),
    (entries, ([Entry("a", 1), Entry("b", "wörd")],)),
    (settled, (9,)),
]


@pytest.mark.parametrize(("function", "given"), CASES)
def test_unions_are_native(
    function: Callable[..., Any], given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = repr(function(*deepcopy(given)))
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = torch.jit.script(function)
    for _ in range(3):
        found = scripted(*deepcopy(given))
        assert repr(found) == wanted
    made = tiers_of(scripted._rushlight_function).way().executable.native
    assert made is not None
    assert (made.refusal, made._misses, made._straight_misses) == ("", 0, 0)
    bound = tiers_of(scripted._rushlight_function).binding
    result = made.attempt(bound.bind(deepcopy(given), None))
    assert repr(bound.give_back(result)) == wanted


def test_what_is_none_of_the_kinds_is_refused_as_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = torch.jit.script(parsed)
    sums_of = torch.jit.script(sums)
    assert scripted(["1"]) == [1]
    with pytest.raises(RuntimeError, match=r"List\[Union\[float, int, str\]\]"):
        sums_of([1, [2]])


def test_attributes_of_modules_change_their_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    module, scripted = Holding(), torch.jit.script(Holding())
    for n in (1, 2, 5):
        assert scripted(n) == module(n)
        assert scripted.mode == module.mode
    made = tiers_of(scripted.forward._rushlight_function).way().executable.native
    assert made is not None
    assert (made.refusal, made._misses) == ("", 0)


def first(given: list[list[int] | list[str]]) -> int:
    total = 0
    for _ in given:
        total += 1
    return total


def test_kinds_that_python_does_not_tell_apart_are_left_to_plans(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = torch.jit.script(first)
    assert scripted([[1, 2], ["a"]]) == 2
    assert tiers_of(scripted._rushlight_function).way().why_not_native
