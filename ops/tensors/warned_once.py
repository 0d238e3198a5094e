"""Warnings that a process gives once, as long as nobody asks for all of them."""

from __future__ import annotations

import warnings
from typing import Final

__all__ = ["ALWAYS", "GIVEN", "warn_of_number"]

GIVEN: Final[set[str]] = set()
"""The texts that have been given."""

ALWAYS: Final = [False]
"""Whether they are given each time (`set_warn_always`)."""


def warn_of_number() -> None:
    """Warn whoever makes a number of a tensor that requires gradients."""
    _warn_once(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first."
    )


def _warn_once(text: str) -> None:
    """Warn whoever called the caller's caller, unless that has been done."""
    if text not in GIVEN or ALWAYS[0]:
        GIVEN.add(text)
        warnings.warn(text, UserWarning, stacklevel=4)
