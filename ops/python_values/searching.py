"""Searches in strings whose time grows with the lengths of both strings, not with their product.

Python searches forwards so (the two-way algorithm), but backwards it compares at each place, and
`strip` looks through all characters that are given for each one that goes.
"""

from __future__ import annotations

from typing import Final

__all__ = ["SHORT", "distinct", "last_place", "split_from_end"]

SHORT: Final = 64
"""Characters of a part that may as well be compared at each place."""


def last_place(text: str, part: str) -> int:
    """Where a part begins for the last time; -1 if it is not there."""
    if len(part) <= SHORT:
        return text.rfind(part)
    place = text[::-1].find(part[::-1])
    return place if place < 0 else len(text) - place - len(part)


def split_from_end(text: str, separator: str, most: int) -> list[str]:
    """The parts between separators, of which the last `most` count; all for -1."""
    if len(separator) <= SHORT:
        return text.rsplit(separator, most)
    return [part[::-1] for part in text[::-1].split(separator[::-1], most)][::-1]


def distinct(characters: str) -> str:
    """Each of them once."""
    return "".join(dict.fromkeys(characters)) if len(characters) > SHORT else characters
