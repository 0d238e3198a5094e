"""Operators on strings, lists, dicts and futures, and their text."""

from . import counters, dicts, from_lists, futures, hashing, lists, output, strings

__all__ = [
    "counters",
    "dicts",
    "from_lists",
    "futures",
    "hashing",
    "lists",
    "output",
    "strings",
]
