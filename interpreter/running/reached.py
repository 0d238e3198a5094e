"""The tensors that a call reaches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...ops.tensors.tensor import Parameter, Tensor
from ..values.objects import ScriptObject

__all__ = ["Reached"]

_PLAIN = frozenset((int, float, bool, complex, str, np.ndarray))
"""Types of elements that hold no tensors which Python knows."""


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
                self._look(holder.slots)

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
