"""What stays true of a file's functions while another one is typed in.

A function at the top of a file is checked anew if its text has changed, or that of a function it
calls; a change of anything else in the file, or of the number of its lines, has all checked anew.
Functions that something was told of are not kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypedDict

__all__ = ["Fix", "FunctionFacts", "Kept", "Outline", "Told", "outline_of"]

Place = list[int]


class Fix(TypedDict):
    """A change of texts that mends something, and whether it surely does."""

    title: str
    sure: bool
    edits: list[tuple[str, Place, str]]


class Told(TypedDict):
    """A diagnostic."""

    code: str
    severity: str
    message: str
    notes: list[str]
    place: Place
    related: list[tuple[str, Place, str]]
    fixes: list[Fix]


class FunctionFacts(TypedDict):
    """What is known of a function; `calls` are the functions of the file that it calls, each, as
    the function itself, by the line of its `def`."""

    line: int
    types: list[tuple[Place, str, tuple[str, Place] | None]]
    inlays: list[tuple[int, int, str]]
    functions: list[tuple[Place, str, str]]
    calls: list[int]


@dataclass(frozen=True)
class Outline:
    """A file without the bodies of the functions at its top, and the texts of these by the line of
    their `def`; `lines` are those by the line of what decorates them."""

    rest: str
    texts: Mapping[int, str]
    lines: Mapping[int, int]


def outline_of(text: str) -> Outline | None:
    """The outline of a program; None if it is no Python."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = text.split("\n")
    texts: dict[int, str] = {}
    firsts: dict[int, int] = {}
    rest = list(lines)
    for node in module.body:
        if not isinstance(node, ast.FunctionDef) or node.end_lineno is None:
            continue
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        texts[node.lineno] = "\n".join(lines[first - 1 : node.end_lineno])
        firsts[first] = node.lineno
        rest[first - 1 : node.end_lineno] = [""] * (node.end_lineno - first + 1)
    return Outline("\n".join(rest), texts, firsts)


@dataclass(frozen=True)
class Kept:
    """What was known of a file, of which this was the outline."""

    outline: Outline
    facts: Mapping[int, FunctionFacts]

    def still(self, outline: Outline) -> dict[int, FunctionFacts]:
        """What is known still, where the outline is another one."""
        if outline.rest != self.outline.rest or outline.lines != self.outline.lines:
            return {}
        texts = self.outline.texts
        changed = {line for line, text in outline.texts.items() if texts.get(line) != text}
        changed |= outline.texts.keys() - self.facts.keys()
        while more := {n for n, f in self.facts.items() if not changed.isdisjoint(f["calls"])}:
            if more <= changed:
                break
            changed |= more
        return {line: facts for line, facts in self.facts.items() if line not in changed}

    @classmethod
    def of(cls, outline: Outline, facts: Iterable[FunctionFacts], told: Iterable[Place]) -> Kept:
        """What to keep: functions in which nothing was told."""
        ends = {line: line + text.count("\n") for line, text in outline.texts.items()}
        firsts = {line: first for first, line in outline.lines.items()}
        lines = {place[0] + 1 for place in told}
        found = {
            each["line"]: each
            for each in facts
            if each["line"] in ends
            and lines.isdisjoint(range(firsts[each["line"]], ends[each["line"]] + 1))
        }
        return cls(outline, found)
