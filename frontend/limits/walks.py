"""Walks over what may share parts, or hold itself, however deep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

from .bounds import DEEPEST_VALUES, BoundExceeded

__all__ = [
    *("HoldsItself", "TooDeep"),
    *("check_copies", "containers_in", "fold", "parts_first", "text_of"),
]

_T = TypeVar("_T")
_R = TypeVar("_R")


class HoldsItself(Exception):
    """Something is a part of itself."""


class TooDeep(Exception):
    """Parts lie deeper in each other than is allowed."""


def parts_first(
    root: _T, parts: Callable[[_T], Iterable[_T]], deepest: int, within: set[int] | None = None
) -> Iterator[_T]:
    """Everything that can be reached from `root`, each once, all parts before what has them.

    Things are told apart by identity; `parts` may leave out what needs no visit.  `within` holds
    the identities of what is being walked through, for walks that begin inside others.

    Raises:
        HoldsItself: something is a part of itself.
        TooDeep: more than `deepest` things lie in each other.
    """
    open = set() if within is None else within
    _check_way(root, open, deepest)
    first = list(parts(root))
    if not first:
        yield root
        return
    open.add(id(root))
    done: set[int] = set()
    path: list[tuple[_T, Iterator[_T]]] = [(root, iter(first))]
    try:
        while path:
            item, rest = path[-1]
            entered = next((part for part in rest if id(part) not in done), None)
            if entered is None:
                path.pop()
                open.discard(id(item))
                done.add(id(item))
                yield item
                continue
            _check_way(entered, open, deepest)
            open.add(id(entered))
            path.append((entered, iter(parts(entered))))
    finally:
        open.difference_update(id(item) for item, _ in path)


def _check_way(entered: object, open: set[int], deepest: int) -> None:
    """See that what is entered is not being walked through already, nor lies too deep."""
    if id(entered) in open:
        raise HoldsItself
    if len(open) >= deepest:
        raise TooDeep


class _Made(dict[int, _R]):
    """What was made of parts, by identity."""

    def __missing__(self, key: int) -> _R:
        raise BoundExceeded("a value was changed while it was walked through")


def fold(
    root: _T,
    parts: Callable[[_T], Iterable[_T]],
    make: Callable[[_T, dict[int, _R]], _R],
    deepest: int = DEEPEST_VALUES,
) -> _R:
    """What `make` makes of `root`, having made it of all its parts, of each once.

    `make` is given a part, and what was made so far by identity.

    Raises:
        BoundExceeded: something is a part of itself, or parts lie more than `deepest` deep in
            each other, or another thread gave something parts meanwhile.
    """
    made = _Made[_R]()
    kept: list[_T] = []  # so that nothing new gets the identity of what was dropped meanwhile
    try:
        for each in parts_first(root, parts, deepest):
            kept.append(each)
            made[id(each)] = make(each, made)
    except HoldsItself:
        raise BoundExceeded("a value contains itself") from None
    except TooDeep:
        raise BoundExceeded(f"values lie more than {deepest} deep in each other") from None
    return made[id(root)]


_CONTAINERS = (list, tuple, dict)
_Container = list[object] | tuple[object, ...] | dict[object, object]


def containers_in(value: object) -> list[_Container]:
    """The lists, tuples and dicts directly in one."""
    match value:
        case list() | tuple():
            return _containers_among(value)
        case dict():
            return _containers_among([*value, *value.values()])
    return []


def _containers_among(parts: Collection[object]) -> list[_Container]:
    if not any(issubclass(kind, _CONTAINERS) for kind in {*map(type, parts)}):
        return []
    return [part for part in parts if isinstance(part, _CONTAINERS)]


MOST_COPIED = 1 << 26
"""How many elements a copy may have that gives each place a list of its own."""


def check_copies(value: object, most: int = MOST_COPIED) -> None:
    """Refuse to copy a list, tuple or dict in which the same ones lie in very many places.

    Raises:
        BoundExceeded: a copy without sharing would have more than `most` elements, or no end.
    """

    def elements(each: _Container, counts: dict[int, int]) -> int:
        count = len(each) + sum(counts[id(part)] for part in containers_in(each))
        if count > most:
            raise BoundExceeded(
                f"a value would have more than {most} elements, each counted in all its places"
            )
        return count

    if isinstance(value, _CONTAINERS):
        fold(value, containers_in, elements)


def text_of(value: object, write: Callable[[object], str] = repr) -> str:
    """The `repr` of a value from outside; of one that would take for ever, its class and its id."""
    try:
        check_copies(value, 1 << 20)
    except BoundExceeded:
        return object.__repr__(value)
    return write(value)
