"""Calls of members that a number or name chooses while a program runs, as branches.

    %m : Step = prim::ModuleContainerIndex(%blocks, %key)
    %y : Tensor = prim::CallMethod[name="forward"](%m, %x)
                                |
                                v
    %places : Dict(str, int) = prim::DictConstruct("first", 0, "second", 1)
    %place : int = aten::__getitem__(%places, %key)
    %is_first : bool = aten::eq(%place, 0)
    %y : Tensor = prim::If(%is_first)
      block0():
        %first = prim::GetAttr[name="first"](%blocks)
        %1 : Tensor = prim::CallMethod[name="forward"](%first, %x)
        -> (%1)
      block1():
        ...

Which method each branch calls is known, so that it can be inlined.  A key that none has fails where
it is looked up.  Graphs that are only to run are made so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ...ops.table.table import TABLE
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import BOOL, INT, DictType, ListType, Type
from ..graphs.callee import callee
from ..graphs.constants import create_constant
from ..graphs.graph import Graph, Node, Value
from ..passes.context import PassContext
from .inline import inline_in_place
from .inlined_sizes import calls_for_running

__all__ = ["call_members"]

MOST: Final = 32
"""Members that are told from each other by comparing one after the other."""

_INDEX: Final = "prim::ModuleContainerIndex"
_ITEM: Final = "aten::__getitem__"
_SAME: Final = "aten::eq.int"


DEEPEST: Final = 3
"""Containers amid members of others whose members are told apart."""


def call_members(graph: Graph, name: str, context: PassContext) -> None:
    """Put branches in the places of calls of chosen members, and inline the calls in them that are
    worth it; `name` is that of the function whose calls were inlined before."""
    for _ in range(DEEPEST):
        calls = [call for each in graph.with_tasks for call in _branched(each)]
        if not calls:
            return
        called = {function for function in map(callee, calls) if function is not None}
        inline_in_place(graph, name, context, partial(calls_for_running, called=called))


def _branched(graph: Graph) -> list[Node]:
    """Put branches in the places of calls of members that are chosen; the calls in them."""
    chosen = [node for node in graph.all_nodes if node.kind == _INDEX]
    return [call for node in chosen for call in _taken_apart(node)]


def _taken_apart(chosen: Node) -> list[Node]:
    """The calls that take the places of those of one member."""
    container, key = chosen.inputs
    names = _names(container.type)
    if not 1 < len(names) <= MOST:
        return []
    calls = [use.user for use in chosen.output.uses if use.number == 0]
    made = list[Node]()
    place: Value | None = None
    for call in calls:
        if call.kind == "prim::CallMethod" and all(_fits(container, name, call) for name in names):
            place = _place(names, chosen, key) if place is None else place
            made += _Branches(container, names, place, call).made()
    if not chosen.output.uses:
        chosen.destroy()
    return made


def _names(type: Type) -> list[str]:
    """The names of a container's members."""
    if not isinstance(type, ClassType):
        return []
    return [each.name for each in type.attributes.values() if each.type.is_module]


def _fits(container: Value, name: str, call: Node) -> bool:
    """Whether a member is known to have the method, with as many arguments as are given."""
    member = container.type.slot_type(name)
    method = member.method(str(call.attributes["name"])) if isinstance(member, ClassType) else None
    return method is not None and len(method.signature.arguments) == len(call.inputs)


def _place(names: Sequence[str], chosen: Node, key: Value) -> Value:
    """The number of the member that a key means, which is looked up where it is chosen."""
    graph = chosen.graph

    def constant(value: object, type: Type) -> Value:
        return create_constant(graph, value, type).insert_before(chosen).output

    numbers = [constant(place, INT) for place in range(len(names))]
    of: Type
    if key.type == INT:
        kind, held, of, overload = "prim::ListConstruct", numbers, ListType(INT), "t"
    else:
        pairs = zip(names, numbers, strict=True)
        held = [each for name, number in pairs for each in (constant(name, key.type), number)]
        kind, of, overload = "prim::DictConstruct", DictType(key.type, INT), "Dict_str"
    places = graph.create(kind, held, (of,), chosen.span).insert_before(chosen).output
    found = _operator(graph, f"{_ITEM}.{overload}", (places, key), INT, chosen)
    return found.insert_before(chosen).output


def _operator(graph: Graph, name: str, inputs: Sequence[Value], type: Type, at: Node) -> Node:
    entry = TABLE.operator(name)
    assert entry is not None
    made = graph.create(entry.signature.name, inputs, (type,), at.span, entry.signature)
    made.call_stack, made.scope = at.call_stack, at.scope
    return made


class _Branches:
    """The branches for one call."""

    def __init__(self, container: Value, names: Sequence[str], place: Value, call: Node) -> None:
        self._container, self._names, self._place, self._call = container, names, place, call
        self._graph, self._calls = call.graph, list[Node]()

    def made(self) -> list[Node]:
        """Put them in the place of the call; the calls in them."""
        found = self._of(0, self._call)
        self._call.output.replace_uses(found)
        self._call.destroy()
        return self._calls

    def _of(self, number: int, at: Node) -> Value:
        """What the members from one of this number on give, put before a node."""
        if number == len(self._names) - 1:
            return self._called(self._names[number], at)
        graph, call = self._graph, self._call
        own = create_constant(graph, number, INT).insert_before(at).output
        test = _operator(graph, _SAME, (self._place, own), BOOL, call).insert_before(at)
        branch = graph.create("prim::If", (test.output,), (call.output.type,), call.span)
        branch.call_stack, branch.scope = call.call_stack, call.scope
        branch.insert_before(at)
        this, others = branch.add_block(), branch.add_block()
        this.add_output(self._called(self._names[number], this.ret))
        others.add_output(self._of(number + 1, others.ret))
        return branch.output

    def _called(self, name: str, at: Node) -> Value:
        """What one member gives."""
        graph, call = self._graph, self._call
        type = self._container.type.slot_type(name)
        assert type is not None
        member = graph.create("prim::GetAttr", (self._container,), (type,), call.span)
        member.attributes["name"] = name
        inputs = (member.output, *call.inputs[1:])
        made = graph.create(call.kind, inputs, (call.output.type,), call.span)
        made.attributes = dict(call.attributes)
        for each in (member, made):
            each.call_stack, each.scope = call.call_stack, call.scope
            each.insert_before(at)
        self._calls.append(made)
        return made.output
