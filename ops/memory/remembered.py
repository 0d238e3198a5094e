"""Arrays, and what holds some, that are made of a few numbers again and again: remembered up to a
number of bytes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, ParamSpec, Protocol, TypeVar

from ...frontend.foundations.locks import fork_safe_lock

__all__ = ["Recent", "remembered"]


class _Counted(Protocol):
    """What has a number of bytes."""

    @property
    def nbytes(self) -> int: ...


Given = ParamSpec("Given")
Made = TypeVar("Made", bound=_Counted)

_ADDING: Final = fork_safe_lock()


def remembered(
    most: int,
) -> Callable[[Callable[Given, Made]], Remembered[Given, Made]]:
    """Remember the arrays that a function makes, `most` bytes in all; nobody may write to them."""
    return lambda make: Remembered(make, most)


class Remembered(Generic[Given, Made]):
    """A function that remembers what it made last; an array of a quarter of the bytes is too large.

    Its arguments are hashable and given by position.
    """

    def __init__(self, make: Callable[Given, Made], most: int) -> None:
        self._make = make
        self._most = most
        self._made: dict[tuple[object, ...], Made] = {}
        self.bytes = 0
        self.__doc__ = make.__doc__

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Made:
        found = self._made.get(args)
        return self._add(args) if found is None else found

    def _add(self, args: Any) -> Made:
        made = self._make(*args)  # type: ignore[call-arg]
        if made.nbytes <= self._most // 4:
            with _ADDING:
                self.bytes += made.nbytes - getattr(self._made.get(args), "nbytes", 0)
                self._made[args] = made
                while self.bytes > self._most:
                    self.bytes -= self._made.pop(next(iter(self._made))).nbytes
        return made


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(dict[Key, Value]):
    """A table of what is met again and again, which forgets all where there would be too much."""

    __slots__ = ("most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def keep(self, key: Key, value: Value) -> Value:
        """Make something the value of a key, and give it."""
        if len(self) >= self.most:
            self.clear()
        self[key] = value
        return value
