"""What `with` enters, attributes of modules, and compilations that fail."""

# ruff: noqa: UP006, UP035

from __future__ import annotations

import enum
import io
from collections.abc import Callable
from typing import Any, List, NamedTuple

import pytest

import rushlight as torch
from rushlight import Tensor, nn


@torch.jit.script
class NoEnter:
    def __init__(self):
        pass

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        pass


@torch.jit.script
class EnterTakes:
    def __init__(self):
        pass

    def __enter__(self, x: int):
        return x

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        pass


@torch.jit.script
class ExitTakesTwo:
    def __init__(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, kind: Any, value: Any) -> None:
        pass


@torch.jit.script
class ExitTakesInts:
    def __init__(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, kind: int, value: int, traceback: int) -> None:
        pass


def with_number(x: int):
    with x:
        pass


def with_no_enter():
    with NoEnter():
        pass


def with_arguments():
    with EnterTakes():
        pass


def with_two():
    with ExitTakesTwo():
        pass


def with_ints():
    with ExitTakesInts():
        pass


class Colour(enum.Enum):
    RED = 1


def colour_of(x: int):
    return Colour(x)


def unknown_colour():
    return Colour.BLUE


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (with_number, "With item expression must return an object"),
        (with_no_enter, "does not define __enter__ and __exit__ methods"),
        (with_arguments, "__enter__ must have only one argument"),
        (with_two, "__exit__ must have four arguments"),
        (with_ints, "argument 1 of __exit__ must have Any type"),
        (colour_of, "cannot call a EnumClass"),
        (unknown_colour, "Enum<__torch__"),
    ],
)
def test_refusals(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(RuntimeError) as error:
        torch.jit.script(function)
    assert message in str(error.value)


def told(c: Colour):
    return str(c), f"{[c]}"


def test_members_of_enumerations_as_text() -> None:
    assert torch.jit.script(told)(Colour.RED) == ("Enum<Colour.RED>", "[Enum<Colour.RED>]")


class Pair(NamedTuple):
    a: int
    b: List[str]


class HoldsPair(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair(1, ["a"])

    def forward(self):
        return self.pair.a


def test_a_named_tuple_that_is_not_annotated_loses_its_names() -> None:
    with pytest.raises(RuntimeError, match="has no attribute or method 'a'"):
        torch.jit.script(HoldsPair())


class Fails(nn.Module):
    def forward(self):
        return self.missing


def test_a_module_that_failed_fails_again() -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match="has no attribute 'missing'"):
            torch.jit.script(Fails())


@torch.jit.interface
class Two(nn.Module):
    def one(self, x: Tensor) -> Tensor:
        pass

    def forward(self, x: Tensor) -> Tensor:
        pass


class Both(nn.Module):
    def one(self, x: Tensor) -> Tensor:
        return x + 1

    def forward(self, x: Tensor) -> Tensor:
        return self.one(x)


class Half(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


class Uses(nn.Module):
    inner: Two

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner.one(x)


def test_what_does_not_fill_an_interface() -> None:
    with pytest.raises(AttributeError, match="one"):
        torch.jit.script(Uses(Half()))
    scripted = torch.jit.script(Uses(Both()))
    assert scripted(torch.ones(1)) == torch.tensor(2.0)
    with pytest.raises(RuntimeError, match="is not compatible with interface"):
        scripted.inner = torch.jit.script(Half())


class HoldsClass(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kind = Colour

    def forward(self):
        return self.kind.RED


def test_a_class_is_no_attribute() -> None:
    with pytest.raises(RuntimeError, match="Module 'HoldsClass' has no attribute 'kind'"):
        torch.jit.script(HoldsClass())


def test_marks_for_profilers_are_contexts_in_script() -> None:
    def f(x):
        with torch.no_grad(), torch.autograd.profiler.record_function("doubling"):
            y = x * 2
        return y

    assert torch.jit.script(f)(torch.ones(1)).tolist() == [2.0]


def skips(x: Tensor, n: int):
    for i in range(n):
        with torch.no_grad():
            if i == 2:
                continue
            x = x + i
    return x


def stops(x: Tensor, n: int):
    total = 0
    while total < 10:
        with torch.no_grad():
            total += 3
            if total > n:
                break
            x = x * 2
        x = x + total
    return x, total


def leaves(x: Tensor, n: int):
    for i in range(n):
        with torch.no_grad():
            x = x - 1
            if i == 3:
                return x, i
            last = x * i
        x = last + x
    return x, n


@pytest.mark.parametrize("function", [skips, stops, leaves])
def test_a_loop_may_be_left_out_of_a_context(function: Any) -> None:
    scripted = torch.jit.script(function)
    scripted.save(stream := io.BytesIO())
    loaded = torch.jit.load(io.BytesIO(stream.getvalue()))
    for n in range(7):
        expected = function(torch.ones(1), n)
        assert scripted(torch.ones(1), n) == expected
        assert loaded(torch.ones(1), n) == expected


def enters_without_exit(x: Tensor):
    with NoEnter() as y:
        return y


def test_a_context_that_cannot_be_entered_is_one_error() -> None:
    with pytest.raises(RuntimeError, match="does not define __enter__") as caught:
        torch.jit.script(enters_without_exit)
    assert len(caught.value.diagnostics) == 1  # type: ignore[attr-defined]
