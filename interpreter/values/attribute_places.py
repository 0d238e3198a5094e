"""Which attributes of live objects share memory."""

from __future__ import annotations

from bisect import bisect

import numpy as np

from ...ir.aliases.alias_db import Place
from ...ops.memory.dtype import STRIDED, Array
from ...ops.memory.storage import bounds_of, storage_of
from ...ops.tensors.tensor import Tensor
from ...typecheck.types.types import TENSOR, Type
from .matching import EXACT
from .objects import ScriptObject

__all__ = ["AttributePlaces"]


class AttributePlaces:
    """The places of values: the same for the same list, and for tensors that overlap."""

    def __init__(self) -> None:
        self._objects: dict[int, tuple[Place, object]] = {}
        self._starts: list[int] = []
        self._arrays: list[tuple[int, list[tuple[Array, Place]]]] = []

    def of(self, value: object, type: Type) -> Place | None:
        """The place of a value with the places of what it holds inside; None if it holds nothing
        that can be changed."""
        if isinstance(value, Tensor) and value.layout is STRIDED:
            value = value._array
        if isinstance(value, np.ndarray):
            return self._of_array(value)
        if isinstance(value, list | dict | ScriptObject | Tensor) or (
            isinstance(value, tuple) and type.contained
        ):
            known = self._objects.get(id(value))
            if known is None:
                place = Place(type)
                known = self._objects[id(value)] = (place, value)
                place.inside |= self._inside(value, type)
            return known[0]
        return None

    def _inside(self, value: object, type: Type) -> set[Place]:
        if type.contained and EXACT.keys() >= set(type.contained):
            return set()  # tables of numbers and texts may be long
        parts: list[tuple[object, Type]] = []
        if isinstance(value, ScriptObject):
            attributes = value.cls.attributes.values()
            parts = [(v, a.type) for v, a in zip(value.slots, attributes, strict=True)]
        elif isinstance(value, list) and (element := type.list_of) is not None:
            parts = [(v, element) for v in value]
        elif isinstance(value, dict) and len(type.contained) == 2:
            parts = [(v, type.contained[1]) for v in value.values()]
        elif isinstance(value, tuple):
            parts = list(zip(value, type.contained, strict=False))
        found = (self.of(part, part_type) for part, part_type in parts)
        return {place for place in found if place is not None}

    def _sharing(self, array: Array) -> list[tuple[Array, Place]]:
        """The arrays known so far whose storages overlap in memory with the array's: an archive may
        map one part of its file as several."""
        start, stop = bounds_of(storage_of(array)[0])
        at = bisect(self._starts, start)
        if at and self._arrays[at - 1][0] > start:
            at -= 1
        elif at == len(self._starts) or self._starts[at] >= stop:
            self._starts.insert(at, start)
            self._arrays.insert(at, (stop, []))
        end, others = self._arrays[at]
        self._starts[at] = min(self._starts[at], start)
        self._arrays[at] = max(end, stop), others
        return others

    def _of_array(self, array: Array) -> Place:
        """One place for all arrays over overlapping memory."""
        others = self._sharing(array)
        for other, place in others:
            if other is array or np.may_share_memory(other, array):
                others.append((array, place))
                return place
        place = Place(TENSOR)
        others.append((array, place))
        return place
