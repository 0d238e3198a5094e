"""Colours of printed code, as codes for terminals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["Painter", "painter"]

_CODES: Final = {"yellow": 33, "cyan": 36, "green": 32, "blue": 34, "red": 31, "dim": 2}
Painter = Callable[[str, str], str]


def painter(colored: bool) -> Painter:
    """A function of a colour's name and a text: the text in the colour, or as it is."""
    if colored:
        return lambda name, text: f"\x1b[{_CODES[name]}m{text}\x1b[0m"
    return lambda _, text: text
