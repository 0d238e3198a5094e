"""The contexts that running code enters, and leaves when it fails."""

from __future__ import annotations

import threading
from typing import Any

from ..code.machine import Invoke
from ..values.objects import ScriptObject

__all__ = ["entered", "enter", "leave", "leave_all"]


class _Entered(threading.local):
    """The contexts that running code of a thread has entered."""

    def __init__(self) -> None:
        self.objects: list[ScriptObject] = []


_ENTERED = _Entered()


def entered() -> int:
    """How many contexts are entered now."""
    return len(_ENTERED.objects)


def enter(owner: ScriptObject, invoke: Invoke) -> Any:
    """Enter a context."""
    result = invoke("__enter__", (owner,))
    _ENTERED.objects.append(owner)
    return result


def leave(owner: ScriptObject, invoke: Invoke) -> Any:
    """Leave the innermost context, which is this one."""
    _ENTERED.objects.pop()
    return invoke("__exit__", (owner, None, None, None))


def leave_all(depth: int, invoke: Invoke) -> None:
    """Leave the contexts that a failure has left open, innermost first."""
    while len(_ENTERED.objects) > depth:
        leave(_ENTERED.objects[-1], invoke)
