"""A function that cannot be compiled is refused each time, by whatever way it is reached."""

from __future__ import annotations

import pytest

import rushlight


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
