"""Lists and dicts that Python and scripted code share: `torch.jit.script([1, 2])`."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from typing import Any

from ...typecheck.types.types import STRING, TENSOR, DictType, ListType, Type
from .inference import CannotInfer, infer_type
from .inward import CastError, inward
from .outward import outward
from .shared_values import SharedValues

__all__ = ["ScriptDict", "ScriptList"]


def _taken(wanted: Type, error: type[Exception] = TypeError) -> Callable[[object], object]:
    """The conversion of an element to the machine; `error` is raised for one of another type."""
    convert = inward(wanted)

    def take(value: object) -> object:
        try:
            return convert(value)
        except CastError as reason:
            raise error(str(reason)) from None

    return take


def _type_of(values: Sequence[object] | Mapping[object, object]) -> Type:
    """The type of a list or dict; what is empty will hold tensors, a dict's under names."""
    if not values:
        return ListType(TENSOR) if isinstance(values, list) else DictType(STRING, TENSOR)
    try:
        return infer_type(values)
    except CannotInfer as reason:
        raise RuntimeError(str(reason)) from None


class ScriptList(SharedValues, MutableSequence[Any]):
    """A list of the machine's; passing it to scripted code makes no copy.

    The elements have one type, found out from the list it is made of; giving it a value of another
    type is a TypeError.

    Raises:
        RuntimeError: the elements have no common type.
    """

    content: list[Any]

    def __init__(self, values: list[object]) -> None:
        found = _type_of(values)
        assert isinstance(found, ListType)
        self.type = found
        self._inward, self._outward = _taken(found.element), outward(found.element)
        self.content = [self._inward(value) for value in values]

    def __getitem__(self, index: int | slice) -> Any:
        found = self.content[index]
        if isinstance(index, slice):
            return [self._outward(value) for value in found]
        return self._outward(found)

    def __setitem__(self, index: int | slice, value: Any) -> None:
        if not isinstance(index, slice):
            self.content[index] = self._inward(value)
            return
        new = [self._inward(item) for item in value]
        if len(new) != len(self.content[index]):
            raise RuntimeError("Left and right hand size of slice assignment have different sizes")
        self.content[index] = new

    def __delitem__(self, index: int | slice) -> None:
        del self.content[index]

    def __len__(self) -> int:
        return len(self.content)

    def __contains__(self, value: object) -> bool:
        return self._inward(value) in self.content

    def count(self, value: object) -> int:
        """How many elements are equal to a value."""
        return self.content.count(self._inward(value))

    def remove(self, value: object) -> None:
        """Take out the first element equal to a value; ValueError if there is none."""
        self.content.remove(self._inward(value))

    def extend(self, values: Iterable[object]) -> None:
        """Put values at the end: all or, if one is of another type, none."""
        self.content += [self._inward(value) for value in list(values)]

    def insert(self, index: int, value: object) -> None:
        """Put a value before the one at the index; IndexError if there is no such place."""
        if not -len(self) <= index <= len(self):
            raise IndexError("list index out of range")
        self.content.insert(index, self._inward(value))

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if isinstance(other, ScriptList) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class ScriptDict(SharedValues, MutableMapping[Any, Any]):
    """A dict of the machine's; passing it to scripted code makes no copy.

    Keys and values have one type each, found out from the dict it is made of; setting others is a
    TypeError.

    Raises:
        RuntimeError: the keys or the values have no common type.
    """

    content: dict[Any, object]

    def __init__(self, values: dict[object, object]) -> None:
        found = _type_of(values)
        assert isinstance(found, DictType)
        self.type = found
        self._key, self._value = _taken(found.key), _taken(found.value)
        self._key_asked = _taken(found.key, KeyError)
        self._key_outward, self._value_outward = outward(found.key), outward(found.value)
        self.content = {self._key(k): self._value(v) for k, v in values.items()}

    def __getitem__(self, key: object) -> Any:
        return self._value_outward(self.content[self._key_asked(key)])

    def __setitem__(self, key: object, value: object) -> None:
        self.content[self._key(key)] = self._value(value)

    def __delitem__(self, key: object) -> None:
        del self.content[self._key(key)]

    def __contains__(self, key: object) -> bool:
        return self._key_asked(key) in self.content

    def __iter__(self) -> Iterator[Any]:
        return map(self._key_outward, self.content)

    def __len__(self) -> int:
        return len(self.content)

    def __repr__(self) -> str:
        return repr(dict(self))
