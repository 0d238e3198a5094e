"""Definitions that need others, which need others, however long the chain.

A definition that is needed in the middle of another one runs there and then, as long as Python's
stack has room.  Where it has not, all that are under way are given up, the one that was needed is
done first, and they begin anew.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Protocol

from ...frontend.foundations.garbage import uncollected
from ...frontend.syntax.deep_stack import usual_limit

__all__ = ["Definable", "Postponed", "define_in_turn"]


class Definable(Protocol):
    """What is defined."""

    _defining: bool


class Postponed(BaseException):
    """A definition is to run before those that are under way, which are `given_up`."""

    def __init__(self, wanted: Definable, define: Callable[[], None]) -> None:
        self.wanted = wanted
        self.define = define
        self.given_up: list[Definable] = []


class _Running(threading.local):
    count = 0


_running = _Running()


def define_in_turn(wanted: Definable, define: Callable[[], None]) -> None:
    """Run a definition, now or when the stack has room for it.

    Raises:
        Postponed: it has none; whoever began catches it here.
    """
    if not _running.count:
        _run_all(wanted, define)
        return
    if _is_deep():
        raise Postponed(wanted, define)
    _run(wanted, define)


def _run(wanted: Definable, define: Callable[[], None]) -> None:
    count = _running.count
    try:  # an interrupt may come between any two lines
        wanted._defining = True
        _running.count = count + 1
        define()
        wanted._defining = False
    except Postponed as postponed:
        postponed.given_up.append(wanted)  # to stay marked: who needs it meanwhile is a recursion
        raise
    except BaseException:
        wanted._defining = False
        raise
    finally:
        _running.count = count


@uncollected
def _run_all(wanted: Definable, define: Callable[[], None]) -> None:
    waiting: list[tuple[Definable, Callable[[], None], list[Definable]]] = [(wanted, define, [])]
    try:
        while waiting:
            first, define, given_up = waiting[-1]
            for each in given_up:
                each._defining = False
            given_up.clear()
            try:
                _run(first, define)
            except Postponed as postponed:
                given_up += postponed.given_up
                waiting.append((postponed.wanted, postponed.define, []))
            else:
                waiting.pop()
    finally:
        for _, _, given_up in waiting:
            for each in given_up:
                each._defining = False


def _is_deep() -> bool:
    """Whether half of the stack is used up."""
    frame, room = sys._getframe(), usual_limit() // 2
    while frame.f_back is not None and room:
        frame, room = frame.f_back, room - 1
    return not room
