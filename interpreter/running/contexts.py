"""The contexts that running code enters, and leaves when it fails."""

from __future__ import annotations

import threading

from ..code.machine import Invoke
from ..values.objects import ScriptObject

__all__ = ["ENTERED", "enter", "leave", "leave_all"]


class _Entered(threading.local):
    """The contexts that running code of a thread has entered."""

    def __init__(self) -> None:
        self.objects: list[ScriptObject] = []


ENTERED = _Entered()


def enter(owner: ScriptObject, invoke: Invoke) -> object:
    """Enter a context."""
    result = invoke("__enter__", (owner,))
    ENTERED.objects.append(owner)
    return result


def leave(owner: ScriptObject, invoke: Invoke) -> object:
    """Leave the innermost context, which is this one."""
    ENTERED.objects.pop()
    return invoke("__exit__", (owner, None, None, None))


def leave_all(depth: int, invoke: Invoke) -> None:
    """Leave the contexts that a failure has left open, innermost first."""
    while len(ENTERED.objects) > depth:
        leave(ENTERED.objects[-1], invoke)
