"""Warnings of operators, which point at the line outside the package that called."""

from __future__ import annotations

import sys
import warnings
from typing import Final

from ...frontend.foundations.chosen import Chosen
from ...frontend.foundations.loaded_names import loaded_name

__all__ = ["ALWAYS", "GIVEN", "warn_caller", "warn_caller_once", "warn_of_number"]

_INSIDE: Final = __name__.partition(".")[0] + "."
GIVEN: Final[set[str]] = set()
"""The texts of warnings that come once, and have come."""

ALWAYS: Final = Chosen(False)
"""Whether they come each time (`set_warn_always`)."""


def warn_caller(sentence: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning that points at the first line of a program's own."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and loaded_name(frame.f_globals).startswith(_INSIDE):
        frame = frame.f_back
        level += 1
    warnings.warn(sentence, category, stacklevel=level)


def warn_caller_once(sentence: str) -> None:
    """Give a `UserWarning` the first time in a process, or each time where that is asked for."""
    if ALWAYS.now or sentence not in GIVEN:
        GIVEN.add(sentence)
        warn_caller(sentence)


def warn_of_number() -> None:
    """Warn whoever makes a number of a tensor that requires gradients."""
    warn_caller_once(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first."
    )
