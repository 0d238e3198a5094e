"""Native code of functions that call others: those are functions of the same program."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.code.instructions import row
from rushlight.interpreter.native import native
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ir.functions import inlined_sizes


class Counter:
    def __init__(self, start: int):
        self.total = start
        self.seen: list[int] = []

    def add(self, n: int) -> int:
        for i in range(n):
            self.total += i
        self.seen.append(n)
        return self.total

    def twice(self, n: int) -> int:
        return self.add(n) + self.add(n + 1)


class Summing(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.names = {"a": 1, "b": 2}
        self.calls = 0

    def known(self, words: list[str]) -> int:
        found = 0
        for word in words:
            if word in self.names:
                found += self.names[word]
        return found

    def forward(self, words: list[str]) -> tuple[int, int]:
        total = 0
        for k in range(3):
            total += self.known(words) * k
            self.calls += 1
        return total, self.calls


def step(n: int, limit: int | None) -> int:
    if limit is not None and n > limit:
        return limit
    for i in range(3):
        n += i
    return n


def pushed(items: list[int], value: int) -> None:
    items.append(value)
    if len(items) > 4:
        items.clear()


def halves(x: float) -> tuple[float, float]:
    low = x / 2
    return low, x - low


def names(n: int) -> list[str]:
    made = ["x", "y"]
    for i in range(n):
        made.append(str(i))
    return made


def divided(a: int, b: int) -> int:
    if b < 0:
        raise ValueError("less than nothing")
    return a // b


def told(text: str) -> str:
    print("told", text)
    return text + "!"


def numbers(n: int) -> tuple[int, list[int], float]:
    total, items, x = 0, [1, 2], 1.5
    for i in range(n):
        total += step(i, 7) + step(total % 5, None)
        pushed(items, i)
        low, high = halves(x)
        x = low + high + float(len(names(i)))
    return total, items, x


def quotients(n: int, b: int) -> int:
    total = 0
    for i in range(n):
        total += divided(i * 100, b)
    return total


def words(n: int) -> list[str]:
    found: list[str] = []
    for i in range(n):
        found.append(told(str(i)))
        found.append(told(found[-1]))
    return found


def counted(n: int) -> tuple[int, list[int], int]:
    one = Counter(n)
    other = one
    for k in range(n):
        other.twice(k)
    return one.total, one.seen, Counter(1).add(3)


class Depth:
    def __init__(self) -> None:
        self.depth = 0
        self.told: list[str] = []

    def __enter__(self) -> int:
        self.depth += 1
        return self.depth

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        self.told.append(f"left {self.depth}")
        self.depth -= 1


def nested(n: int, limit: int) -> tuple[int, list[str], int]:
    one, other = Depth(), Depth()
    total = 0
    for i in range(n):
        with one as depth, other:
            with one:
                if i != 2:
                    total += depth * i + one.depth
            print("within", one.depth, other.depth)
        if total > limit:
            return -total, one.told, one.depth
    total += 100 // (limit - 7)
    return total, one.told + other.told, one.depth


def endless(n: int) -> int:
    total = 0
    while n > 0:
        total += step(total % 3, None)
    return total


def forever(n: int) -> int:
    return endless(n) + endless(n)


def growing(n: int) -> int:
    total = 0
    for i in range(n):
        total += len([i] * 1000)
    return total


def too_much(n: int) -> int:
    total = 0
    for _ in range(2):
        total += growing(n)
    return total


@pytest.fixture(autouse=True)
def as_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls stay calls, as those of large functions do."""
    monkeypatch.setattr(inlined_sizes, "LARGEST_PART", 0)
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")


def made_of(scripted: Any) -> Any:
    """The native code of a function or module, whose program has calls."""
    function = getattr(scripted, "_rushlight_function", None)
    if function is None:
        function = scripted.forward._rushlight_function
    executable = tiers_of(function).way().executable
    made = executable.native
    assert made is not None
    assert made.refusal == ""
    names = {row(each).name for each in made._code.instructions}
    assert not names.isdisjoint(("function", "method"))
    return made


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (numbers, (9,)),
    (quotients, (5, 3)),
    (words, (4,)),
    (counted, (6,)),
    (nested, (5, 1000)),
    (nested, (5, 8)),
]


@pytest.mark.parametrize(("function", "given"), CASES)
def test_calls_give_what_python_gives(
    function: Callable[..., Any], given: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    scripted = torch.jit.script(function)
    for _ in range(3):
        wanted = function(*given)
        shown = capsys.readouterr().out
        assert scripted(*given) == wanted
        assert capsys.readouterr().out == shown
    assert made_of(scripted).is_ready


def test_methods_of_modules_are_called() -> None:
    module = Summing()
    scripted = torch.jit.script(module)
    for _ in range(3):
        assert scripted(["a", "b", "c", "a"]) == module(["a", "b", "c", "a"])
    assert made_of(scripted).is_ready


def test_a_failure_leaves_the_contexts_that_were_entered() -> None:
    scripted = torch.jit.script(nested)
    assert scripted(3, 9) == nested(3, 9)
    with pytest.raises(RuntimeError, match="division by 0"):
        scripted(0, 7)
    assert scripted(3, 9) == nested(3, 9)
    assert made_of(scripted).is_ready


def test_errors_inside_have_their_places() -> None:
    scripted = torch.jit.script(quotients)
    assert scripted(4, 2) == quotients(4, 2)
    with pytest.raises(RuntimeError, match=r"(?s)in quotients.*in divided.*a // b.*division by 0"):
        scripted(4, 0)
    with pytest.raises(torch.jit.Error, match="less than nothing"):
        scripted(4, -1)
    assert scripted(4, 2) == quotients(4, 2)
    assert made_of(scripted).is_ready


def test_a_loop_in_a_callee_can_be_interrupted() -> None:
    scripted = torch.jit.script(forever)
    assert scripted(0) == 0
    assert made_of(scripted).is_ready
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        scripted(1)
    assert scripted(0) == 0


def test_memory_of_callees_is_that_of_the_call() -> None:
    scripted = torch.jit.script(too_much)
    assert scripted(10) == too_much(10)
    assert scripted(30_000) == too_much(30_000)  # 480 MB, which the plan gives back meanwhile
    assert made_of(scripted)._misses


def test_what_is_too_long_as_a_whole_is_native_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    monkeypatch.setattr(native, "LONGEST", 40)
    scripted = torch.jit.script(numbers)
    scripted._debug_flush_compilation_cache()
    assert scripted(9) == numbers(9)
    assert made_of(scripted).is_ready


def test_a_callee_that_is_not_native_is_named() -> None:
    def with_tensors(n: int) -> int:
        total = 0
        for i in range(n):
            total += torch.rand(i).numel() + step(i, None) + step(total, 3)
        return total

    scripted = torch.jit.script(with_tensors)
    assert scripted(5) == with_tensors(5)
    executable = tiers_of(scripted._rushlight_function).way().executable
    assert "tensors" in executable.refusal
