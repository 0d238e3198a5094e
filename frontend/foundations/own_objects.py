"""The library's own objects, where Python does not look for garbage.

To load the library makes some 80,000 objects that stay as long as the process does.  Python would
go through them whenever it looks through all there is, and three times when a process ends, which
takes a fifth of the time of a short one.  `gc.freeze` would set them aside, but with them all that
the program has made so far: its cycles would never be freed, nor files in them written.

So what a load has made is taken out of the list in which Python keeps the objects that it looks
through, and linked to a list of ours.  An object leaves a list by its neighbours, whichever list
that is.  How objects are linked is tried first: where that is not as it is known, or others
could make objects meanwhile, nothing is done.
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Callable
from ctypes import addressof, c_size_t, py_object, pythonapi, sizeof
from functools import cache
from inspect import getattr_static
from typing import Final, TypeVar

from .garbage import uncollected

__all__ = ["apart"]

T = TypeVar("T")

_WORD: Final = sizeof(c_size_t)
_FLAGS: Final = 3
"""Bits that the way back has besides an address."""

_OURS: Final = (c_size_t * 2)()
"""The list: the addresses of its first link and of its last."""
pythonapi.Py_IncRef(py_object(_OURS))  # objects are linked to it for as long as there is a process


def apart(load: Callable[[], T]) -> T:
    """What a load gives; the objects that it makes are left out when Python looks for garbage.

    What is garbage by its end is freed as ever.
    """
    if not gc.isenabled() or not _is_alone() or not _is_known():
        return uncollected(load)()
    return uncollected(_apart)(load)


def _apart(load: Callable[[], T]) -> T:
    gc.collect(0)  # what was made before lies in an older generation from now on
    before = list[object]()
    gc.collect(0)
    looked = _times_looked()
    made = load()
    gc.collect(0)
    behind = list[object]()
    gc.collect(0)
    if _is_alone() and _times_looked() == looked:
        _take_between(before, behind)
    return made


def _is_alone() -> bool:
    """Whether no other thread can make objects meanwhile."""
    return len(sys._current_frames()) == 1


def _times_looked() -> list[int]:
    """How often older generations were looked through, which moves what lies in them."""
    return [each["collections"] for each in gc.get_stats()[1:]]


@cache
def _is_known() -> bool:
    """Whether objects are linked as in CPython 3.11 to 3.13: two words lie before each."""
    if sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info < (3, 14):
        return False
    if "t" in getattr(sys, "abiflags", "") or hasattr(sys, "getobjects"):
        return False  # without a lock of its own, or with words of a debugging build
    return uncollected(_are_neighbours)()


def _are_neighbours() -> bool:
    one, two, three = [], [], []  # type: ignore[var-annotated]
    links = list(map(_link, (one, two, three)))
    words = [(_at(link).value, _at(link + _WORD).value & ~_FLAGS) for link in links]
    first, second, third = links
    return words[0][0] == second and words[1] == (third, first) and words[2][1] == second


def _link(made: object) -> int:
    """The address of an object's link."""
    return id(made) - 2 * _WORD


def _at(address: int) -> c_size_t:
    return c_size_t.from_address(address)


def _take_between(before: object, behind: object) -> None:
    """Link what lies between two objects to the end of our list.

    All words are written by one call, amid which no handler of a signal runs.
    """
    ours = addressof(_OURS)
    if not _OURS[0]:
        _OURS[0] = _OURS[1] = ours
    left, right = _link(before), _link(behind)
    first, last = _at(left).value, _at(right + _WORD).value & ~_FLAGS
    if first == right:
        return
    end = _OURS[1]
    backwards = {right: left, first: end}
    written = {left: right, end: first, last: ours, ours + _WORD: last}
    for link, to in backwards.items():
        written[link + _WORD] = to | (_at(link + _WORD).value & _FLAGS)
    words = list(map(_at, written))
    write: Callable[[c_size_t, int], None] = getattr_static(c_size_t, "value").__set__
    deque(map(write, words, list(written.values())), 0)
