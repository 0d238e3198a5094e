"""Differences from torch that tools/fuzz_programs.py meets and that are meant, and why."""

from __future__ import annotations

import re

__all__ = ["explained"]

DEVIATIONS: tuple[tuple[str, str, str], ...] = (
    (
        r"complex|\dj",
        r"torch.*pop\(\) called on empty stack",
        "torch compares complex and whole numbers with an operator that it does not have",
    ),
    (
        r"(\w+) \+= \(*\1\b|(\w+)\.extend\(\(*\2\b",
        r"torch.*(NoneType|raises)",
        "torch reads freed memory where a list is extended by itself",
    ),
    (
        r"self\.scale\b",
        r"^(frozen|prepared).*torch.*Couldn't find method",
        "torch freezes a module behind an interface without its methods",
    ),
    (
        r"\] [-+*]?= |index_put_",
        r"torch.*index (-?\d+) is out of bounds .*rushlight.*index \1 is out of bounds ",
        "torch has written the elements before an index that is none; here nothing is written",
    ),
    (
        r"unflatten\(",
        r"torch.*frame #.*rushlight.*Dimension specified as",
        "torch tells the frames of its C++",
    ),
    (
        r"\\r|\\x",
        r"^loaded.*torch refuses.*ill formed octal",
        "torch does not read in its archives what it writes for a carriage return",
    ),
    (
        r"@staticmethod",
        r"torch.*attribute lookup is not defined on python value of type 'type'",
        "torch knows static methods of a class of modules only once one of those was scripted",
    ),
    (
        r"\.set_\(",
        r"rushlight.*Could not set tensor of type",
        "torch's script reads the memory as another dtype, and beyond its end; Python may not",
    ),
    (
        r"\b\d+e1[0-6]\b|\b\d{11,17}\.0",
        r"^loaded",
        "torch's archives say 10000000000 for 1e10, which is a whole number when it is read",
    ),
)
"""A pattern for the program's text, one for the difference, and the reason."""


def explained(source: str, told: str) -> str:
    """Why a difference is meant; empty if it is not."""
    for program, difference, reason in DEVIATIONS:
        if re.search(program, source) and re.search(difference, told, re.DOTALL):
            return reason
    return ""
