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
Wanted = Callable[[FrameType], bool]


@dataclass(frozen=True)
class Place:
    """A line of the product that a call comes to, and the how manieth time."""

    code: CodeType
    line: int
    time: int

    def __str__(self) -> str:
        file = self.code.co_filename.rpartition("rushlight/")[2]
        return f"{file}:{self.line} in {self.code.co_name}, {self.time}"


def is_anywhere(frame: FrameType) -> bool:
    """Every line is wanted."""
    return True


def places_of(call: Call, wanted: Wanted = is_anywhere, *, last: bool = True) -> list[Place]:
    """The lines that a call comes to, each when it runs first and, with `last`, for the last
    time."""
    times: dict[tuple[CodeType, int], int] = {}

    def local(frame: FrameType, event: str, _: object) -> Any:
        if event == "line" and wanted(frame):
            at = frame.f_code, frame.f_lineno
            times[at] = times.get(at, 0) + 1
        return local

    def called(frame: FrameType, event: str, _: object) -> Any:
        return local if _is_ours(frame.f_code.co_filename) else None

    _traced(call, called)
    first = [Place(*at, 1) for at in times]
    again = [Place(*at, count) for at, count in times.items() if last and count > 1]
    return [*first, *again]


def before(
    call: Call, place: Place, act: Callable[[], object], wanted: Wanted = is_anywhere
) -> None:
    """Call, and act before a line.  Other code than that line's runs at its usual speed."""
    seen = 0

    def local(frame: FrameType, event: str, _: object) -> Any:
        nonlocal seen
        if event == "line" and frame.f_lineno == place.line and wanted(frame):
            seen += 1
            if seen == place.time:
                sys.settrace(None)
                act()
        return local

    def called(frame: FrameType, event: str, _: object) -> Any:
        return local if frame.f_code is place.code else None

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


def may_be_interrupted(frame: FrameType) -> bool:
    """Whether an interrupt can come here: Python looks for one when calls begin and end and loops
    go round, not at `try:` and not where it is about to leave a `with` block.  A context that is
    being left is left alone."""
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
