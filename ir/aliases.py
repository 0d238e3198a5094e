"""Which values may be the same object, and what a node changes.

The analysis does not look at order.  Each node that makes a mutable value makes a *location*; a
value may be at several.  Everything the outside may know (inputs, what was put into a container or
an object, what comes out of one, what was handed to a call) counts as known to OUTSIDE: a change
of it always matters.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..frontend.made_once import made_once
from ..typecheck.types import (
    ANY,
    ANY_CLASS,
    ANY_LIST,
    ANY_TUPLE,
    BOOL,
    FLOAT,
    INT,
    NONE,
    STRING,
    TENSOR,
    ClassType,
    DictType,
    FutureType,
    InterfaceType,
    ListType,
    Type,
    VariableType,
)
from .graph import Block, Graph, Node, Value
from .kinds import KINDS

__all__ = ["Aliases", "is_mutable"]

OUTSIDE = 0
Locations = set[int]

_MUTABLE_SIMPLE = (TENSOR, ANY, ANY_LIST, ANY_TUPLE, ANY_CLASS)
_EXTRACTIONS = frozenset(
    {"prim::GetAttr", "prim::TupleIndex", "prim::TupleUnpack", "prim::ListUnpack"}
)
_SAME_OBJECT = frozenset({"prim::unchecked_cast", "aten::wait"})
_NEVER = frozenset(map(id, (INT, FLOAT, BOOL, STRING, NONE)))
"""The types that most values have which nothing can change."""


def is_mutable(type: Type) -> bool:
    """Whether a value of the type can be changed, or holds something that can."""
    if type is TENSOR:
        return True
    if id(type) in _NEVER:
        return False
    if isinstance(type, (ListType, DictType, ClassType, InterfaceType, FutureType, VariableType)):
        return True
    return type in _MUTABLE_SIMPLE or any(map(is_mutable, type.contained))


class Aliases:
    """The locations of a graph's values."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._at: dict[Value, Locations] = {}
        self._outside: Locations = {OUTSIDE}
        self._fresh: dict[Value, int] = {}
        self._changed = True
        for value in graph.inputs:
            self._put(value, {OUTSIDE})
        while self._changed:
            self._changed = False
            self._block(graph.block)

    # -- questions

    def locations(self, value: Value) -> Locations:
        """Where the value may be; empty for one that cannot be changed."""
        return self._at.get(value, set())

    def writes(self, node: Node) -> Locations:
        """What a node, or a node in its blocks, changes."""
        written: Locations = set()
        for value in _written(node):
            written |= self.locations(value)
        for block in node.blocks:
            for inner in block.nodes:
                written |= self.writes(inner)
        return written

    def writes_outside(self, node: Node) -> bool:
        """Whether the node changes something that the outside may know."""
        return not self._outside.isdisjoint(self.writes(node))

    def is_changed(self, value: Value) -> bool:
        """Whether any node changes the value, or the outside might."""
        here = self.locations(value)
        return not here.isdisjoint(self._outside | self._written)

    def has_writers(self, value: Value) -> bool:
        """Whether any node may change the value; what the outside knows is one with all else that
        it knows of that type."""
        here = self.locations(value)
        if not here.isdisjoint(self._written):
            return True
        return not here.isdisjoint(self._outside) and value.type in self._written_outside

    def escapes(self, value: Value) -> bool:
        """Whether the outside knows the value, or will when the graph has run."""
        here = self.locations(value)
        given = (self.locations(output) for output in self._graph.outputs)
        return not here.isdisjoint(self._outside.union(*given))

    @made_once
    def _written_outside(self) -> set[Type]:
        """The types of the values known to the outside that nodes change."""
        values = (value for node in self._graph.all_nodes for value in _written(node))
        return {value.type for value in values if OUTSIDE in self.locations(value)}

    @made_once
    def _written(self) -> Locations:
        return set().union(*(self.writes(node) for node in self._graph.nodes))

    # -- facts

    def _put(self, value: Value, where: Iterable[int]) -> None:
        if not is_mutable(value.type):
            return
        known = self._at.setdefault(value, set())
        before = len(known)
        known.update(where)
        self._changed |= len(known) != before

    def _new(self, value: Value) -> None:
        if is_mutable(value.type):
            self._put(value, {self._fresh.setdefault(value, len(self._fresh) + 1)})

    def _release(self, values: Iterable[Value]) -> None:
        """Let the outside know values."""
        for value in values:
            here = self.locations(value)
            if not here <= self._outside:
                self._outside |= here
                self._changed = True

    # -- nodes

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            self._node(node)

    def _node(self, node: Node) -> None:
        for inner in node.blocks:
            self._block(inner)
        kind = KINDS.get(node.kind)
        if node.kind == "prim::If":
            for block in node.blocks:
                self._flow(block.outputs, node.outputs)
        elif node.kind == "prim::Loop":
            body = node.blocks[0]
            for source in (node.inputs[2:], body.outputs[1:]):
                self._flow(source, body.inputs[1:])
                self._flow(source, node.outputs)
        elif node.kind in _SAME_OBJECT:
            self._flow(node.inputs[:1], node.outputs)
        elif node.signature is not None:
            self._operator(node)
        elif kind is None or kind.effect == "effect" or node.kind in _EXTRACTIONS:
            self._release(node.inputs if node.kind not in _EXTRACTIONS else ())
            for output in node.outputs:
                self._put(output, {OUTSIDE})
        elif node.kind == "prim::SetAttr":
            self._release(node.inputs[1:])
        else:
            self._release(node.inputs)
            for output in node.outputs:
                self._new(output)

    def _flow(self, sources: Iterable[Value], targets: Iterable[Value]) -> None:
        for source, target in zip(sources, targets, strict=True):
            self._put(target, self.locations(source))

    def _operator(self, node: Node) -> None:
        signature = node.signature
        if signature is None:
            return
        sets: dict[str, Locations] = {}
        for argument, value in zip(signature.arguments, node.inputs, strict=False):
            if argument.alias is None:
                continue
            if "*" in (*argument.alias.sets, *argument.alias.after):
                self._release((value,))
            for name in (*argument.alias.sets, *argument.alias.after):
                sets.setdefault(name, set()).update(self.locations(value))
        for output, result in zip(node.outputs, signature.returns, strict=False):
            if result.alias is None:
                self._new(output)
                continue
            for name in result.alias.sets:
                self._put(output, {OUTSIDE} if name == "*" else sets.get(name, {OUTSIDE}))


def _written(node: Node) -> list[Value]:
    if node.kind == "prim::SetAttr":
        return [node.inputs[0]]
    if node.signature is None:
        return []
    arguments = zip(node.signature.arguments, node.inputs, strict=False)
    return [value for a, value in arguments if a.alias is not None and a.alias.is_write]
