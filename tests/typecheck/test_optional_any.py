"""`Optional[Any]` is a type beside `Any`: a test against None is made when the program runs."""

# ruff: noqa: UP007, UP045, RUF036

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, Optional, Union

import pytest

import rushlight as torch


def rows(x: torch.Tensor, given: Optional[Any] = None, n: tuple[int, int] = (0, 0)) -> torch.Tensor:
    count = n[0] if given is not None else None
    return x[:count] if count is not None else x


def of_union(given: Union[None, Any]) -> bool:
    return given is None


def of_bar(given: Any | None) -> bool:
    return given is None


def kind(given: Optional[Any] = None) -> str:
    if given is None:
        return "none"
    return "int" if isinstance(given, int) else "other"


class Holding(torch.nn.Module):
    held: Optional[Any]

    def __init__(self) -> None:
        super().__init__()
        self.held = None

    def forward(self) -> bool:
        return self.held is None


def again(scripted: Any) -> Any:
    sink = io.BytesIO()
    torch.jit.save(scripted, sink)
    sink.seek(0)
    return torch.jit.load(sink)


def test_what_is_not_given_is_none() -> None:
    scripted = torch.jit.script(rows)
    for each in (scripted, again(scripted)):
        assert each(torch.ones(3), None, (0, 0)).numel() == 3
        assert each(torch.ones(3), "given", (0, 0)).numel() == 0
    assert scripted(torch.ones(3)).numel() == 3


@pytest.mark.parametrize("function", [of_union, of_bar])
def test_unions_of_any_and_none(function: Callable[[Any], bool]) -> None:
    scripted = torch.jit.script(function)
    assert str(scripted.schema).endswith("(Any? given) -> bool")
    assert [scripted(None), scripted(1)] == [True, False]


def test_kinds_and_attributes() -> None:
    scripted = torch.jit.script(kind)
    assert [scripted(3), scripted(None), scripted("a")] == ["int", "none", "other"]
    assert again(torch.jit.script(Holding()))() is True
