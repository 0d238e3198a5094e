"""Operators on strings, lists, dicts and futures, and their text."""

from . import counters, dicts, files, from_lists, futures, hashing, lists, output, strings

__all__ = [
    "counters",
    "dicts",
    "files",
    "from_lists",
    "futures",
    "hashing",
    "lists",
    "output",
    "strings",
]
