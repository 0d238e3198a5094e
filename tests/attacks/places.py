"""Where a call can be changed or interrupted: before each of its lines.

What a line does again, in loops and other calls, is left out but for the last time: with all of it
the work grows with the square of what a call does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

__all__ = ["Place", "before", "interrupted", "interruptible", "places_of"]

Call = Callable[[], object]


@dataclass(frozen=True)
class Place:
    """A line of the product that a call comes to, and the how manieth time."""

    code: CodeType
    line: int
    time: int

    def __str__(self) -> str:
        file = self.code.co_filename.rpartition("rushlight/")[2]
        return f"{file}:{self.line} in {self.code.co_name}, {self.time}"


def _may_come(frame: FrameType) -> bool:
    """Whether another thread may come to act before this line: not where the library exchanges what
    two arrays are, since nothing that is done there lends the interpreter to others."""
    return frame.f_code.co_name != "_hand_on"


def places_of(call: Call) -> list[Place]:
    """The lines that a call comes to, each when it runs first and for the last time."""
    times: dict[tuple[CodeType, int], int] = {}

    def local(frame: FrameType, event: str, _: object) -> Any:
        if event == "line" and _may_come(frame):
            at = frame.f_code, frame.f_lineno
            times[at] = times.get(at, 0) + 1
        return local

    def called(frame: FrameType, event: str, _: object) -> Any:
        return local if _is_ours(frame.f_code.co_filename) else None

    _traced(call, called)
    first = [Place(*at, 1) for at in times]
    again = [Place(*at, count) for at, count in times.items() if count > 1]
    return [*first, *again]


def before(call: Call, place: Place, act: Callable[[], object]) -> None:
    """Call, and act before a line.  Other code than that line's runs at its usual speed."""
    seen = 0

    def local(frame: FrameType, event: str, _: object) -> Any:
        nonlocal seen
        if event == "line" and frame.f_lineno == place.line:
            seen += 1
            if seen == place.time:
                sys.settrace(None)
                act()
        return local

    def called(frame: FrameType, event: str, _: object) -> Any:
        return local if frame.f_code is place.code else None

    _traced(call, called)


def interruptible(call: Call) -> list[Place]:
    """Where Python looks for interrupts amid a call, each when it comes there first: where one of
    the product's functions begins, and where one of C's that it has called comes back."""
    found: dict[tuple[CodeType, int], Place] = {}

    def came(frame: FrameType, event: str, _: object) -> None:
        if _looks(frame, event):
            at = frame.f_code, frame.f_lineno
            found.setdefault(at, Place(*at, 1))

    _profiled(call, came)
    return list(found.values())


def interrupted(call: Call, place: Place) -> str:
    """Call, with an interrupt at a place: "no" if that did not come, "yes", or what became of the
    interrupt."""
    raised = dropped = False

    def drop(_: object) -> None:
        nonlocal dropped
        dropped = True  # where Python closes generators and calls finalizers nobody can hear of it

    def came(frame: FrameType, event: str, _: object) -> None:
        nonlocal raised
        if frame.f_code is place.code and frame.f_lineno == place.line and _looks(frame, event):
            sys.setprofile(None)
            raised = True
            raise KeyboardInterrupt

    hook, sys.unraisablehook = sys.unraisablehook, drop
    try:
        _profiled(call, came)
    except KeyboardInterrupt:
        return "yes"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        sys.unraisablehook = hook
    if raised:
        return "yes" if dropped else "it was swallowed"
    return "no"


def _looks(frame: FrameType, event: str) -> bool:
    """Whether Python looks for interrupts here; a context that is being left is left alone."""
    if event not in ("call", "c_return") or not _is_ours(frame.f_code.co_filename):
        return False
    above: FrameType | None = frame
    while above is not None:
        if above.f_code.co_name == "__exit__":
            return False
        above = above.f_back
    return True


def _profiled(call: Call, came: Callable[[FrameType, str, object], None]) -> None:
    sys.setprofile(came)
    try:
        call()
    finally:
        sys.setprofile(None)


def _is_ours(name: str) -> bool:
    return "rushlight" in name or (name.startswith("<") and not name.startswith("<frozen"))


def _traced(call: Call, tracing: Callable[..., Any]) -> None:
    sys.settrace(tracing)
    try:
        call()
    finally:
        sys.settrace(None)
