"""The types of values of which nothing tells the type.

What is asked differs (constants in code, values from Python, values in archives), and so does what
has no type; how the type of a container follows from those of its parts is here, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from ...frontend.limits.walks import containers_in, fold
from .dict_keys import dict_type
from .types import ListType, TupleType, Type

__all__ = ["ValueTypes"]


class ValueTypes(ABC):
    """One way to find the types of values; `refusal` is what it raises for what has none."""

    refusal: type[Exception] = TypeError

    def of(self, value: object) -> Type:
        """The type of a value; of what lies in it several times it is found once.

        Raises:
            BoundExceeded: it contains itself, or its type would be too large.
        """
        if not isinstance(value, list | dict | tuple):
            return self.simple(value)
        return _type_or_raise(fold(value, containers_in, self._attempt))

    @abstractmethod
    def simple(self, value: object) -> Type:
        """The type of what is no list, dict or tuple."""

    @abstractmethod
    def elements(self, types: Iterator[Type]) -> Type:
        """The element type of a list of such elements."""

    @abstractmethod
    def entries(self, types: Iterator[Type]) -> Type:
        """The key or value type of a dict of such keys or values."""

    def _attempt(self, value: object, known: dict[int, Type | Exception]) -> Type | Exception:
        """A container's type, or why it has none: it may lie in one that says so in its words."""
        try:
            return self._container(value, known)
        except self.refusal as reason:
            return reason

    def _container(self, value: object, known: dict[int, Type | Exception]) -> Type:
        def types(parts: Iterable[object]) -> Iterator[Type]:
            for part in parts:
                found = known.get(id(part))
                yield self.of(part) if found is None else _type_or_raise(found)

        match value:
            case list():
                return ListType(self.elements(types(value)))
            case dict():
                return dict_type(self.entries(types(value)), self.entries(types(value.values())))
        assert isinstance(value, tuple)
        return TupleType(tuple(types(value)))


def _type_or_raise(found: Type | Exception) -> Type:
    if isinstance(found, Exception):
        raise found
    return found
