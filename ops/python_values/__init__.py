"""Operators on strings, lists, dicts and futures, and their text."""

from . import containers, from_lists, futures, hashing, output, strings

__all__ = [
    "containers",
    "from_lists",
    "futures",
    "hashing",
    "output",
    "strings",
]
