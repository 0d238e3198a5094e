"""The forms that operators have for sparse tensors, by operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from ...frontend.foundations.declared import Declared

__all__ = ["FORMS", "Form", "form"]

Form = Callable[..., object]
F = TypeVar("F", bound=Form)
FORMS: Final[Declared[str, Form]] = Declared()


def form(*names: str) -> Callable[[F], F]:
    """Make a function the form of operators for arguments with sparse tensors among them."""

    def declare(function: F) -> F:
        FORMS.put(names, function)
        return function

    return declare
