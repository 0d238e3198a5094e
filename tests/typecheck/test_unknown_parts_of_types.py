"""Torch's words for live annotations with a part that is no type, or that says too much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

import pytest

import rushlight as torch


def listed(x: List[bytes]):  # noqa: UP006
    pass


def quoted(x: List["bytes"]):  # noqa: UP006, UP037
    pass


def piped(x: int | Dict[str, bytes]):  # noqa: UP006
    pass


def absent(x: "Dict[str, NotThere]"):  # noqa: F821, UP006, UP037
    pass


def in_dict(x: Dict[str, List[bytes]]):  # noqa: UP006
    pass


def in_optional(x: List[Optional[bytes]]):  # noqa: UP006, UP045
    pass


def in_union(x: Union[int, bytes]):  # noqa: UP007
    pass


def in_tuple(x: Tuple[int, bytes]):  # noqa: UP006
    pass


def constructor(x: List[Sequence[int]]):  # noqa: UP006
    pass


@pytest.mark.parametrize(
    ("function", "exception", "words", "marked"),
    [
        (listed, RuntimeError, "\nUnknown type name 'bytes':\n", "bytes"),
        (quoted, RuntimeError, "\nUnknown type name 'bytes':\n", '"bytes'),
        (piped, RuntimeError, "\nUnknown type name 'bytes':\n", "bytes"),
        (
            absent,
            RuntimeError,
            "\nUnknown type name 'Dict[str, NotThere]':\n",
            '"Dict[str, NotThere]',
        ),
        (
            in_dict,
            ValueError,
            "Unknown type annotation: 'typing.List[bytes]' at ",
            "Dict[str, List[bytes]]",
        ),
        (
            *(in_optional, AssertionError),
            f"Unsupported annotation {Optional[bytes]} could not be resolved because <class "  # noqa: UP045
            "'bytes'> could not be resolved. At\n",
            "List[Optional[bytes]]",
        ),
        (
            in_union,
            AssertionError,
            f"Unsupported annotation {Union[int, bytes]} could",  # noqa: UP007
            "Union[int, bytes]",
        ),
        (in_tuple, RuntimeError, "Can not create tuple with None type", ""),
        (constructor, RuntimeError, "Unknown type constructor Sequence:\n", "Sequence[int]"),
    ],
)
def test_words(
    function: Callable[[Any], Any], exception: type[Exception], words: str, marked: str
) -> None:
    with pytest.raises(exception) as caught:
        torch.jit.script(function)
    text = str(caught.value)
    assert words in text
    lines = text.splitlines()
    underlined = [
        above[line.index("~") : line.rindex("~") + 1]
        for above, line in pairwise(lines)
        if "~" in line
    ]
    assert underlined == ([marked] if marked else [])


def of_a_dtype(x: List[torch.LongTensor]):  # noqa: UP006
    return x[0]


def test_that_dtypes_are_not_checked_is_said() -> None:
    with pytest.warns(UserWarning, match="dtype constraints are not enforced") as told:
        scripted = torch.jit.script(of_a_dtype)
    assert [each.filename for each in told] == [__file__]
    assert scripted([torch.ones(1)]).tolist() == [1.0]
