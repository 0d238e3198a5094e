"""The tensors that a call reaches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...frontend.kept import KeptWith
from ...ops.tensors.tensor import Parameter, Tensor
from ...typecheck.class_types import ClassType
from ...typecheck.types import BOOL, COMPLEX, DEVICE, FLOAT, INT, NONE, STRING, Type
from ..values.objects import ScriptObject

__all__ = ["Reached"]

_PLAIN = frozenset((int, float, bool, complex, str, np.ndarray))
"""Types of elements that hold no tensors which Python knows."""


_WORDS = frozenset((INT, FLOAT, BOOL, COMPLEX, STRING, NONE, DEVICE))
_REACHING: KeptWith[ClassType, tuple[int, tuple[int, ...]]] = KeptWith()


def _reaching_slots(cls: ClassType) -> tuple[int, ...]:
    """The slots of a class's objects that may hold tensors or objects: a vocabulary is long."""
    attributes = cls.attributes
    count, found = _REACHING.get(cls, (-1, ()))
    if count != len(attributes):
        types = [each.type for each in attributes.values()]
        found = tuple(at for at, type in enumerate(types) if not _is_plain(type))
        _REACHING[cls] = len(types), found
    return found


def _is_plain(type: Type) -> bool:
    """Whether values of a type hold nothing but numbers and the like."""
    inside = type.contained
    return all(map(_is_plain, inside)) if inside else type in _WORDS


class Reached:
    """The tensors among some values and in the objects among them, and those objects."""

    def __init__(self, values: Iterable[object]) -> None:
        self.tensors: list[Tensor] = []
        self.holders: list[ScriptObject] = []
        self._seen: set[int] = set()
        self._look(values)
        seen: set[int] = set()
        for holder in self.holders:  # which grows while it is looked at
            if id(holder) not in seen:
                seen.add(id(holder))
                slots = holder.slots
                self._look([slots[at] for at in _reaching_slots(holder.cls)])

    def _look(self, values: Iterable[Any]) -> None:
        for value in values:
            kind = type(value)
            if kind is Parameter or kind is Tensor:
                self.tensors.append(value)
            elif kind is ScriptObject:
                self.holders.append(value)
            elif kind is list and value:
                if type(value[0]) not in _PLAIN:
                    self._look_into(value, value)
            elif isinstance(value, tuple):
                if value:
                    self._look_into(value, value)
            elif kind is dict:
                self._look_into(value, value.values())
            elif isinstance(value, Tensor):
                self.tensors.append(value)

    def _look_into(self, container: object, values: Iterable[object]) -> None:
        if id(container) not in self._seen:  # lists may share others many times
            self._seen.add(id(container))
            self._look(values)
