"""Shorter forms of LLVM's text, for functions that are written out by hand.

    %count = load i64, ptr %list at i8 16        the address is that of `getelementptr i8` by 16
    store ptr %made, ptr %values at ptr %i       so many pointers behind `%values`
    br eq ptr %found, null, label %a, label %b   a branch by what `icmp` says
    br eq ptr %found, null, label %a             one that goes on here otherwise
    br not eq ptr %found, null, label %a         the other way round

A block without an end goes on with the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["spelled_out"]

_PLACE: Final = re.compile(r"  (.+), ptr (\S+) at (\S+) ([^\s,]+)(.*)")
_BRANCH: Final = re.compile(r"  br (not )?(\S+ .*?)(, label \S+?)(, label \S+)?")
_LABEL: Final = re.compile(r"[\w.]+:")
_ENDS: Final = ("  br ", "  ret ", "  unreachable", "  switch ")


def spelled_out(text: str) -> str:
    """The text as LLVM reads it."""
    return "\n".join(_with_ends(_lines(text))) + "\n"


def _lines(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines()):
        place = _PLACE.fullmatch(line)
        branch = None if place else _BRANCH.fullmatch(line)
        if place:
            what, base, step, count, rest = place.groups()
            yield f"  %at.{number} = getelementptr {step}, ptr {base}, i64 {count}"
            yield f"  {what}, ptr %at.{number}{rest}"
        elif branch:
            inverse, condition, there, otherwise = branch.groups()
            if not condition.startswith("i1 "):
                yield f"  %is.{number} = icmp {condition}"
                condition = f"i1 %is.{number}"
            ways = there, otherwise or f", label %on.{number}"
            yield f"  br {condition}{''.join(reversed(ways) if inverse else ways)}"
            if not otherwise:
                yield f"on.{number}:"
        else:
            yield line


def _with_ends(lines: Iterator[str]) -> Iterator[str]:
    """The lines, where blocks say which one they go on with."""
    is_open = False
    for line in lines:
        if _LABEL.fullmatch(line):
            if is_open:
                yield f"  br label %{line[:-1]}"
            is_open = True
        elif not line.startswith("   "):  # as the ways of a switch do
            is_open = line.startswith("  ") and not line.startswith(_ENDS)
        yield line
