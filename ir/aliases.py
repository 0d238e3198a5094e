"""Which values may be the same object, and what a node changes.

The analysis does not look at order.  Each node that makes a mutable value makes a *location*; a
value may be at several.  What a location contains is tracked as well.  Everything the outside may
know (inputs, what was put into them or handed to calls) counts as the one location OUTSIDE.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..typecheck.types import (
    ANY,
    ANY_CLASS,
    ANY_LIST,
    ANY_TUPLE,
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
_SAME_OBJECT = frozenset({"prim::unchecked_cast", "aten::wait"})


def is_mutable(type: Type) -> bool:
    """Whether a value of the type can be changed, or holds something that can."""
    if isinstance(type, (ListType, DictType, ClassType, InterfaceType, FutureType, VariableType)):
        return True
    return type in _MUTABLE_SIMPLE or any(map(is_mutable, type.contained))


class Aliases:
    """The locations of a graph's values."""

    def __init__(self, graph: Graph) -> None:
        self._at: dict[Value, Locations] = {}
        self._contents: dict[int, Locations] = {OUTSIDE: {OUTSIDE}}
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

    # -- facts

    def _put(self, value: Value, where: Iterable[int]) -> None:
        if not is_mutable(value.type):
            return
        known = self._at.setdefault(value, set())
        before = len(known)
        known.update(where)
        self._changed |= len(known) != before

    def _new(self, value: Value) -> int:
        location = self._fresh.setdefault(value, len(self._fresh) + 1)
        self._put(value, {location})
        return location

    def _contain(self, containers: Iterable[int], elements: Iterable[int]) -> None:
        for container in containers:
            known = self._contents.setdefault(container, set())
            before = len(known)
            known.update(elements)
            self._changed |= len(known) != before
            if container in self._outside:
                self._release(elements)

    def _release(self, locations: Iterable[int]) -> None:
        """Let the outside know them and all they contain."""
        for location in list(locations):
            if location not in self._outside:
                self._outside.add(location)
                self._changed = True
                self._release(self._contents.get(location, ()))

    def _inside(self, containers: Iterable[int]) -> Locations:
        found: Locations = set()
        for container in containers:
            found |= self._contents.get(container, set())
        return found

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
        elif kind is not None and kind.effect == "effect":
            for value in node.inputs:
                self._release(self.locations(value))
            for output in node.outputs:
                self._put(output, {OUTSIDE})
        else:
            self._construction(node)

    def _flow(self, sources: Iterable[Value], targets: Iterable[Value]) -> None:
        for source, target in zip(sources, targets, strict=True):
            self._put(target, self.locations(source))

    def _construction(self, node: Node) -> None:
        match node.kind:
            case "prim::SetAttr":
                self._contain(self.locations(node.inputs[0]), self.locations(node.inputs[1]))
            case "prim::GetAttr" | "prim::TupleIndex" | "prim::TupleUnpack" | "prim::ListUnpack":
                for output in node.outputs:
                    self._put(output, self._inside(self.locations(node.inputs[0])))
            case _:
                for output in node.outputs:
                    if is_mutable(output.type):
                        location = self._new(output)
                        for value in node.inputs:
                            self._contain({location}, self.locations(value))

    def _operator(self, node: Node) -> None:
        signature = node.signature
        if signature is None:
            return
        sets: dict[str, Locations] = {}
        stored: Locations = set()
        containers: Locations = set()
        for argument, value in zip(signature.arguments, node.inputs, strict=False):
            if argument.alias is None:
                continue
            here = self.locations(value)
            for name in (*argument.alias.sets, *argument.alias.after):
                sets.setdefault(name, set()).update(here)
            if argument.alias.is_write:
                containers |= here
            elif "*" in argument.alias.after:
                stored |= here
        self._contain(containers, stored)
        for index, output in enumerate(node.outputs):
            result = signature.returns[index if len(signature.returns) > index else -1]
            if not is_mutable(output.type):
                continue
            alias = result.alias
            if alias is None:
                self._made(node, output)
            elif "*" in alias.sets:
                self._extracted(node, output)
            else:
                for name in alias.sets:
                    self._put(output, sets.get(name, {OUTSIDE}))

    def _made(self, node: Node, output: Value) -> None:
        """A new object; a new container may hold anything that went in."""
        location = self._new(output)
        if not any(map(is_mutable, output.type.contained)):
            return
        for value in node.inputs:
            here = self.locations(value)
            self._contain({location}, here | self._inside(here))

    def _extracted(self, node: Node, output: Value) -> None:
        """Something that was in one of the inputs, or a new container of such things."""
        self._made(node, output)
        for value in node.inputs:
            self._put(output, self._inside(self.locations(value)))


def _written(node: Node) -> list[Value]:
    if node.kind == "prim::SetAttr":
        return [node.inputs[0]]
    if node.signature is None:
        return []
    arguments = zip(node.signature.arguments, node.inputs, strict=False)
    return [value for a, value in arguments if a.alias is not None and a.alias.is_write]
