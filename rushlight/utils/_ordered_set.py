"""`torch.utils._ordered_set`: sets that keep the order in which elements came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet, Reversible
from typing import Any, TypeVar

__all__ = ["OrderedSet"]

T = TypeVar("T")
Other = Iterable[Any]


class OrderedSet(MutableSet[T], Reversible[T]):
    """A set whose elements come in the order in which they were put in."""

    __slots__ = ("_dict",)

    def __init__(self, iterable: Iterable[T] | None = None) -> None:
        self._dict: dict[T, None] = dict.fromkeys(() if iterable is None else iterable)

    def __contains__(self, elem: object) -> bool:
        return elem in self._dict

    def __iter__(self) -> Iterator[T]:
        return iter(self._dict)

    def __len__(self) -> int:
        return len(self._dict)

    def __reversed__(self) -> Iterator[T]:
        return reversed(self._dict)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)})"

    def __getstate__(self) -> list[T]:
        return list(self)

    def __setstate__(self, state: Iterable[T]) -> None:
        self._dict = dict.fromkeys(state)

    def add(self, elem: T) -> None:
        """Put an element at the end, if it is not there."""
        self._dict[elem] = None

    def discard(self, elem: T) -> None:
        """Take an element out, if it is there."""
        self._dict.pop(elem, None)

    def clear(self) -> None:
        """Take all elements out."""
        self._dict.clear()

    def pop(self) -> T:
        """Take the last element out.

        Raises:
            KeyError: there is none.
        """
        if not self._dict:
            raise KeyError("pop from an empty set")
        return self._dict.popitem()[0]

    def copy(self) -> OrderedSet[T]:
        """Another set of the same elements."""
        return OrderedSet(self)

    def update(self, *others: Iterable[T]) -> None:
        """Put the elements of others in."""
        for other in others:
            self |= OrderedSet(other)

    def difference_update(self, *others: Other) -> None:
        """Take the elements of others out."""
        for other in others:
            self -= OrderedSet(other)

    def intersection_update(self, *others: Other) -> None:
        """Take out what is not in all others."""
        for other in others:
            self &= OrderedSet(other)

    def symmetric_difference_update(self, other: Iterable[T]) -> None:
        """Take out what is in the other, and put in what was in that alone."""
        self ^= OrderedSet(other)

    def union(self, *others: Iterable[T]) -> OrderedSet[T]:
        """The elements of all."""
        made = self.copy()
        made.update(*others)
        return made

    def difference(self, *others: Other) -> OrderedSet[T]:
        """The elements that are in no other."""
        made = self.copy()
        made.difference_update(*others)
        return made

    def intersection(self, *others: Other) -> OrderedSet[T]:
        """The elements that are in all others."""
        made = self.copy()
        made.intersection_update(*others)
        return made

    def symmetric_difference(self, other: Iterable[T]) -> OrderedSet[T]:
        """The elements that are in one of the two."""
        made = self.copy()
        made.symmetric_difference_update(other)
        return made

    def issubset(self, other: Other) -> bool:
        """Whether all elements are in the other."""
        return self <= set(other)

    def issuperset(self, other: Other) -> bool:
        """Whether all elements of the other are here."""
        return self >= set(other)
