"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Self, TypeVar, overload

__all__ = ["made_once"]

Owner = TypeVar("Owner")
Made = TypeVar("Made")


class made_once(Generic[Owner, Made]):
    """`functools.cached_property` without its lock.

    Python 3.11 holds one lock for the objects of a class together: it would be taken for ever in
    a child that is forked meanwhile.  Two threads may both compute a value here; one is kept.
    """

    def __init__(self, make: Callable[[Owner], Made]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Owner, owner: type) -> Made: ...
    def __get__(self, instance: Owner | None, owner: type) -> object:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._make(instance))
