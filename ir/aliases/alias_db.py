"""Which values may share memory, and what is changed: what passes ask before they move or merge.

A mutable value points to *places*.  Making a tensor, list or object makes a place; a view points to
the place of what it views; a container's place has the places of its elements *inside*.  Inputs
point to the unknown place of their type, and so does what the outside knows besides: all that went
into an unknown place, into a call, into a task.  Order is not looked at: what is changed anywhere
counts as changed everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...frontend.foundations.made_once import made_once
from ...typecheck.definitions.schema import Signature
from ...typecheck.relations.relations import is_subtype
from ...typecheck.types.tensor_facts import without_facts
from ...typecheck.types.types import NONE, Type
from ..graphs.callee import callee
from ..graphs.clone import clone_graph
from ..graphs.graph import Graph, Node, Value
from ..graphs.kinds import KINDS, has_effects
from .alias_analysis import TAKEN_OUT, AliasAnalysis, is_mutable

__all__ = ["AliasDb", "Place"]

_READS_ONLY = frozenset({"prim::Print", "aten::warn", "aten::manual_seed"})
_DEEPEST = 8
_CALLS = frozenset({"prim::CallFunction", "prim::CallMethod"})


class Place:
    """Something mutable; `unknown` stands for all of a type that the outside knows."""

    __slots__ = ("inside", "type", "unknown")

    def __init__(self, type: Type, unknown: bool = False) -> None:
        self.type = type
        self.unknown = unknown
        self.inside: set[Place] = set()

    def __repr__(self) -> str:
        return f"WILDCARD for type {self.type}" if self.unknown else f"a new {self.type}"


class AliasDb(AliasAnalysis[Place]):
    """The places of a graph's values.

    With `descend` the bodies of the functions and methods that are called are looked into;
    otherwise a call may change all that it is given.  `known` gives the place of what a
    `prim::GetAttr` reads, where that is known beforehand.  With `heap` the outside knows what is
    put into containers, as torch has it where it freezes, but for what is returned in one and
    what one operator is given in a list; no norm trains there: what tells that becomes a constant
    only when freezing has found what is changed.
    """

    same = frozenset({"prim::unchecked_cast"})

    def __init__(
        self,
        graph: Graph,
        *,
        descend: bool = False,
        heap: bool = False,
        known: Callable[[Node], Place | None] = lambda node: None,
    ) -> None:
        self.descend = descend
        self.heap = heap
        self.may_train = not heap
        self.known = known
        self._unknown: dict[Type, Place] = {}
        self._released: set[Place] = set()
        self._written: dict[Node, set[Place]] = {}
        self._bodies: dict[Node, Graph] = {}
        self._depth = 0
        super().__init__(graph)

    # -- questions

    def places(self, value: Value) -> set[Place]:
        """Where a value may be; empty for one that cannot be changed."""
        places = self._at.get(value, set())
        known = {self._outside(p.type) for p in places & self._released}
        return places | known if known else places

    def may_contain_alias(self, some: Iterable[Value], others: Iterable[Value]) -> bool:
        """Whether something in some values may be the same memory as something in others."""
        return not self._reach(some).isdisjoint(self._reach(others))

    def has_writers(self, value: Value) -> bool:
        """Whether anything changes the value, or something in it."""
        return not self._reach([value]).isdisjoint(self._all_written)

    def node_has_writers(self, node: Node) -> bool:
        """Whether an input or output of a node is changed anywhere."""
        return any(map(self.has_writers, (*node.inputs, *node.outputs)))

    def writes(self, node: Node) -> set[Place]:
        """What a node, or one in its blocks, changes."""
        found = set(self._written.get(node, ()))
        for block in node.blocks:
            for inner in block.all_nodes:
                found |= self._written.get(inner, set())
        return found

    def escapes(self, value: Value) -> bool:
        """Whether the outside knows the value, or will when the graph has run."""
        reached = self._reach([value])
        return any(p.unknown for p in reached) or not reached.isdisjoint(self._given)

    def may_be_one(self, one: Value, other: Value) -> bool:
        """Whether two equal values may be made one object without anybody noticing."""
        if not (is_mutable(one.type) or is_mutable(other.type)):
            return True
        if self.has_writers(one) or self.has_writers(other):
            return False
        return not (self.escapes(one) and self.escapes(other))

    def reads(self, node: Node) -> set[Place]:
        """What a node, or one in its blocks, looks at."""
        nodes = [node, *(inner for block in node.blocks for inner in block.all_nodes)]
        return self._reach(value for each in nodes for value in each.inputs)

    def move(self, node: Node, other: Node, *, before: bool) -> bool:
        """Move a node next to another where that changes no result; says whether it could."""
        if node.owner is not other.owner or node.kind == "prim::Return":
            return False
        passed = list(_between(node, other))
        if passed and node.is_before(other) == before:
            passed.remove(other)
        if not all(self._may_swap(node, each) for each in passed):
            return False
        if before:
            node.move_before(other)
        else:
            node.move_after(other)
        return True

    def _may_swap(self, one: Node, other: Node) -> bool:
        """Whether two neighbours may change places."""
        for first, second in ((one, other), (other, one)):
            if any(value.node is first for value in _all_inputs(second)):
                return False
            if not self.writes(first).isdisjoint(self.reads(second) | self.writes(second)):
                return False
        return not (_acts(one) and _acts(other))

    def is_known_before(self, node: Node, place: Place, among: set[Value]) -> bool:
        """Whether a value that is there before a node, none of those given, reaches a place."""
        return any(
            value not in among and not node.is_before(value.node) and place in self._reach([value])
            for value in self._at
        )

    def is_written_before(self, node: Node, place: Place) -> bool:
        """Whether a node that is there before another changes what is at a place."""
        return any(
            place in written and other is not node and not node.is_before(other)
            for other, written in self._written.items()
        )

    def take_place_of(self, value: Value, node: Node) -> None:
        """A new value is to be what a node has made of its first input, which it changed; the node
        goes."""
        self._at[value] = set(self._at.get(node.inputs[0], ()))
        self._written.pop(node, None)
        for output in node.outputs:
            self._at.pop(output, None)

    def describe(self) -> str:
        """The graph, each value with its places, and each node that changes something."""
        seen = [(v, sorted(map(str, p))) for v, p in self._at.items() if p]
        changed = [(n, sorted(map(str, p))) for n, p in self._written.items() if p]
        return "\n".join(
            (
                "",
                *("===1. GRAPH===", str(self.graph), "===2. ALIAS DB==="),
                *(f"%{v.debug_name} points to: {', '.join(places)}" for v, places in seen),
                *("", "===3. Writes==="),
                *(f"{str(n).rstrip()}\n  {', '.join(places)}" for n, places in changed),
                "",
            )
        )

    def graphviz(self) -> str:
        """Values and places as a graphviz graph, below what `describe` says as a comment."""
        arrows = [
            f'  "\\%{value.debug_name}" -> "{place}"'
            for value, places in self._at.items()
            for place in sorted(places, key=str)
        ]
        style = ("  rankdir=LR", "  node [shape=rect, color=gray];", "  edge [color=black];")
        comment = f"/*\n{self.describe()}*/"
        return "\n".join([comment, "digraph alias_db {", *style, *arrows, "}", ""])

    @made_once
    def _all_written(self) -> set[Place]:
        return set().union(*self._written.values())

    @made_once
    def _given(self) -> set[Place]:
        return self._reach(self.graph.outputs)

    def is_written(self, place: Place) -> bool:
        """Whether anything changes what is at a place, or inside it."""
        return not self._closure([place]).isdisjoint(self._all_written)

    def _reach(self, values: Iterable[Value]) -> set[Place]:
        """The places of values and all places inside them."""
        return self._closure(place for value in values for place in self.places(value))

    def _closure(self, places: Iterable[Place]) -> set[Place]:
        found: set[Place] = set()
        pending = list(places)
        while pending:
            place = pending.pop()
            if place not in found:
                found.add(place)
                pending.extend(place.inside)
                if place in self._released:
                    pending.append(self._outside(place.type))
        return found

    # -- facts

    def _outside(self, type: Type) -> Place:
        """The unknown place of a type, those of its type arguments inside."""
        type = without_facts(type)
        place = self._unknown.get(type)
        if place is None:
            place = self._unknown[type] = Place(type, unknown=True)
            place.inside = {self._outside(part) for part in type.contained if is_mutable(part)}
        return place

    def _place(self, value: Value) -> Place:
        return Place(value.type)

    def _hold(self, containers: Iterable[Place], places: Iterable[Place]) -> None:
        """Put places inside containers; what an unknown container holds the outside knows."""
        places = set(places)
        for container in containers:
            if container.unknown:
                self._release(places)
            else:
                before = len(container.inside)
                container.inside |= places
                self._grew |= len(container.inside) != before

    def _release(self, places: Iterable[Place]) -> None:
        """Let the outside know places, and all that is inside them."""
        before = len(self._released)
        self._released |= {place for place in self._closure(places) if not place.unknown}
        self._grew |= len(self._released) != before

    def _write(self, node: Node, places: Iterable[Place]) -> None:
        known = self._written.setdefault(node, set())
        before = len(known)
        known.update(places)
        self._grew |= len(known) != before

    # -- nodes

    def _primitive(self, node: Node) -> None:
        kind = KINDS.get(node.kind)
        place = self.known(node) if node.kind == "prim::GetAttr" else None
        if place is not None:
            self._point(node.output, [place])
        elif node.kind in TAKEN_OUT:
            for output in node.outputs:
                self._take_out(self.places(node.inputs[0]), output)
        elif node.kind == "prim::SetAttr":
            self._hold(self.places(node.inputs[0]), self._reach(node.inputs[1:]))
            self._write(node, self.places(node.inputs[0]))
        elif kind is None or (kind.effect == "effect" and node.kind != "prim::RaiseException"):
            self._anything(node)
        else:
            for output in node.outputs:
                self._new(output)
                held = {place for value in node.inputs for place in self.places(value)}
                self._hold(self.places(output), held)
                if self.heap and is_mutable(output.type) and not self._passes_on(output):
                    self._release(held)

    def _passes_on(self, container: Value) -> bool:
        """Whether a container does nothing but hand on what is in it."""
        if len(container.uses) != 1:
            return False
        user = next(iter(container.uses)).user
        if user is self.graph.block.ret:
            return container.type.list_of is not None or container.type.tuple_of is not None
        signature = user.signature if container.type.list_of is not None else None
        return signature is not None and all(
            value.alias is None for value in (*signature.arguments, *signature.returns)
        )

    def _take_out(self, containers: Iterable[Place], output: Value) -> None:
        """A value that comes out of containers is something inside that has its type."""
        if not is_mutable(output.type):
            return
        inside = self._closure(p for container in containers for p in container.inside)
        found = {place for place in inside if _fits(place.type, output.type)}
        self._point(output, found)
        if found:
            return
        parts = [place for place in inside if _is_part(place.type, output.type)]
        if parts:
            self._new(output)
            self._hold(self.places(output), parts)
        else:
            self._point(output, [self._outside(output.type)])

    def _anything(self, node: Node) -> None:
        """A node of which nothing is known changes and keeps all that it is given."""
        for block in node.blocks:
            self._block(block)
        given = self._reach(node.inputs)
        self._release(given)
        self._write(node, given)
        for output in node.outputs:
            self._point(output, [self._outside(output.type)])

    def _call(self, node: Node) -> bool:
        """Look into what is called; an operator with effects changes and keeps anything."""
        if node.kind in _CALLS:
            self._enter(node)
        elif node.signature is not None and has_effects(node) and node.kind not in _READS_ONLY:
            self._anything(node)
        else:
            return False
        return True

    def _enter(self, node: Node) -> None:
        function = callee(node) if self.descend and self._depth < _DEEPEST else None
        if function is None or not isinstance(function.graph, Graph):
            self._anything(node)
            return
        if node not in self._bodies:
            self._bodies[node] = clone_graph(function.graph)
        body = self._bodies[node]
        given = node.inputs if node.kind == "prim::CallMethod" else node.inputs[1:]
        self._flow(given, body.inputs)
        self._depth += 1
        self._block(body.block)
        self._depth -= 1
        self._flow(body.outputs, node.outputs)

    def _keep(self, signature: Signature, values: list[Value]) -> None:
        if not any(a.alias and a.alias.is_write for a in signature.arguments):
            self._release(self._reach(values))

    def _change(self, node: Node, value: Value) -> None:
        """An operator changes a value; a container may then hold what else it was given."""
        self._write(node, self.places(value))
        if value.type.contained:
            others = [other for other in node.inputs if other is not value]
            reached = self._reach(others)
            parts = {place for place in reached if _is_part(place.type, value.type)}
            for place in self.places(value):
                self._hold([place], parts - {place})
            if self.heap:
                self._release(parts)
            inside = {p for place in self.places(value) for p in place.inside}
            if node.kind.startswith("aten::_foreach"):
                self._write(node, inside)

    def _fresh(self, node: Node, output: Value) -> None:
        """A new object; a new container holds parts of what it was made from."""
        self._new(output)
        if any(map(is_mutable, output.type.contained)):
            parts = {p for p in self._reach(node.inputs) if _is_part(p.type, output.type)}
            for place in self.places(output):
                self._hold([place], parts - {place})

    def _view(self, node: Node, output: Value, sources: list[Value], name: str) -> None:
        """A result that is, views, or comes out of what the operator was given."""
        if name == "*":
            self._take_out([_given_place(self._reach(node.inputs))], output)
            return
        for source in sources:
            if _fits(without_facts(source.type), output.type):
                self._point(output, self.places(source))
            else:  # a list of views
                self._new(output)
                self._hold(self.places(output), self.places(source))
        self._new(output)  # if it is of none of them


def _given_place(places: set[Place]) -> Place:
    """A container of all that an operator was given."""
    place = Place(NONE)
    place.inside = places
    return place


def _between(node: Node, other: Node) -> Iterator[Node]:
    """The nodes between two of one block, and the other."""
    first, last = (node, other) if node.is_before(other) else (other, node)
    each = first
    while each is not last:
        if each is not node:
            yield each
        each = each.next
    if last is not node:
        yield last


def _all_inputs(node: Node) -> Iterator[Value]:
    yield from node.inputs
    for block in node.blocks:
        yield from block.outputs
        for inner in block.nodes:
            yield from _all_inputs(inner)


def _acts(node: Node) -> bool:
    return has_effects(node) or any(has_effects(n) for b in node.blocks for n in b.all_nodes)


def _fits(type: Type, wanted: Type) -> bool:
    """Whether a value of one type may be one of the other."""
    return is_subtype(type, wanted) or is_subtype(wanted, type)


def _is_part(type: Type, container: Type) -> bool:
    return any(_fits(type, part) or _is_part(type, part) for part in container.contained)
