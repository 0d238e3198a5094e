"""Lists and dicts in parts, and the keys that lead to parts of trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

__all__ = [
    "Context",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "MappingKey",
    "SequenceKey",
    "key_get",
    "keystr",
]


class KeyEntry(Protocol):
    """The way from a node to one of its children."""

    def get(self, parent: Any, /) -> object:
        """The child."""


Context = Any
KeyPath = tuple[KeyEntry, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class SequenceKey:
    """The way to an element of a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[T]) -> T:
        """The element."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """The way to a value of a dict."""

    key: object

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[object, T]) -> T:
        """The value."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The way to an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: object) -> Any:
        """The attribute's value."""
        return getattr(obj, self.name)


def keystr(kp: KeyPath) -> str:
    """A way as text: `['a'][0].weight`."""
    return "".join(map(str, kp))


def key_get(obj: object, kp: KeyPath) -> Any:
    """What a way leads to."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _places(tree: Sized) -> list[KeyEntry]:
    return [SequenceKey(index) for index in range(len(tree))]


def _keys(tree: Iterable[object]) -> list[KeyEntry]:
    return [MappingKey(key) for key in tree]


def _list_flatten(d: Sequence[object]) -> tuple[list[object], Context]:
    """The elements of a list, for classes of lists of others."""
    return list(d), None


def _list_unflatten(values: Iterable[object], context: Context) -> list[object]:
    """A list of its elements."""
    del context
    return list(values)


def _list_flatten_with_keys(d: Sequence[object]) -> tuple[list[tuple[KeyEntry, object]], Context]:
    """The elements of a list with their places."""
    return list(zip(_places(d), d, strict=True)), None


def _dict_flatten(d: Mapping[object, object]) -> tuple[list[object], Context]:
    """The values of a dict, and its keys."""
    return list(d.values()), list(d)


def _dict_unflatten(values: Iterable[object], context: Context) -> dict[object, object]:
    """A dict of its values and keys."""
    return dict(zip(context, values, strict=True))


def _dict_flatten_with_keys(
    d: Mapping[object, object],
) -> tuple[list[tuple[KeyEntry, object]], Context]:
    """The values of a dict with their keys."""
    return list(zip(_keys(d), d.values(), strict=True)), list(d)
