"""Warnings of operators, which point at the line outside the package that called."""

from __future__ import annotations

import sys
import warnings
from typing import Final

__all__ = ["warn_caller", "warn_caller_once"]

_INSIDE: Final = __name__.partition(".")[0] + "."
_TOLD: Final[set[str]] = set()


def warn_caller(sentence: str) -> None:
    """Give a `UserWarning`."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        frame = frame.f_back
        level += 1
    warnings.warn(sentence, UserWarning, stacklevel=level)


def warn_caller_once(sentence: str) -> None:
    """Give a `UserWarning` the first time in a process."""
    if sentence not in _TOLD:
        _TOLD.add(sentence)
        warn_caller(sentence)
