"""Names that live code gives to types, in annotations that are only text."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Union  # noqa: UP035

import pytest

import rushlight as torch
from rushlight import Tensor

Told = str
Count = int
Anything = Any
Pixels = Tensor
Sizes = List[int]  # noqa: UP006
Perhaps = Optional[float]  # noqa: UP045


def told(x: Pixels, text: Optional[Told] = None) -> Dict[Told, Pixels]:  # noqa: UP006, UP045
    within: Optional[Told] = text  # noqa: UP045
    return {"a": x} if within is None else {within: x}


def counted(sizes: Sizes, more: Perhaps, at: Count, what: Anything) -> Count:
    return sizes[at] if more is None else int(more)


def chosen(either: Union[Told, Count]) -> bool:  # noqa: UP007
    return isinstance(either, str)


@pytest.mark.parametrize(
    ("function", "schema"),
    [
        (told, "told(Tensor x, str? text=None) -> Dict(str, Tensor)"),
        (counted, "counted(int[] sizes, float? more, int at, Any what) -> int"),
        (chosen, "chosen(Union(int, str) either) -> bool"),
    ],
)
def test_aliases_are_the_types_they_name(function: Callable[..., Any], schema: str) -> None:
    assert str(torch.jit.script(function).schema) == schema
