"""Shorter forms of LLVM's text, for functions that are written out by hand.

    %count = load i64, ptr %list at i8 16        the address is that of `getelementptr i8` by 16
    store ptr %made, ptr %values at ptr %i       so many pointers behind `%values`
    br eq ptr %found, null, label %a, label %b   a branch by what `icmp` says

A block without an end goes on with the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["spelled_out"]

_PLACE: Final = re.compile(r"  (.+), ptr (\S+) at (\S+) ([^\s,]+)(.*)")
_BRANCH: Final = re.compile(r"  br ([a-z]{2,3} \S+ \S+, [^\s,]+), (label .+)")
_LABEL: Final = re.compile(r"[\w.]+:")
_ENDS: Final = ("  br ", "  ret ", "  unreachable", "  switch ")


def spelled_out(text: str) -> str:
    """The text as LLVM reads it."""
    return "\n".join(_lines(text)) + "\n"


def _lines(text: str) -> Iterator[str]:
    is_open = False
    for number, line in enumerate(text.splitlines()):
        if _LABEL.fullmatch(line):
            if is_open:
                yield f"  br label %{line[:-1]}"
            is_open = True
        elif not line.startswith("   "):  # as the ways of a switch do
            is_open = line.startswith("  ") and not line.startswith(_ENDS)
        place = _PLACE.fullmatch(line)
        branch = None if place else _BRANCH.fullmatch(line)
        if place:
            what, base, step, count, rest = place.groups()
            yield f"  %at.{number} = getelementptr {step}, ptr {base}, i64 {count}"
            yield f"  {what}, ptr %at.{number}{rest}"
        elif branch:
            yield f"  %is.{number} = icmp {branch[1]}"
            yield f"  br i1 %is.{number}, {branch[2]}"
        else:
            yield line
