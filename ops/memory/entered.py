"""What `with torch.device(...)` and `set_default_device` said."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

__all__ = ["ENTERED", "at_first"]

_AT_FIRST: Final[list[Callable[[], object]]] = []


class _Entered(threading.local):
    """Devices on which a thread makes tensors where arguments do not say, the innermost last."""

    def __init__(self) -> None:
        self.devices: list[Any] = []

    def put(self, devices: list[Any]) -> None:
        """Replace them."""
        while devices and _AT_FIRST:
            _AT_FIRST.pop()()
        self.devices[:] = devices


def at_first(call: Callable[[], object]) -> None:
    """Have a function called before the first device is entered, in whatever thread: who looks at
    them need not before."""
    _AT_FIRST.append(call)


ENTERED: Final = _Entered()
"""Those of this thread."""
