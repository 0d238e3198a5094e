"""What conditions of branches will be, told before a graph runs from what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ...ir.graphs.constants import MISSING, constant_value
from ...ir.graphs.graph import Graph, Node, Value
from ...ops.table.record import Operator
from ...ops.table.table import TABLE
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import BOOL, FLOAT, INT
from ..values.objects import ScriptObject

__all__ = ["UNKNOWN", "Conditions", "Told"]

Told = Callable[[Sequence[Any]], object]
"""Gives, for the arguments of a call, what a value will be; `UNKNOWN` if that is not known."""

UNKNOWN: Final = object()

_OF_ANYTHING = frozenset({"aten::__is__", "aten::__isnot__", "aten::len"})
_CALLS = frozenset({"prim::CallMethod", "prim::CallFunction"})
_NUMBERS = BOOL, INT, FLOAT
_LARGEST = 40
"""Of what a condition is made of: it is found out anew in each call."""


class Conditions:
    """Those of a graph: made of constants, arguments, and attributes that nothing in it sets."""

    def __init__(self, graph: Graph) -> None:
        nodes = list(graph.all_nodes)
        self._calls = any(node.kind in _CALLS for node in nodes)
        self._set = {node.attributes["name"] for node in nodes if node.kind == "prim::SetAttr"}
        self._told = {value: _argument(number) for number, value in enumerate(graph.inputs)}
        self._sizes = dict.fromkeys(graph.inputs, 1)
        self._depth = 0

    def around(self, node: Node) -> Iterator[tuple[Told, bool]]:
        """The conditions of the branches that a node stands in, and what each has to be."""
        block = node.owner
        while block is not None and block.node is not None:
            if block.node.kind == "prim::If":
                told = self._of(block.node.inputs[0])
                if told is not _nothing:
                    yield told, block is block.node.blocks[0]
            block = block.node.owner

    def _of(self, value: Value) -> Told:
        found = self._told.get(value)
        if found is None:
            self._told[value], self._sizes[value] = _nothing, 1  # of values that need themselves
            self._depth += 1
            found = _nothing if self._depth > _LARGEST else self._made(value)
            self._depth -= 1
            size = 1 + sum(self._sizes.get(each, 0) for each in _needs(value))
            if size > _LARGEST:
                found, size = _nothing, 1
            self._told[value], self._sizes[value] = found, size
        return found

    def _made(self, value: Value) -> Told:
        node, constant = value.node, constant_value(value)
        if constant is not MISSING:
            return lambda given: constant
        if node.inputs and self._of(node.inputs[0]) is _nothing:
            return _nothing
        match node.kind:
            case "prim::unchecked_cast":
                return self._of(node.inputs[0])
            case "prim::GetAttr" if not self._calls and node.attributes["name"] not in self._set:
                return _attribute(self._of(node.inputs[0]), node)
            case "prim::If":
                condition, *ways = map(self._of, _needs(value))
                return lambda given: _one_of(condition(given), ways, given)
        if node.signature is None or not _is_of_numbers(node):
            return _nothing
        inputs = [self._of(each) for each in node.inputs]
        return _nothing if _nothing in inputs else _result(TABLE.of(node.signature), inputs)


def _needs(value: Value) -> Iterator[Value]:
    """The values that another is made of."""
    yield from value.node.inputs
    if value.node.kind == "prim::If":
        place = value.node.outputs.index(value)
        yield from (block.outputs[place] for block in value.node.blocks)


def _nothing(given: Sequence[object]) -> object:
    return UNKNOWN


def _argument(number: int) -> Told:
    return lambda given: given[number]


def _attribute(owner: Told, node: Node) -> Told:
    kind = node.inputs[0].type
    if not isinstance(kind, ClassType):
        return _nothing
    slot = kind.slot(str(node.attributes["name"]))

    def told(given: Sequence[object]) -> object:
        holder = owner(given)
        return holder.slots[slot] if isinstance(holder, ScriptObject) else UNKNOWN

    return told


def _one_of(condition: object, ways: Sequence[Told], given: Sequence[object]) -> object:
    return UNKNOWN if condition is UNKNOWN else ways[0 if condition else 1](given)


def _is_of_numbers(node: Node) -> bool:
    """Whether a node makes one number of numbers, or looks no further than at what kind or how long
    something is."""
    if len(node.outputs) != 1 or node.output.type not in _NUMBERS:
        return False
    return node.kind in _OF_ANYTHING or all(each.type in _NUMBERS for each in node.inputs)


def _result(entry: Operator, inputs: Sequence[Told]) -> Told:
    def told(given: Sequence[object]) -> object:
        values = [each(given) for each in inputs]
        if any(value is UNKNOWN for value in values):
            return UNKNOWN
        try:
            return entry.forward(*values)
        except (ArithmeticError, RuntimeError):  # which is told where the program does it
            return UNKNOWN

    return told
