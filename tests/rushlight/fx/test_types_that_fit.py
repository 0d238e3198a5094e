"""Which types of arguments `fx.operator_schemas` takes for which types of parameters."""

from __future__ import annotations

import typing
from typing import Any

import pytest

import rushlight as torch
from rushlight.fx.operator_schemas import create_type_hint, type_matches


class Whole: ...


class Half(Whole): ...


class Other(Whole): ...


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([int, int], list[int]),
        ([int, bool], list[int]),
        ([bool, int], list[int]),
        ([Half, Whole, Other], list[Whole]),
        ([Half, Other, Whole], list[Any]),
        ([int, 3], list[Any]),
        ([], list[Any]),
        ((Whole, Half), tuple[Whole, ...]),
        ((int, str), tuple[Any, ...]),
        ((), tuple[Any, ...]),
        (int, int),
    ],
)
def test_containers_of_types_have_the_one_that_all_are_of(kinds: object, expected: object) -> None:
    assert create_type_hint(kinds) == expected


def test_containers_of_what_is_no_type_stay() -> None:
    with pytest.warns(UserWarning, match=r"not able to successfully create type hint .* \[3\]"):
        assert create_type_hint([3]) == [3]


@pytest.mark.parametrize(
    ("parameter", "argument", "fits"),
    [
        (int, bool, True),
        (float, int, False),
        (torch.Tensor, torch.nn.Parameter, True),
        (typing.Optional[int], type(None), True),  # noqa: UP045
        (typing.Union[int, str], str, True),  # noqa: UP007
        (list[int], int, True),
        (list[int], bool, False),
        (list[str], str, False),
        (list[int], list[bool], True),
        (list[int], tuple[int, int], True),
        (list[int], tuple[bool, int], True),
        (list[int], tuple[int, ...], True),
        (list[int], tuple[()], True),
        (list[int], tuple[int, str], False),
        (list[int], tuple, False),
        (tuple[int], list[int], False),
    ],
)
def test_what_fits_a_parameter(parameter: Any, argument: object, fits: bool) -> None:
    assert type_matches(parameter, argument) is fits
