"""A function that cannot be compiled is refused each time, by whatever way it is reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight
from rushlight import nn


def refused(x: int) -> str:
    return "%d" % (1, 2).upper()  # noqa: UP031


def calls_it(x: int) -> str:
    return refused(x)


def calls_that(x: int) -> str:
    first = refused(x)
    return first + calls_it(x)


def calls_both(x: int) -> str:
    return refused(x) + calls_that(x)


def filters(x: list[int]) -> list[int]:
    return [y for y in x if y]


def calls_filter(x: list[int]) -> list[int]:
    return filters(x)


@pytest.mark.parametrize("function", [refused, calls_it, calls_that, calls_both])
def test_every_attempt_is_refused(function: object) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match="object has no attribute or method 'upper'"):
            rushlight.jit.script(function)
        with pytest.raises(RuntimeError, match="object has no attribute or method 'upper'"):
            rushlight.jit.script(calls_both)


def test_what_the_syntax_refuses_stays_refused() -> None:
    for function in (filters, calls_filter, filters, calls_filter):
        with pytest.raises(Exception, match="Comprehension ifs are not supported yet"):
            rushlight.jit.script(function)


def _without_a_name(x):
    return not_there  # noqa: F821


def _importing(x):
    import os  # noqa: F401

    return x


class Holding(nn.Module):
    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.helped(x)

    def helped(self, x):
        return self.function(x)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_without_a_name, "\n\nundefined value not_there:\n"),
        (_importing, "\nimport statements aren't supported:\n"),
    ],
)
def test_a_function_that_a_module_holds_is_absent_to_torch(
    function: Callable[[Any], Any], words: str
) -> None:
    with pytest.raises(RuntimeError) as caught:
        rushlight.jit.script(Holding(function))
    text = str(caught.value)
    begin = (
        "\nModule 'Holding' has no attribute 'function' (This function exists as an attribute on "
    )
    assert text.startswith(begin)
    assert f"The error stack is reproduced here:{words}" in text
    assert "return self.function(x)\n               ~~~~~~~~~~~~~ <--- HERE" in text
    assert text.count("is being compiled since it was called from") == 1
    assert text.count("'Holding.helped' is being compiled") == 1
