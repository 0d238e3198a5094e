"""Which values may be the same object, and what a node changes: coarsely and fast.

Each node that makes a mutable value makes a *location*.  Everything the outside may know (inputs,
what was put into a container or an object, what comes out of one, what was handed to a call)
counts as known to OUTSIDE: a change of it always matters.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...frontend.foundations.made_once import made_once
from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import Type
from ..graphs.graph import Graph, Node, Value
from ..graphs.kinds import KINDS
from .alias_analysis import TAKEN_OUT, AliasAnalysis, written_values

__all__ = ["Aliases"]

OUTSIDE = 0
Locations = set[int]


class Aliases(AliasAnalysis[int]):
    """The locations of a graph's values."""

    in_order = True
    same = frozenset(
        {"prim::unchecked_cast", "aten::wait", "prim::awaitable_wait", "prim::awaitable_nowait"}
    )

    def __init__(self, graph: Graph) -> None:
        self._known: Locations = {OUTSIDE}
        self._constants: Locations = set()
        """What the next call has as this one leaves it: lists that stand as defaults, say."""
        self._made = OUTSIDE
        super().__init__(graph)

    # -- questions

    def writes(self, node: Node) -> Locations:
        """What a node, or a node in its blocks, changes."""
        written: Locations = set()
        for value in written_values(node):
            written |= self.places(value)
        for block in node.blocks:
            for inner in block.nodes:
                written |= self.writes(inner)
        return written

    def may_know(self, places: Locations) -> bool:
        """Whether the outside, or the next call, may know what is at one of some places."""
        return not places.isdisjoint(self._known | self._constants)

    def is_changed(self, value: Value) -> bool:
        """Whether any node changes the value, or the outside might."""
        return not self.places(value).isdisjoint(self._known | self._written)

    def has_writers(self, value: Value) -> bool:
        """Whether any node may change the value; what the outside knows is one with all else that
        it knows of that type."""
        here = self.places(value)
        if not here.isdisjoint(self._written):
            return True
        return not here.isdisjoint(self._known) and value.type in self._written_outside

    def escapes(self, value: Value) -> bool:
        """Whether the outside knows the value, or will when the graph has run."""
        given = (self.places(output) for output in self.graph.outputs)
        return not self.places(value).isdisjoint(self._known.union(*given))

    @made_once
    def _written_outside(self) -> set[Type]:
        """The types of the values known to the outside that nodes change."""
        values = (value for node in self.graph.all_nodes for value in written_values(node))
        return {value.type for value in values if OUTSIDE in self.places(value)}

    @made_once
    def _written(self) -> Locations:
        return set().union(*(self.writes(node) for node in self.graph.nodes))

    # -- the policy

    def _outside(self, type: Type) -> int:
        return OUTSIDE

    def _place(self, value: Value) -> int:
        self._made += 1
        return self._made

    def _release(self, values: Iterable[Value]) -> None:
        """Let the outside know values."""
        for value in values:
            here = self.places(value)
            if not here <= self._known:
                self._known |= here
                self._grew = True

    def _call(self, node: Node) -> bool:
        return False

    def _primitive(self, node: Node) -> None:
        for inner in node.blocks:
            self._block(inner)
        kind = KINDS.get(node.kind)
        if node.kind in TAKEN_OUT:
            for output in node.outputs:
                self._point(output, [OUTSIDE])
        elif kind is None or kind.effect == "effect":
            self._release(node.inputs)
            for output in node.outputs:
                self._point(output, [OUTSIDE])
        elif node.kind == "prim::SetAttr":
            self._release(node.inputs[1:])
        else:
            self._release(node.inputs)
            for output in node.outputs:
                self._new(output)
                if node.is_constant:
                    self._constants |= self.places(output)

    def _change(self, node: Node, value: Value) -> None:
        """What nodes change is asked of them later: see `writes`."""

    def _keep(self, signature: Signature, values: list[Value]) -> None:
        self._release(values)

    def _fresh(self, node: Node, output: Value) -> None:
        self._new(output)

    def _view(self, node: Node, output: Value, sources: list[Value], name: str) -> None:
        if name == "*" or not sources:
            self._point(output, [OUTSIDE])
        for source in sources if name != "*" else ():
            self._point(output, self.places(source))
