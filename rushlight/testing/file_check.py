"""`FileCheck`: what must, and must not, stand in a text, in order.

FileCheck().check("aten::relu").check_not("aten::add").run(graph)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from ..frontend.diagnostics.torch_text import highlight
from ..frontend.sources.source import Source, Span
from ..frontend.syntax.literal_text import escape

__all__ = ["FileCheck"]

Kind = Literal[
    "CHECK", "CHECK-NEXT", "CHECK-SAME", "CHECK-NOT", "CHECK-COUNT", "CHECK-DAG",
    "CHECK-SOURCE-HIGHLIGHTED", "CHECK-REGEX",
]  # fmt: skip
Range = tuple[int, int]

_IN_TEXT = re.compile(r"^[ \t]*#[ \t]*(CHECK[\w-]*)(:?)[ ]?(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Check:
    kind: Kind
    text: str
    count: int = 0

    def __str__(self) -> str:
        count = f"-{self.count}" if self.kind == "CHECK-COUNT" else ""
        return f"{self.kind}{count}: {self.text}"


class FileCheck:
    """A list of checks; each method adds one and gives the object back.

    What is found is looked for after what was found before.
    """

    def __init__(self) -> None:
        self._checks: list[_Check] = []
        self._has_run = False

    def check(self, text: str) -> FileCheck:
        """The text stands somewhere further on."""
        return self._add("CHECK", text)

    def check_not(self, text: str) -> FileCheck:
        """The text does not stand between what is found before and after."""
        return self._add("CHECK-NOT", text)

    def check_same(self, text: str) -> FileCheck:
        """The text stands further on in the same line."""
        return self._add("CHECK-SAME", text)

    def check_next(self, text: str) -> FileCheck:
        """The text stands in the next line."""
        return self._add("CHECK-NEXT", text)

    def check_count(self, str: str, count: int, exactly: bool = False) -> FileCheck:
        """The text stands so often further on; with `exactly`, not once more until what follows."""
        if count or not exactly:
            self._add("CHECK-COUNT", str, count)
        return self._add("CHECK-NOT", str) if exactly else self

    def check_dag(self, text: str) -> FileCheck:
        """The text stands further on; neighbouring checks of this kind hold in any order."""
        return self._add("CHECK-DAG", text)

    def check_source_highlighted(self, text: str) -> FileCheck:
        """The text stands further on and is marked with `~` in the line below."""
        return self._add("CHECK-SOURCE-HIGHLIGHTED", text)

    def check_regex(self, pattern: str) -> FileCheck:
        """Something that the pattern matches stands further on."""
        return self._add("CHECK-REGEX", pattern)

    def _add(self, kind: Kind, text: str, count: int = 0) -> FileCheck:
        self._checks.append(_Check(kind, text, count))
        return self

    def run(
        self,
        *what: object,
        checks_file: object = None,
        test_file: object = None,
        graph: object = None,
    ) -> None:
        """Check a text or graph: `run(text)`, or `run(checks, text)` with checks in comments.

        Args:
            what: one of these, or what the names below say, in their order.
            checks_file: a text with checks.
            test_file: the text that is checked.
            graph: the graph that is.

        Raises:
            RuntimeError: a check fails; the message says which and where.
        """
        named = (checks_file, test_file, graph)
        what = (*what, *(each for each in named if each is not None))
        if len(what) == 2:
            for check in _checks_in(str(what[0])):
                self._checks.append(check)
        self._has_run = True
        if not self._checks:
            raise RuntimeError(
                "No checks have been added to this instance ofFilecheck! Check for bad input."
            )
        _Search(str(what[-1])).all(self._checks)

    def __str__(self) -> str:
        notice = "" if self._has_run else "You have not run this instance of FileCheck!\n"
        return f"{notice}FileCheck checks:\n" + "".join(f"\t{check}\n" for check in self._checks)


def _checks_in(text: str) -> Iterator[_Check]:
    """The checks that comments like `# CHECK-NEXT: add` in a text ask for."""
    for match in _IN_TEXT.finditer(text):
        word, wanted = match[1] if match[2] else "", match[3].strip()
        counted = re.fullmatch(r"CHECK-COUNT-(EXACTLY-)?(\d+)", word)
        if counted:
            yield _Check("CHECK-COUNT", wanted, int(counted[2]))
            if counted[1]:
                yield _Check("CHECK-NOT", wanted)
        elif word in Kind.__args__ and word != "CHECK-COUNT":  # type: ignore[attr-defined]
            yield _Check(word, wanted)  # type: ignore[arg-type]
        else:
            place = _marked(text, match.start(1) + 5, match.start(1) + 6)
            raise RuntimeError(f"Could not parse check at:\n{place}Check for bad input.")


class _Search:
    """The text that is searched."""

    def __init__(self, text: str) -> None:
        self.text = text

    def all(self, checks: list[_Check]) -> None:
        together = ("CHECK-NOT", "CHECK-DAG")
        numbered = enumerate(checks)
        groups = groupby(numbered, lambda e: e[1].kind if e[1].kind in together else e[0])
        before = (0, 0)
        nots: list[_Check] = []
        for _, group in groups:
            found = [check for _, check in group]
            if found[0].kind == "CHECK-NOT":
                nots = found
                continue
            after = self.group(found, before)
            self.refuse(nots, before[1], after[0])
            nots, before = [], after
        self.refuse(nots, before[1], len(self.text))

    def refuse(self, nots: list[_Check], start: int, end: int) -> None:
        for check in nots:
            self.expect_none(check.text, start, end, check)

    def group(self, checks: list[_Check], before: Range) -> Range:
        """Where a check, or those that hold in any order, is found."""
        if checks[0].kind != "CHECK-DAG":
            return self.one(checks[0], before)
        places = [self.find(check.text, before[1], check) for check in checks]
        return min(start for start, _ in places), max(end for _, end in places)

    def one(self, check: _Check, before: Range) -> Range:
        start = before[1]
        match check.kind:
            case "CHECK-COUNT":
                found = before
                for _ in range(check.count):
                    found = self.find(check.text, found[1], check)
                return found
            case "CHECK-SAME":
                found = self.find(check.text, start, check)
                self.expect_none("\n", start, found[0], check)
                return found
            case "CHECK-NEXT":
                line = self.find("\n", start, check)
                found = self.find(check.text, line[1], check)
                self.expect_none("\n", line[1], found[0], check)
                return found
            case "CHECK-REGEX":
                match = re.compile(check.text).search(self.text, start)
                if match is None:
                    raise RuntimeError(
                        f"Expected to find regex {escape(check.text)} but did not find it\n"
                        f"Searched string:\n{self.text[start:]}\nFrom {check}\n"
                    )
                return match.span()
            case "CHECK-SOURCE-HIGHLIGHTED":
                return self.highlighted(check, start)
        return self.find(check.text, start, check)

    def find(self, wanted: str, start: int, check: _Check) -> Range:
        at = self.text.find(wanted, start)
        if at < 0:
            raise RuntimeError(
                f"Expected to find {escape(wanted)} but did not find it\n"
                f"Searched string:\n{self.marked(start, start + len(wanted))}From {check}\n"
            )
        return at, at + len(wanted)

    def expect_none(self, wanted: str, start: int, end: int, check: _Check) -> None:
        at = self.text.find(wanted, start, end)
        if at >= 0:
            raise RuntimeError(
                f"Expected to not find {escape(wanted)} but found it\n"
                f"{self.marked(at, at + len(wanted))}From {check}\n"
            )

    def highlighted(self, check: _Check, start: int) -> Range:
        """The first place further on where the text is marked, and no more than the text."""
        first = at = self.find(check.text, start, check)
        while not self.is_marked(at):
            again = self.text.find(check.text, at[0] + 1)
            if again < 0:
                raise RuntimeError(
                    f"Expected to find {escape(check.text)}highlighted but it is not.\n"
                    f"{self.marked(*first)}\n"
                )
            at = (again, again + len(check.text))
        return at

    def is_marked(self, place: Range) -> bool:
        line_start = self.text.rfind("\n", 0, place[0]) + 1
        line_end = self.text.find("\n", place[0])
        if line_end < 0:
            return False
        below = self.text[line_end + 1 :].split("\n", 1)[0]
        start, end = place[0] - line_start, place[1] - line_start
        exact = not below[max(start - 1, 0) : start].endswith("~") and below[end : end + 1] != "~"
        return exact and below[start:end] == "~" * (end - start)

    def marked(self, start: int, end: int) -> str:
        """The lines around a place, with the place marked."""
        return _marked(self.text, min(start, len(self.text)), min(end, len(self.text)))


def _marked(text: str, start: int, end: int) -> str:
    """The lines around a place, with the place marked; the text has no file to name."""
    _, _, lines = highlight(Span(Source(text, None), start, end)).partition("\n")
    return lines
