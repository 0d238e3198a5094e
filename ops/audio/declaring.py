"""Declaring the operators of `torchaudio`, and how they refuse arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..eager.open_operators import OpenOperator
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..table.table import TABLE

__all__ = ["audio", "require", "require_contiguous"]

Forward = TypeVar("Forward", bound=Callable[..., object])


def audio(schema: str, namespace: str = "torchaudio") -> Callable[[Forward], Forward]:
    """Declare a function as the forward of an operator of `torchaudio`."""

    def declare(forward: Forward) -> Forward:
        TABLE.add(OpenOperator(f"{namespace}::{schema}", forward))
        return forward

    return declare


def require(holds: bool, sentence: str) -> None:
    """Refuse arguments with a sentence.

    Raises:
        OperatorError: what must hold does not.
    """
    if not holds:
        raise OperatorError(sentence)


def require_contiguous(**arrays: Array) -> None:
    """Refuse arrays, by the names of their arguments, that do not lie in one piece.

    Raises:
        OperatorError: one of them does not.
    """
    for name, array in arrays.items():
        require(array.flags.c_contiguous, f"{name} must be contiguous")
