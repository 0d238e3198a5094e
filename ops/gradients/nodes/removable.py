"""Hooks that can be taken away again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Final

__all__ = ["SEQUENCE", "Hooks", "Removable", "add_hook"]

SEQUENCE: Final = count()
"""Numbers of nodes and hooks, the newer the larger."""

Hooks = OrderedDict[int, Callable[..., object]]


class Removable:
    """A hook's handle: `remove()` takes the hook away."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self.id = next(SEQUENCE)

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Removable:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def add_hook(hooks: Hooks, hook: Callable[..., object]) -> Removable:
    """Add a hook to others; returned is what takes it away."""
    handle = Removable(hooks)
    hooks[handle.id] = hook
    return handle
