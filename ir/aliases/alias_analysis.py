"""How values come to share objects: the walk that the coarse and the fine analysis have in common.

Each value that can be changed is at *places*.  The walk does not look at order: it goes over the
graph until nothing new is found, and what is changed anywhere counts as changed everywhere.  What
a place is, what the outside knows, and what becomes of what is put into others is the policy's:
`aliases` is coarse and fast, `alias_db` fine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from functools import cache
from typing import ClassVar, Generic, TypeVar

from ...ops.table.table import TABLE
from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import (
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
    Type,
)
from ..graphs.graph import Block, Graph, Node, Value

__all__ = ["TAKEN_OUT", "AliasAnalysis", "is_mutable", "trained", "written_values"]

TAKEN_OUT = frozenset(
    {"prim::GetAttr", "prim::TupleIndex", "prim::TupleUnpack", "prim::ListUnpack"}
)
"""Nodes whose results were inside what they are given."""

_MUTABLE_SIMPLE = (TENSOR, ANY, ANY_LIST, ANY_TUPLE, ANY_CLASS)
_NEVER = frozenset(map(id, (INT, FLOAT, BOOL, STRING, NONE)))
"""The types that most values have which nothing can change."""


def is_mutable(type: Type) -> bool:
    """Whether a value of the type can be changed, or holds something that can."""
    if type == TENSOR:
        return True
    if id(type) in _NEVER:
        return False
    if type.is_mutable:
        return True
    return type in _MUTABLE_SIMPLE or any(map(is_mutable, type.contained))


def written_values(node: Node) -> list[Value]:
    """What a node itself changes, without the nodes in its blocks."""
    if node.kind == "prim::SetAttr":
        return [node.inputs[0]]
    if node.signature is None:
        return []
    inputs = node.inputs
    written = [inputs[place] for place in node.signature.written if place < len(inputs)]
    return [*written, *trained(node)]


def trained(node: Node) -> list[Value]:
    """The running mean and variance that a norm writes, unless a constant has it not train."""
    if node.kind not in TABLE.names_with("trains_by"):
        return []
    place = _place_of_training(node.kind)
    trains = node.inputs[place].node
    if trains.is_constant and not trains.value:
        return []
    return [value for value in node.inputs[place - 2 : place] if value.type is not NONE]


@cache
def _place_of_training(name: str) -> int:
    entry = TABLE.operators(name)[0]
    return [a.name for a in entry.signature.arguments].index(entry.trains_by)


P = TypeVar("P", bound=Hashable)


class AliasAnalysis(ABC, Generic[P]):
    """The places of a graph's values; `same` are the nodes that hand on what they are given."""

    same: ClassVar[frozenset[str]]
    in_order: ClassVar[bool] = False
    """Whether one walk tells all: nothing behind a node, but what a loop carries back, changes what
    is found of the values before it."""
    may_train: bool = True
    """Whether norms may be training."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._at: dict[Value, set[P]] = {}
        self._grew = True
        for value in graph.inputs:
            self._point(value, [self._outside(value.type)])
        while self._grew:
            self._grew = False
            self._block(graph.block)
            if self.in_order:
                break

    def places(self, value: Value) -> set[P]:
        """Where a value may be; empty for one that cannot be changed."""
        return self._at.get(value, set())

    # -- what the policies say

    @abstractmethod
    def _outside(self, type: Type) -> P:
        """The place of all that the outside knows of a type."""

    @abstractmethod
    def _place(self, value: Value) -> P:
        """A place for a new object."""

    @abstractmethod
    def _primitive(self, node: Node) -> None:
        """A node that is no operator, has no blocks, and does not hand on what it is given."""

    @abstractmethod
    def _call(self, node: Node) -> bool:
        """Whether a node is something of which more, or less, is known than its schema says."""

    @abstractmethod
    def _change(self, node: Node, value: Value) -> None:
        """An operator changes a value."""

    @abstractmethod
    def _keep(self, signature: Signature, values: list[Value]) -> None:
        """An operator keeps values somewhere."""

    @abstractmethod
    def _fresh(self, node: Node, output: Value) -> None:
        """A result that is a new object."""

    @abstractmethod
    def _view(self, node: Node, output: Value, sources: list[Value], name: str) -> None:
        """A result that is, views, or comes out of what the operator was given under a name."""

    # -- facts

    def _point(self, value: Value, places: Iterable[P]) -> bool:
        """Say that a value may be at some places, and whether that is news."""
        if not is_mutable(value.type):
            return False
        known = self._at.setdefault(value, set())
        before = len(known)
        known.update(places)
        grew = len(known) != before
        self._grew |= grew
        return grew

    def _new(self, value: Value) -> None:
        if is_mutable(value.type) and value not in self._at:
            self._point(value, [self._place(value)])

    def _flow(self, sources: Iterable[Value], targets: Iterable[Value]) -> bool:
        """Say that values may be others, and whether that is news."""
        grew = False
        for source, target in zip(sources, targets, strict=True):
            grew |= self._point(target, self.places(source))
        return grew

    # -- nodes

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            self._node(node)

    def _node(self, node: Node) -> None:
        if node.kind == "prim::If":
            for block in node.blocks:
                self._block(block)
                self._flow(block.outputs, node.outputs)
        elif node.kind == "prim::Loop":
            self._loop(node, node.blocks[0])
        elif node.kind in self.same:
            self._flow(node.inputs[:1], node.outputs)
        elif self._call(node):
            return
        elif node.signature is not None:
            self._operator(node, node.signature)
        else:
            self._primitive(node)

    def _loop(self, node: Node, body: Block) -> None:
        self._flow(node.inputs[2:], body.inputs[1:])
        self._flow(node.inputs[2:], node.outputs)
        again = True
        while again:
            self._block(body)
            again = self._flow(body.outputs[1:], body.inputs[1:]) and self.in_order
        self._flow(body.outputs[1:], node.outputs)

    def _operator(self, node: Node, signature: Signature) -> None:
        if not signature.shares and node.kind not in TABLE.names_with("trains_by"):
            for output, _ in zip(node.outputs, signature.returns, strict=False):
                self._fresh(node, output)
            return
        sets: dict[str, list[Value]] = {}
        for argument, value in zip(signature.arguments, node.inputs, strict=False):
            alias = argument.alias
            if alias is None:
                continue
            for name in (*alias.sets, *alias.after):
                sets.setdefault(name, []).append(value)
            if alias.is_write:
                self._change(node, value)
        if self.may_train:
            for value in trained(node):
                self._change(node, value)
        if "*" in sets:
            self._keep(signature, sets["*"])
        for output, result in zip(node.outputs, signature.returns, strict=False):
            names = () if result.alias is None else result.alias.sets
            if not names:
                self._fresh(node, output)
            for name in names:
                self._view(node, output, sets.get(name, []), name)
