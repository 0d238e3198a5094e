"""Where a call can be changed or interrupted: before each of its lines.

What a line does again, in loops and other calls, is left out but for the last time: with all of it
the work grows with the square of what a call does.
"""

from __future__ import annotations

import dis
import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType
from typing import Any

__all__ = ["Place", "before", "interrupted", "is_anywhere", "may_be_interrupted", "places_of"]

Call = Callable[[], object]
Wanted = Callable[[FrameType, int], bool]
"""Asked of a frame at a line, and the line before it there."""


@dataclass(frozen=True)
class Place:
    """A line of the product that a call comes to, and the how manieth time."""

    code: CodeType
    line: int
    time: int

    def __str__(self) -> str:
        file = self.code.co_filename.rpartition("rushlight/")[2]
        return f"{file}:{self.line} in {self.code.co_name}, {self.time}"


def is_anywhere(frame: FrameType, previous: int) -> bool:
    """Whether another thread may come to act before this line: not where the library exchanges what
    two arrays are, since nothing that is done there lends the interpreter to others."""
    return frame.f_code.co_name != "_hand_on"


def places_of(call: Call, wanted: Wanted = is_anywhere, *, last: bool = True) -> list[Place]:
    """The lines that a call comes to, each when it runs first and, with `last`, for the last
    time."""
    times: dict[tuple[CodeType, int], int] = {}

    def came(frame: FrameType, previous: int) -> None:
        if wanted(frame, previous):
            at = frame.f_code, frame.f_lineno
            times[at] = times.get(at, 0) + 1

    def called(frame: FrameType, event: str, _: object) -> Any:
        return _lines_of(came) if _is_ours(frame.f_code.co_filename) else None

    _traced(call, called)
    first = [Place(*at, 1) for at in times]
    again = [Place(*at, count) for at, count in times.items() if last and count > 1]
    return [*first, *again]


def before(
    call: Call, place: Place, act: Callable[[], object], wanted: Wanted = is_anywhere
) -> None:
    """Call, and act before a line.  Other code than that line's runs at its usual speed."""
    seen = 0

    def came(frame: FrameType, previous: int) -> None:
        nonlocal seen
        if frame.f_lineno == place.line and wanted(frame, previous):
            seen += 1
            if seen == place.time:
                sys.settrace(None)
                act()

    def called(frame: FrameType, event: str, _: object) -> Any:
        return _lines_of(came) if frame.f_code is place.code else None

    _traced(call, called)


def interrupted(call: Call, place: Place) -> str:
    """Call, with an interrupt before a line: "no" if the line did not come, "yes", or what became
    of the interrupt."""
    raised = False

    def interrupt() -> None:
        nonlocal raised
        raised = True
        raise KeyboardInterrupt

    try:
        before(call, place, interrupt, may_be_interrupted)
    except KeyboardInterrupt:
        return "yes"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "it was swallowed" if raised else "no"


def may_be_interrupted(frame: FrameType, previous: int) -> bool:
    """Whether an interrupt can come here: Python looks for one where calls begin and end and loops
    go round, not at `try:` and not where it is about to leave a `with` block.  A context that is
    being left is left alone."""
    if previous not in (0, frame.f_lineno) and previous not in _looking(frame.f_code):
        return False
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    if line.startswith("try:"):
        return False
    if line.startswith(("with ", "with(", "finally:")) and frame.f_lasti != _starts(
        frame.f_code
    ).get(frame.f_lineno):
        return False
    above: FrameType | None = frame
    while above is not None:
        if above.f_code.co_name == "__exit__":
            return False
        above = above.f_back
    return True


def _lines_of(came: Callable[[FrameType, int], object]) -> Callable[..., Any]:
    """What follows one frame: says its lines, each with the line before it, 0 for the first."""
    previous = 0

    def local(frame: FrameType, event: str, _: object) -> Any:
        nonlocal previous
        if event == "line":
            came(frame, previous)
            previous = frame.f_lineno
        return local

    return local


@cache
def _looking(code: CodeType) -> frozenset[int]:
    """The lines at whose end, or amid which, Python looks for interrupts."""
    found, line = set(), 0
    for each in dis.get_instructions(code):
        line = each.positions.lineno or line if each.positions is not None else line
        if each.opname.startswith(("CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD", "RESUME", "SEND")):
            found.add(line)
    return frozenset(found)


@cache
def _starts(code: CodeType) -> dict[int, int]:
    """Where each line begins for the first time."""
    found: dict[int, int] = {}
    for offset, line in dis.findlinestarts(code):
        if line is not None:
            found.setdefault(line, offset)
    return found


def _is_ours(name: str) -> bool:
    return "rushlight" in name or (name.startswith("<") and not name.startswith("<frozen"))


def _traced(call: Call, tracing: Callable[..., Any]) -> None:
    sys.settrace(tracing)
    try:
        call()
    finally:
        sys.settrace(None)
