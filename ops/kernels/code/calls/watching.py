"""What a function runs, told by native code while it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import get_ident
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from .....frontend.foundations.locks import fork_safe_lock
from ....memory.dtype import Array
from .run import CREW

__all__ = ["NO_PARTS", "Notes", "Seen", "seen", "watching"]

ndarray: Final = np.ndarray
_NOTING: Final = fork_safe_lock(is_tried=True)

Notes = list[tuple[object, ...]]
"""The arguments of calls of `run`; none of what is unforeseen."""

NO_PARTS: Final[Mapping[int, tuple[int, int]]] = MappingProxyType({})


class Seen(NamedTuple):
    """What a call gave, and the runs that would give it, None if that is not known; `scratch` is
    memory that they use between them, `fresh` what of it is used by a run first: its number, where
    that begins, and its bytes; `wait` how many calls shall pass until the next is learned from, if
    that is said.  `taken` are the arguments that the notes hold, where others stood for
    those of the call.  `roots` is new memory that has results as parts, if any may be one; `parts`
    says of a result, by its identity, that it is a part of an argument, which, and how many bytes
    behind that it begins, -1 if it is that argument."""

    result: Any
    notes: Notes | None
    scratch: object = None
    wait: int | None = None
    taken: Sequence[object] | None = None
    fresh: Sequence[tuple[int, int, int]] = ()
    roots: Sequence[Array] | None = None
    parts: Mapping[int, tuple[int, int]] = NO_PARTS


def seen(function: Callable[..., object], values: Sequence[object], *, draws: bool = False) -> Seen:
    """The result of a call, and what it ran; that is not known if others are looked at, or if it
    draws random numbers and that is not learned."""
    notes, writable = Notes(), list[Array]()

    def note(*arguments: object) -> None:
        notes.append(arguments)
        given = (each for each in arguments if type(each) is ndarray)
        writable.extend(each for each in given if each.flags.writeable)

    with watching(note, draws=draws) as is_watched:
        result = function(*values)
    # what is kept for later calls is no constant of the one that fills it
    is_kept = any(not each.flags.writeable for each in writable)
    return Seen(result, notes if is_watched and not is_kept else None)


@contextmanager
def watching(note: Callable[..., None], *, draws: bool = False) -> Iterator[bool]:
    """Have a function told of what this thread runs; False if others are looked at meanwhile."""
    if CREW is None or not _NOTING.acquire(blocking=False):
        yield False
        return
    thread = get_ident()

    def own(*arguments: object) -> None:
        if get_ident() == thread:
            note(*arguments)

    try:
        with CREW.told(own, draws=draws):
            yield True
    finally:
        _NOTING.release()
