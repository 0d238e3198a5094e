"""Arithmetic of sizes that a trace has noted as tensors, as that of numbers.

    %2 : Tensor = prim::NumToTensor(%size)
    %3 : Tensor = aten::div(%2, %two, %trunc)     ->   %5 : int = aten::floordiv(%size, %2)
    %4 : int = aten::Int(%3)                           (users of %4 use %5)

Only of tensors that are whole numbers without dimensions, which nothing writes and nobody keeps.
Quotients are cut towards 0: they are those of numbers where neither is negative.  It is done to
graphs that run, not to those that are shown.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ...ops.table.table import TABLE
from ...typecheck.types.types import BOOL, INT
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Graph, Node, Use, Value

__all__ = ["sizes_as_numbers"]

_READ: Final = ("aten::Int", "aten::IntImplicit", "aten::ScalarImplicit")
_ASKED: Final = "aten::is_floating_point"
_SIZES: Final = ("aten::size", "aten::len")
_SUMS: Final = ("aten::add", "aten::sub")
_WAYS: Final = {"aten::div": 2, "aten::floor_divide": None}
"""Quotients, and which input says how they are rounded; down, where none does."""


class _Number(NamedTuple):
    """The number that a tensor is, and whether it is surely not negative."""

    value: Value
    is_positive: bool


def sizes_as_numbers(graph: Graph) -> bool:
    """Let numbers take the place of tensors that hold them; whether there were any."""
    found = _Found(graph)
    changed = False
    for node in graph.all_nodes:
        known = found.numbers.get(node.inputs[0]) if found.numbers and node.inputs else None
        if node.kind == "prim::NumToTensor" and node.input.type is INT:
            if _is_kept_to_itself(node.output):
                found.numbers[node.output] = _Number(node.input, _is_size(node.input))
        elif known is not None and node.kind in _READ and node.output.uses:
            node.output.replace_uses(known.value)
            changed = True
        elif known is not None and node.kind == _ASKED and node.output.uses:
            node.output.replace_uses(create_constant(graph, False, BOOL).insert_before(node).output)
            changed = True
        elif found.numbers and len(node.outputs) == 1 and _is_kept_to_itself(node.output):
            found.compute(node)
    found.drop_unread()
    return changed


class _Found:
    """The tensors that are numbers, and the nodes that were made to compute these."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.numbers: dict[Value, _Number] = {}
        self._made: list[Node] = []

    def compute(self, node: Node) -> None:
        """Note the number that a tensor computed of such numbers is, if it is one."""
        kind, both = node.kind.removesuffix("_"), node.inputs[:2]
        is_known = [value in self.numbers for value in both]
        if len(is_known) < 2 or not any(is_known) or (kind != node.kind and not is_known[0]):
            return
        left, right = (self._operand(value, node) for value in both)
        name = None if left is None or right is None else _operation(node, kind, left, right)
        entry = None if name is None else TABLE.operator(name)
        if left is None or right is None or entry is None:
            return
        inputs, signature = (left.value, right.value), entry.signature
        made = self._graph.create(signature.name, inputs, (INT,), node.span, signature)
        is_positive = left.is_positive and right.is_positive and kind != "aten::sub"
        self.numbers[node.output] = _Number(self._put(made, node), is_positive)

    def _operand(self, value: Value, node: Node) -> _Number | None:
        """The number that an operand is: of a tensor that is known, or a constant."""
        known = self.numbers.get(value)
        if known is not None:
            return known
        constant = constant_value(value)
        if isinstance(constant, np.ndarray) and not constant.ndim and constant.dtype == np.int64:
            constant = int(constant)
        if type(constant) is not int:
            return None
        return _Number(self._put(create_constant(self._graph, constant, INT), node), constant >= 0)

    def _put(self, made: Node, before: Node) -> Value:
        self._made.append(made.insert_before(before))
        return made.output

    def drop_unread(self) -> None:
        """Leave no node behind for a number that nobody reads."""
        for made in reversed(self._made):
            if not made.output.uses:
                made.destroy()


def _is_size(value: Value) -> bool:
    known = constant_value(value)
    return known >= 0 if type(known) is int else value.node.kind in _SIZES


def _is_kept_to_itself(value: Value) -> bool:
    """Whether a tensor is only read by operators, or written by the only one that has it."""
    return all(map(_only_reads, value.uses)) or (len(value.uses) == 1 and _is_written(*value.uses))


def _is_written(use: Use) -> bool:
    return use.user.kind.endswith("_") and not use.number


def _only_reads(use: Use) -> bool:
    signature = use.user.signature
    if signature is None or use.number >= len(signature.arguments):
        return False
    return signature.arguments[use.number].alias is None


def _operation(node: Node, kind: str, left: _Number, right: _Number) -> str | None:
    """What does to numbers what a node does to tensors."""
    if kind == "aten::mul":
        return "aten::mul.int"
    if kind in _SUMS:
        return f"{kind}.int" if constant_value(node.inputs[2]) == 1 else None
    divisor = constant_value(right.value)
    if kind not in _WAYS or type(divisor) is not int or divisor <= 0:
        return None
    place = _WAYS[kind]
    said = node.inputs[place:][:1] if place is not None else []
    way = "floor" if place is None else said and constant_value(said[0])
    is_same = way == "floor" or (way == "trunc" and left.is_positive)
    return "aten::floordiv.int" if is_same else None
