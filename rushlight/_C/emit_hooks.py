"""Hooks that are told of what `script` has compiled: tools and tests look at everything so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from ..frontend.foundations.chosen import Chosen

__all__ = ["emit_hooks", "set_emit_hooks", "without_emit_hooks"]

Hook = Callable[[Any], object] | None

_NONE: Final[tuple[Hook, Hook]] = (None, None)
_HOOKS: Final = Chosen(_NONE)
_IN_BLOCK: Final[ContextVar[tuple[Hook, Hook] | None]] = ContextVar("emit_hooks", default=None)
"""What a block of this thread has in place of the hooks that all threads have."""


def set_emit_hooks(ModuleEmitHook: Hook, FunctionEmitHook: Hook) -> None:
    """Have one function called with each module, another with each function that is compiled.

    In a block without hooks this holds to its end, and in its thread.
    """
    if _IN_BLOCK.get() is None:
        _HOOKS.choose((ModuleEmitHook, FunctionEmitHook))
    else:
        _IN_BLOCK.set((ModuleEmitHook, FunctionEmitHook))


def emit_hooks() -> tuple[Hook, Hook]:
    """The two functions, for modules and for functions; None where none is set."""
    return _IN_BLOCK.get() or _HOOKS.now


@contextmanager
def without_emit_hooks() -> Iterator[None]:
    """In this block nothing is told of what its thread compiles."""
    before = _IN_BLOCK.set(_NONE)
    try:
        yield
    finally:
        _IN_BLOCK.reset(before)
