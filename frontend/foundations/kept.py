"""What is remembered of functions, classes and types for as long as these live.

What is remembered usually refers to what it is remembered of (a compiled function to Python's).  In
a `WeakKeyDictionary` it would keep its own key alive; so it is kept with the key itself, where
Python's garbage collector sees the circle.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from itertools import count
from typing import Any, Final, Generic, TypeVar, overload
from weakref import WeakKeyDictionary

__all__ = ["KeptWith", "kept_with"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_NAME: Final = "__rushlight_kept__"
_numbers = count()


class _Kept:
    """All that is kept with one object; copies of the object's attributes do not count."""

    def __init__(self, owner: object = None) -> None:
        self.owner = owner
        self.values: dict[int, object] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return _Kept, ()  # whoever pickles a function by its contents gets nothing of ours


class KeptWith(Generic[Key, Value]):
    """A table from objects to values, each of which lives as long as its object."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all values; they live on with their objects, under a number nobody asks for."""
        self._number = next(_numbers)
        self._others: WeakKeyDictionary[Key, Value] = WeakKeyDictionary()

    @overload
    def get(self, key: Key) -> Value | None: ...
    @overload
    def get(self, key: Key, default: Value) -> Value: ...
    def get(self, key: Key, default: Value | None = None) -> Value | None:
        """The value of an object."""
        found: Value | None = self._find(key, default)
        return found

    def _find(self, key: Key, default: object) -> Any:
        kept = _kept(key)
        if kept is not None and self._number in kept.values:
            return kept.values[self._number]
        return self._others.get(key, default) if self._others else default

    def __contains__(self, key: Key) -> bool:
        return self._find(key, self) is not self

    def __setitem__(self, key: Key, value: Value) -> None:
        kept = _kept(key)
        if kept is None:
            kept = _Kept(key)
            if not _put(key, kept):  # bound methods, classes of builtin modules
                self._others[key] = value
                return
        kept.values[self._number] = value

    def setdefault(self, key: Key, value: Value) -> Value:
        """The value of an object, which is this one if it has none yet."""
        if key not in self:
            self[key] = value
        found: Value = self._find(key, None)
        return found

    def pop(self, key: Key, default: object = None) -> object:
        """Forget the value of an object, and give it."""
        found = self._find(key, default)
        kept = _kept(key)
        if kept is not None:
            kept.values.pop(self._number, None)
        self._others.pop(key, None)
        return found


def kept_with(make: Callable[[Key], Value]) -> Callable[[Key], Value]:
    """Remember what a function makes of its argument for as long as that lives; threads that ask at
    once get the same."""
    made: KeptWith[Key, Value] = KeptWith()

    @wraps(make)
    def remembered(key: Key) -> Value:
        found = made._find(key, made)
        return made.setdefault(key, make(key)) if found is made else found  # type: ignore[no-any-return]

    return remembered


def _kept(key: object) -> _Kept | None:
    found = getattr(key, "__dict__", {}).get(_NAME)
    return found if isinstance(found, _Kept) and found.owner is key else None


def _put(key: object, kept: _Kept) -> bool:
    try:
        if isinstance(key, type):
            type.__setattr__(key, _NAME, kept)
        else:
            object.__setattr__(key, _NAME, kept)
    except (AttributeError, TypeError):
        return False
    return True
