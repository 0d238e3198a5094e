"""Each function that is no operator by itself asks the classes of its arguments first, whichever of
them is of a class that answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional

INNER = {("nonzero", "out"), ("stft", "window")}
"""Arguments that the operator inside asks."""


class Answering(torch.Tensor):
    """Answers by the function that asks."""

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> tuple[object, bool]:
        return func, cls in types


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    names = (
        *("cdist", "lu", "norm", "numel", "nonzero", "split", "stft", "tensordot", "unique"),
        *("unique_consecutive", "unravel_index"),
    )
    for name in names:
        yield name, getattr(torch, name)
    for name, value in sorted(vars(functional).items()):
        if inspect.isfunction(value) and name == value.__name__ and name[0] != "_":
            yield f"functional.{name}", value


def ways() -> Iterator[Any]:
    """Calls with one argument of the class each: those that must be given, and tensors."""
    for name, function in functions():
        parameters = inspect.signature(function).parameters.values()
        if any(each.kind is each.VAR_POSITIONAL for each in parameters):
            continue
        needed = [each.name for each in parameters if each.default is each.empty]
        for each in parameters:
            if str(each.annotation) in ("Tensor", "Tensor | None"):
                yield pytest.param(function, needed, each.name, id=f"{name}: {each.name}")


@pytest.mark.parametrize(("function", "needed", "asked"), list(ways()))
def test_an_argument_is_asked(function: Callable[..., Any], needed: list[str], asked: str) -> None:
    given: dict[str, Any] = {name: torch.ones(2, 2) for name in needed}
    given[asked] = torch.ones(2, 2).as_subclass(Answering)
    func, is_named = function(**given)
    is_inner = (function.__name__, asked) in INNER
    assert is_named
    assert func.__name__ == function.__name__
    assert (func is function) is not is_inner
