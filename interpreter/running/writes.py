"""Which tensors that a graph is given it writes: who saved them for gradients is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...ir.graphs.constants import constant_value
from ...ir.graphs.graph import Graph, Value
from ...ops.memory.dtype import Array
from ...ops.memory.versions import written
from ...ops.table.table import Operator
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import TENSOR, Type
from ..code.code import Code
from ..values.objects import ScriptObject
from .conditions import UNKNOWN, Conditions, Told

__all__ = ["Written", "count_writes_of", "written_inputs"]

_LONGEST, _MOST = 4, 1000
"""Of a path, and of paths; what lies deeper counts as a whole."""
_NEAREST = 8
"""Branches around an operator whose conditions are asked: programs may nest thousands."""


class _Step(NamedTuple):
    """The number of an object's slot, or the key of an element."""

    is_slot: bool
    key: int | str


_Steps: TypeAlias = tuple[_Step, ...]


class Written(NamedTuple):
    """All tensors at the end of a path, from the argument of this number, if conditions are met as
    far as they are known."""

    argument: int
    steps: _Steps
    conditions: tuple[tuple[Told, bool], ...]

    @classmethod
    def of(cls, argument: int, steps: Sequence[tuple[bool, int | str]]) -> Written:
        """Those at the end of a path of such steps, on no condition."""
        return cls(argument, tuple([_Step(*each) for each in steps]), ())

    @property
    def is_argument(self) -> bool:
        """Whether it is an argument itself, or all tensors in it, whatever else there is."""
        return not self.steps and not self.conditions

    def slots_of(self, type: Type) -> list[int] | None:
        """The slots that lead from an argument of a type to a tensor that is always there; None
        where the path, or what is at its end, is another."""
        slots = list[int]()
        for is_slot, key in self.steps:
            if not (is_slot and isinstance(type, ClassType) and isinstance(key, int)):
                return None
            slots.append(key)
            type = list(type.attributes.values())[key].type
        return slots if type == TENSOR else None

    def is_met(self, values: Sequence[object]) -> bool:
        """Whether arguments meet the conditions, as far as that is known."""
        for told, wanted in self.conditions:
            value = told(values)
            if value is not UNKNOWN and bool(value) is not wanted:
                return False
        return True

    def found(self, values: Sequence[Any]) -> Iterator[Array]:
        """The tensors themselves; none where the path ends before, which is told when the program
        walks it."""
        value = values[self.argument]
        for is_slot, key in self.steps:
            if isinstance(value, ScriptObject) is not is_slot:
                return
            try:
                value = (value.slots if is_slot else value)[key]
            except (IndexError, KeyError, TypeError):
                return
        yield from _tensors_in(value)


def _tensors_in(value: object) -> Iterator[Array]:
    if isinstance(value, Tensor):
        yield value._array
    elif isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _tensors_in(each)


def count_writes_of(values: Sequence[object], places: Sequence[Written]) -> None:
    """Note that the tensors at some places are about to be written.

    Raises:
        RuntimeError: one was made in `inference_mode`, and this is outside.
    """
    for place in places:
        for array in place.found(values) if place.is_met(values) else ():
            written(array)


def written_inputs(graph: Graph, code: Code) -> tuple[Written, ...]:
    """What a graph may write of what it is given, by its code."""
    found, left = dict[_Found, None](), list(_written_values(graph, code))
    while left:
        each = left.pop()
        if each not in found:
            found[each] = None
            longest = _LONGEST if len(found) < _MOST else 0
            before = _before(code, each.value, each.steps)
            left += (_Found(value, steps[:longest], each.conditions) for value, steps in before)
    numbers = {value: number for number, value in enumerate(graph.inputs)}
    return tuple(
        Written(numbers[each.value], each.steps, each.conditions)
        for each in found
        if each.value in numbers and not (each.conditions and each._replace(conditions=()) in found)
    )


class _Found(NamedTuple):
    """All tensors at the end of a path from a value are written, if conditions are met."""

    value: Value
    steps: _Steps
    conditions: tuple[tuple[Told, bool], ...]


def _written_values(graph: Graph, code: Code) -> Iterator[_Found]:
    """The tensors, and lists whose tensors, operators write."""
    conditions = None
    for node, entry in code.called_by.items():
        if not entry.signature.is_mutable:
            continue
        for argument, value in zip(entry.signature.arguments, node.inputs, strict=False):
            is_written = argument.alias is not None and argument.alias.is_write
            if is_written and TENSOR in (argument.type, argument.type.list_of):
                conditions = conditions or Conditions(graph)
                yield _Found(value, (), tuple(islice(conditions.around(node), _NEAREST)))


def _before(code: Code, value: Value, steps: _Steps) -> Iterator[tuple[Value, _Steps]]:
    """Where what is at the end of a path was before: in other values, by their paths."""
    node = value.node
    place, entry = node.outputs.index(value), code.called_by.get(node)
    match node.kind:
        case "prim::If" | "prim::Loop" | "prim::Param":
            yield from ((each, steps) for each in _carried(value))
        case "prim::unchecked_cast" | "aten::_unwrap_optional":
            yield node.inputs[0], steps
        case "prim::GetAttr":
            owner = node.inputs[0].type
            if isinstance(owner, ClassType):
                slot = owner.slot(str(node.attributes["name"]))
                yield node.inputs[0], (_Step(True, slot), *steps)
        case "prim::TupleUnpack" | "prim::ListUnpack":
            yield node.inputs[0], (_Step(False, place), *steps)
        case "prim::TupleIndex" | "aten::__getitem__":
            key = constant_value(node.inputs[1])
            yield (
                node.inputs[0],
                (_Step(False, key), *steps) if isinstance(key, (int, str)) else (),
            )
        case "aten::items" | "aten::values":
            yield node.inputs[0], ()
        case "prim::TupleConstruct" | "prim::ListConstruct":
            yield from _parts(node.inputs, steps)
        case _ if entry is not None and _gives_memory(entry):
            yield node.inputs[0], ()  # a view, or several


def _gives_memory(entry: Operator) -> bool:
    """Whether what is written to a result counts as written to the first argument."""
    return entry.is_view or entry.is_in_place or (entry.cuts_off and not entry.counts_apart)


def _parts(values: Sequence[Value], steps: _Steps) -> Iterator[tuple[Value, _Steps]]:
    """The same of a tuple or list that is made of values."""
    key = steps[0].key if steps else None
    if isinstance(key, int):
        if -len(values) <= key < len(values):
            yield values[key], steps[1:]
    else:
        yield from ((value, ()) for value in values)


def _carried(value: Value) -> Iterator[Value]:
    """What a value is by the ways of a branch, or by the rounds of a loop."""
    node = value.node
    place = node.outputs.index(value)
    if node.kind == "prim::If":
        yield from (block.outputs[place] for block in node.blocks)
    elif node.kind == "prim::Loop":
        yield node.inputs[2 + place]
        yield node.blocks[0].outputs[1 + place]
    elif node.kind == "prim::Param":
        owner = None if node.owner is None else node.owner.node
        if owner is not None and owner.kind == "prim::Loop" and place > 0:
            yield owner.inputs[1 + place]
            yield owner.blocks[0].outputs[place]
