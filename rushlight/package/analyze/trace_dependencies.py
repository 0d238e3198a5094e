"""The modules that a call runs through."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType

__all__ = ["trace_dependencies"]


def trace_dependencies(
    callable: Callable[..., object], inputs: Iterable[tuple[object, ...]]
) -> list[str]:
    """The names of the modules whose functions run when `callable` is called.

    Args:
        inputs: the arguments of each of the calls.
    """
    found: dict[str, None] = {}

    def see(frame: FrameType, event: str, arg: object) -> None:
        name = frame.f_globals.get("__name__")
        if event == "call" and name is not None:
            found[name] = None

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        for arguments in inputs:
            callable(*arguments)
    finally:
        sys.setprofile(before)
    return list(found)
