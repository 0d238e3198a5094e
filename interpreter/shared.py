"""Lists and dicts that Python and scripted code share: `torch.jit.script([1, 2])`."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, MutableSequence
from typing import Any

from ..typecheck.types import DictType, ListType
from .outward import outward

__all__ = ["ScriptDict", "ScriptList"]


class ScriptList(MutableSequence[Any]):
    """A list of the machine's; passing it to scripted code makes no copy.

    `to_machine` converts an element of Python's.
    """

    def __init__(self, type: ListType, values: list[Any], to_machine: Any) -> None:
        self.type = type
        self.values = values
        self._inward = to_machine
        self._outward = outward(type.element)

    def __getitem__(self, index: Any) -> Any:
        found = self.values[index]
        return (
            [self._outward(v) for v in found] if isinstance(index, slice) else self._outward(found)
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self.values[index] = [self._inward(v) for v in value]
        else:
            self.values[index] = self._inward(value)

    def __delitem__(self, index: Any) -> None:
        del self.values[index]

    def __len__(self) -> int:
        return len(self.values)

    def insert(self, index: int, value: Any) -> None:
        """Put a value before the one at the index."""
        self.values.insert(index, self._inward(value))

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if isinstance(other, ScriptList) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class ScriptDict(MutableMapping[Any, Any]):
    """A dict of the machine's; passing it to scripted code makes no copy."""

    def __init__(self, type: DictType, values: dict[Any, Any], key: Any, value: Any) -> None:
        self.type = type
        self.values_by_key = values
        self._key_inward, self._inward = key, value
        self._key_outward, self._outward = outward(type.key), outward(type.value)

    def __getitem__(self, key: Any) -> Any:
        return self._outward(self.values_by_key[self._key_inward(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values_by_key[self._key_inward(key)] = self._inward(value)

    def __delitem__(self, key: Any) -> None:
        del self.values_by_key[self._key_inward(key)]

    def __iter__(self) -> Iterator[Any]:
        return map(self._key_outward, self.values_by_key)

    def __len__(self) -> int:
        return len(self.values_by_key)

    def __repr__(self) -> str:
        return repr(dict(self))
