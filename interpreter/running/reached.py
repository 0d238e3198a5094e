"""The tensors that a call reaches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...frontend.foundations.kept import KeptWith
from ...ops.tensors.tensor import Parameter, Tensor
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import BOOL, COMPLEX, DEVICE, FLOAT, INT, NONE, STRING, TENSOR, Type
from ..values.awaits import _Await
from ..values.histories import held_by
from ..values.objects import ScriptObject
from ..values.tasks import Future

__all__ = ["Reached"]

_PLAIN = frozenset((int, float, bool, complex, str, np.ndarray))
"""Types of elements that hold no tensors which Python knows."""


_WORDS = frozenset((INT, FLOAT, BOOL, COMPLEX, STRING, NONE, DEVICE))


class _Reaching(NamedTuple):
    """The slots of a class's objects, so many `slots` in all, that hold tensors, objects, and what
    may hold either: a vocabulary is long."""

    slots: int
    tensors: tuple[int, ...]
    objects: tuple[int, ...]
    others: tuple[int, ...]


_REACHING: KeptWith[ClassType, _Reaching] = KeptWith()


def _reaching_slots(cls: ClassType) -> _Reaching:
    """The slots that may hold tensors or objects."""
    found = _REACHING.get(cls)
    if found is None or found.slots != len(cls.attributes):
        types = list(enumerate(each.type for each in cls.attributes.values()))
        tensors = tuple(at for at, type in types if type == TENSOR)
        objects = tuple(at for at, type in types if type.is_class)
        known = {*tensors, *objects}
        others = (at for at, type in types if at not in known and not _is_plain(type))
        found = _REACHING[cls] = _Reaching(len(types), tensors, objects, tuple(others))
    return found


def _is_plain(type: Type) -> bool:
    """Whether values of a type hold nothing but numbers and the like."""
    inside = type.contained
    return all(map(_is_plain, inside)) if inside else type in _WORDS


class Reached:
    """The tensors among some values and in the objects among them, those objects, and those of them
    whose attributes may be containers of tensors."""

    def __init__(self, values: Iterable[object]) -> None:
        self.tensors: list[Tensor] = []
        self.holders: list[ScriptObject] = []
        self.with_containers: list[ScriptObject] = []
        self._seen: set[int] = set()
        self._look(values)
        seen: set[int] = set()
        for holder in self.holders:  # which grows while it is looked at
            if id(holder) not in seen:
                seen.add(id(holder))
                slots = holder.slots
                _, tensors, objects, others = _reaching_slots(holder.cls)
                for at in tensors:
                    value = slots[at]
                    if isinstance(value, Tensor):
                        self.tensors.append(value)
                for at in objects:
                    value = slots[at]
                    if isinstance(value, ScriptObject):
                        self.holders.append(value)
                if others:
                    self._look([slots[at] for at in others])
                    self.with_containers.append(holder)
                    if holder.histories:
                        self.tensors.extend(holder.histories.values())

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
                self._look_into(value, held_by(value))
            elif isinstance(value, Tensor):
                self.tensors.append(value)
            elif isinstance(value, Future):
                self._look_into(value, value.held)
            elif isinstance(value, _Await):
                self._look_into(value, value._held)

    def _look_into(self, container: object, values: Iterable[object]) -> None:
        if id(container) not in self._seen:  # lists may share others many times
            self._seen.add(id(container))
            self._look(values)
