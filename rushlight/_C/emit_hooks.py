"""Hooks that are told of what `script` has compiled: tools and tests look at everything so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

__all__ = ["emit_hooks", "set_emit_hooks", "without_emit_hooks"]

Hook = Callable[[Any], object] | None

_HOOKS: Final[list[Hook]] = [None, None]


def set_emit_hooks(ModuleEmitHook: Hook, FunctionEmitHook: Hook) -> None:
    """Have one function called with each module, another with each function that is compiled."""
    _HOOKS[:] = ModuleEmitHook, FunctionEmitHook


def emit_hooks() -> tuple[Hook, Hook]:
    """The two functions, for modules and for functions; None where none is set."""
    return _HOOKS[0], _HOOKS[1]


@contextmanager
def without_emit_hooks() -> Iterator[None]:
    """In this block nothing is told."""
    before = emit_hooks()
    set_emit_hooks(None, None)
    try:
        yield
    finally:
        set_emit_hooks(*before)
