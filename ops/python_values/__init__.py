"""Operators on strings, lists, dicts and futures, and their text."""

from . import dicts, from_lists, futures, hashing, lists, output, strings

__all__ = [
    "dicts",
    "from_lists",
    "futures",
    "hashing",
    "lists",
    "output",
    "strings",
]
