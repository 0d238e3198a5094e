"""Dicts whose keys are tensors: a tensor is found by what it is, not by what it holds."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping
from typing import Any

import numpy as np

from ..memory.dtype import Array

__all__ = ["TensorDict"]


class _Key:
    """A tensor as a key: equal to itself alone."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __hash__(self) -> int:
        return id(self.array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.array is self.array


class TensorDict(dict[Any, object]):
    """The machine's dict from arrays to values; arrays have no hash, so each is kept in a `_Key`.

    Every method of `dict` that takes or gives keys takes and gives arrays.
    """

    __slots__ = ()

    def __init__(self, items: Iterable[tuple[Array, object]] | Mapping[Array, object] = ()) -> None:
        super().__init__()
        self.update(items)

    def __getitem__(self, key: Array) -> object:
        return super().__getitem__(_Key(key))

    def __setitem__(self, key: Array, value: object) -> None:
        super().__setitem__(_Key(key), value)

    def __delitem__(self, key: Array) -> None:
        super().__delitem__(_Key(key))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, np.ndarray) and super().__contains__(_Key(key))

    def __iter__(self) -> Iterator[Array]:
        return (key.array for key in super().__iter__())

    def keys(self) -> Any:
        """The arrays."""
        return KeysView(self)

    def items(self) -> Any:
        """The arrays with their values."""
        return ItemsView(self)

    def get(self, key: Array, default: object = None) -> object:
        """The value of an array, or the default."""
        return super().get(_Key(key), default)

    def pop(self, key: Array, *default: object) -> object:
        """The value of an array, which is taken out."""
        return super().pop(_Key(key), *default)

    def popitem(self) -> tuple[Array, object]:
        """The last array put in and its value, which are taken out."""
        key, value = super().popitem()
        return key.array, value

    def setdefault(self, key: Array, default: object = None) -> object:
        """The value of an array; the default, which is put in, if it has none."""
        return super().setdefault(_Key(key), default)

    def update(self, items: Any = ()) -> None:
        """Put in the items of a mapping, or pairs."""
        pairs = items.items() if isinstance(items, Mapping) else items
        super().update((_Key(key), value) for key, value in pairs)

    def copy(self) -> TensorDict:
        """A dict of the same items."""
        return TensorDict(self)
