"""Memory made in `inference_mode`: what gradients can never use.

NumPy's arrays keep the data-memory handler they were made with, and know its name.  In the mode it
is one of ours, which allocates as NumPy's own does; so views of such memory are known wherever they
are made, and making tensors costs nothing more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from ...frontend.foundations.port import Port
from .dtype import Array

__all__ = [
    *("MADE", "ON", "enter", "handler", "handler_name", "is_for_inference", "is_on", "leave"),
]

NAME: Final = "rushlight, inference"
"""The name of handlers in the mode."""

MADE: Final = [False]
"""Whether there was ever such memory, which is all that most code looks at."""

COUNTING: Final[Port[Callable[[bool], object]]] = Port()
"""Where a thread's memory is counted: gives the handler that does so in the mode or outside of it,
None if this thread's is not."""

handler_name: Final[Any] = import_module("numpy._core.multiarray").get_handler_name
"""The name of what made the memory of an array."""


ON: Final = ContextVar("inference_mode", default=False)
"""Whether this is in the mode, for native code; others ask `is_on`."""


def is_on() -> bool:
    """Whether this is in the mode."""
    return ON.get()


def is_for_inference(array: Array) -> bool:
    """Whether the memory of an array was made in the mode."""
    if not MADE[0]:
        return False
    lender: object = array.base
    while lender is not None:
        if isinstance(lender, np.ndarray):
            array = lender
        elif hasattr(lender, "for_inference"):
            return bool(lender.for_inference)
        elif not hasattr(lender, "base"):  # NumPy makes views through what has one
            return False
        lender = getattr(lender, "base", None)
    return bool(handler_name(array) == NAME)


def enter(wanted: bool) -> tuple[bool, object]:
    """Have memory made in the mode, or outside of it; what is given back goes to `leave`."""
    was_on = ON.get()
    if wanted == was_on or sys.implementation.name != "cpython":
        ON.set(wanted)
        return was_on, None
    MADE[0] = True
    set_handler = _handlers()[0]
    before, after = handler(was_on), handler(wanted)
    try:
        ON.set(wanted)
        return was_on, set_handler(after)
    except BaseException:  # an interrupt: what is not entered is never left
        ON.set(was_on)
        set_handler(before)
        raise


def handler(mode: bool) -> object:
    """What this thread's memory is made by in the mode, or outside of it."""
    _, plain, marking = _handlers()
    counts = COUNTING.installed
    counting = None if counts is None else counts(mode)
    return (marking if mode else plain) if counting is None else counting


def leave(before: tuple[bool, object]) -> None:
    """Have memory made as before."""
    was_on, made_by = before
    ON.set(was_on)
    if made_by is not None:
        _handlers()[0](made_by)


@cache
def _handlers() -> tuple[Any, object, object]:
    """What sets a handler, NumPy's own, and the same by our name."""
    from .handlers import capsule_of, default_handler, set_handler

    capsule, handler = default_handler()
    return set_handler(), capsule, capsule_of(NAME, handler.allocator)
