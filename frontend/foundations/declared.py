"""Tables that declarations fill while modules load: an entry stands beside what it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

__all__ = ["Declared"]

Key = TypeVar("Key")
Entry = TypeVar("Entry")


class Declared(dict[Key, Entry]):
    """A table whose entries are put in by their declarations, once each."""

    __slots__ = ()

    def put(self, keys: Iterable[Key], entry: Entry) -> Entry:
        """Make something the entry of keys, and give it.

        Raises:
            ValueError: a key has an entry already.
        """
        for key in keys:
            if key in self:
                raise ValueError(f"{key!r} is declared twice")
            self[key] = entry
        return entry

    def exchange(self, key: Key, entry: Entry) -> None:
        """Make something the entry of a key in place of what it has, if it has one."""
        self[key] = entry

    def of(self, *keys: Key) -> Callable[[Entry], Entry]:
        """A decorator that makes a function the entry of keys."""
        return partial(self.put, keys)
