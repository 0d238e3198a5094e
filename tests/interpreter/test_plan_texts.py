"""Programs whose plans write out operators on strings and slots of plain values."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.interpreter.plans.paths import with_paths_once
from rushlight.interpreter.running.invoking import tiers_of


def _words(text: str) -> tuple[int, str, int]:
    longest, word, found = 0, "", ""
    for i in range(len(text)):
        letter = text[i]
        if letter == " ":
            longest, word = max(longest, len(word)), ""
        else:
            word += letter
            found = found + letter
    return min(longest, len(text)), found, len(found)


@pytest.mark.parametrize("text", ["", "one three", "añ é ü 日本 x", "ab ñ"])
def test_strings_are_bytes_in_plans_too(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = torch.jit.script(_words)(text)
    monkeypatch.setenv("RUSHLIGHT_PLAN", "off")
    assert torch.jit.script(_words)(text) == planned


def _by_texts(n: int) -> dict[str, int]:
    return {"b": n, "a, b": n + 1, "b": n + 2, "": 0}  # noqa: F601


def _by_numbers(n: int) -> dict[int, tuple[int, str]]:
    return {n: (1, "x"), 3: (2, "y"), -n: (3, "z")}


def _by_truths(n: int) -> dict[bool, list[int]]:
    return {n > 2: [1], n > 3: [2, n]}


def _by_floats(n: int) -> dict[float, int]:
    maybe = n * 1e308 * 10 - n * 1e308 * 10  # 0, or what equals nothing
    return {maybe: n, maybe: 2, 1.5: 3}  # noqa: F602


@pytest.mark.parametrize("function", [_by_texts, _by_numbers, _by_truths, _by_floats])
def test_dicts_are_those_of_the_machine(
    function: Callable[[int], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = torch.jit.script(function)
    planned = [[repr(scripted(n)) for n in (0, 3, 4)] for _ in range(3)]
    plan = tiers_of(scripted._rushlight_function).way(False).plan
    assert plan is not None
    assert ("make_dict" in plan.text) is (function is _by_floats)
    monkeypatch.setenv("RUSHLIGHT_PLAN", "off")
    other = torch.jit.CompilationUnit(scripted.code).__getattr__(scripted.name)
    assert planned == [[repr(other(n)) for n in (0, 3, 4)] for _ in range(3)]
    assert planned[0][0] == repr(function(0))


class _Counter:
    def __init__(self, start: int) -> None:
        self.count = start
        self.share = 0.5
        self.name = "n"
        self.on = False

    def step(self, more: int) -> None:
        self.count += more
        self.share = self.share * 1.5
        self.name = self.name + "x"
        self.on = not self.on


def test_slots_of_plain_values() -> None:
    scripted = torch.jit.script(_Counter)

    def run(n: int) -> tuple[int, float, str, bool]:
        made = scripted(4611686018427387904)
        for i in range(n):
            made.step(2305843009213693952 + i)
        return made.count, made.share, made.name, made.on

    assert torch.jit.script(run)(3) == (2**62 + 3 * 2**61 + 3 - 2**64, 1.6875, "nxxx", True)


def test_slots_of_objects_that_come_and_go() -> None:
    scripted = torch.jit.script(_Counter)

    def run(n: int) -> list[int]:
        first, found = scripted(1), [0]
        for i in range(n):
            made = scripted(i)
            made.count = made.count + first.count
            other = made
            if i > 1:
                other = first
            other.count = 10 * other.count
            found.append(made.count)
            found.append(first.count)
            first.step(i)
        return found

    compiled = torch.jit.script(run)
    expected = [0, 10, 1, 20, 1, 4, 20, 25, 220]
    for _ in range(3):
        assert compiled(4) == expected


def test_objects_on_the_way_to_attributes_are_read_once() -> None:
    texts = [
        "r1",
        "r0.slots[2].slots[0]._array",
        "r0.slots[2].slots[1].slots[3]",
        "read_slot(r0.slots[4])",
        "(r5.slots[0] if r5 else None)",
    ]
    written = [
        "r1",
        "(own1 := (own0 := r0.slots)[2].slots)[0]._array",
        "own1[1].slots[3]",
        "read_slot(own0[4])",
        "(r5.slots[0] if r5 else None)",
    ]
    assert with_paths_once(texts) == written
    assert with_paths_once(["r0.slots[1].slots[2]"]) == ["r0.slots[1].slots[2]"]
