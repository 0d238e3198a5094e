"""Types for the values of decoded graphs.

Byte code names few types.  The rest follows from operators, constants, declared arguments and what
the attributes of the archive's objects hold: types are handed on through all functions, again and
again until none changes.  Nothing is guessed: what joins to no type is `Any`, and so is a value of
which nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from ...ir.graphs.constants import constant_value
from ...ir.graphs.graph import Block, Graph, Node, Value
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Signature
from ...typecheck.relations.relations import is_subtype, join, without_none
from ...typecheck.relations.variables import has_variables, match
from ...typecheck.types.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UNKNOWN,
    DictType,
    ListType,
    TupleType,
    Type,
)

__all__ = ["Inference", "bound_types", "class_of", "graph_in", "method_of", "with_any"]

_PRECISE: Final = 8
"""After so many rounds what still changes is `Any`, so that there is an end."""

_MOST_PARTS: Final = 1000
"""Types of more parts than these are `Any`: a tuple of a tuple of ... may double at each step."""


def graph_in(function: Function) -> Graph:
    """The graph of a decoded function."""
    assert isinstance(function.graph, Graph)
    return function.graph


def class_of(type: Type) -> ClassType | None:
    """The class of an object whose attributes are read, if the type says which."""
    type = type.inner
    return type if isinstance(type, ClassType) else None


def method_of(node: Node) -> Function | None:
    """The function that a `prim::CallMethod` calls, if it is known beforehand."""
    type = node.inputs[0].type
    return type.methods.get(str(node.attributes["name"])) if isinstance(type, ClassType) else None


def bound_types(signature: Signature, inputs: Sequence[Value]) -> dict[str, Type]:
    """What the variables of a schema stand for in a call."""
    bound: dict[str, Type] = {}
    for argument, value in zip(signature.arguments, inputs, strict=False):
        if _has_variables(argument.type):
            is_list = argument.type.is_collection  # which None is none of
            match(argument.type, without_none(value.type) if is_list else value.type, bound)
    return bound


def with_any(type: Type, bound: Mapping[str, Type]) -> Type:
    """A type of a schema with its variables replaced, by `Any` where they stand for nothing."""
    if type.variable is not None:
        return bound.get(type.variable, ANY)
    if not _has_variables(type):
        return type
    return type.with_contained(tuple(with_any(part, bound) for part in type.contained))


_has_variables = lru_cache(maxsize=4096)(has_variables)  # of types in schemas of operators


class Inference:
    """The types of some functions' values; `results` are those that the functions give back, as
    far as they are declared or found.

    `finds_attributes` says that the attributes of classes may turn out to hold more than they do
    now; otherwise they are what their classes say.
    """

    def __init__(
        self,
        functions: Sequence[Function],
        results: dict[Function, Type],
        finds_attributes: bool = True,
    ) -> None:
        self.functions = functions
        self.results = results
        self.declared = frozenset(results)
        self.finds_attributes = finds_attributes
        self.attributes: dict[ClassType, list[Type]] = {}
        self.changed = self.found = self.waits = False
        self.rounds = 0

    def run(self) -> None:
        """Find the types; those that nothing tells stay `UNKNOWN`."""
        while True:
            self.changed = self.found = self.waits = False
            for function in self.functions:
                self.function(function)
            self.rounds += 1
            if not self.changed and not (self.waits and self.found):
                break
        for cls, types in self.attributes.items():
            for attribute, type in zip(list(cls.attributes.values()), types, strict=True):
                cls.add_attribute(attribute.name, type, attribute.kind)

    def function(self, function: Function) -> None:
        graph = graph_in(function)
        self.block(graph.block)
        if function not in self.declared:
            before = self.results.get(function, UNKNOWN)
            self.results[function] = self.wider(before, graph.outputs[0].type)

    def block(self, block: Block) -> None:
        for node in block.nodes:
            if node.signature is not None:
                self.operator(node, node.signature)
            elif node.kind in _RULES:
                _RULES[node.kind](self, node)

    # -- what is known

    def wider(self, before: Type, type: Type) -> Type:
        """The type of what has been one and is the other as well."""
        if type is before or type is UNKNOWN:
            return before
        if before is UNKNOWN:
            self.found = True
            return type if _parts(type) <= _MOST_PARTS else ANY
        if before == type or is_subtype(type, before):
            return before
        self.changed = True
        joined = None if self.rounds >= _PRECISE else join(before, type)
        return ANY if joined is None or _parts(joined) > _MOST_PARTS else joined

    def give(self, value: Value, type: Type) -> None:
        if value.type is not type:
            value.type = self.wider(value.type, type)

    def known(self, value: Value) -> Type:
        """The type of an input; where it is not known yet another round may tell."""
        self.waits |= value.type is UNKNOWN
        return value.type

    def attributes_of(self, cls: ClassType) -> list[Type]:
        found = self.attributes.get(cls)
        if found is None:
            found = self.attributes[cls] = [a.type for a in cls.attributes.values()]
        return found

    # -- nodes

    def operator(self, node: Node, signature: Signature) -> None:
        if signature.name == "prim::tolist":
            self.give(node.output, _list_type(*map(constant_value, node.inputs[1:])))
            return
        if not any(_has_variables(returned.type) for returned in signature.returns):
            for output, returned in zip(node.outputs, signature.returns, strict=True):
                self.give(output, returned.type)
            return
        if any(self.known(value) is UNKNOWN for value in node.inputs):
            return
        bound = bound_types(signature, node.inputs)
        for output, returned in zip(node.outputs, signature.returns, strict=True):
            self.give(output, with_any(returned.type, bound))

    def branch(self, node: Node) -> None:
        for block in node.blocks:
            self.block(block)
            for output, value in zip(node.outputs, block.outputs, strict=True):
                self.give(output, self.known(value))

    def loop(self, node: Node) -> None:
        (body,) = node.blocks
        for inside, value in zip(body.inputs[1:], node.inputs[2:], strict=True):
            self.give(inside, self.known(value))
        self.block(body)
        for inside, value in zip(body.inputs[1:], body.outputs[1:], strict=True):
            self.give(inside, self.known(value))
        for output, inside in zip(node.outputs, body.inputs[1:], strict=True):
            self.give(output, inside.type)

    def get(self, node: Node) -> None:
        cls, slot = class_of(self.known(node.input)), node.attributes["name"]
        if node.input.type is UNKNOWN or not isinstance(slot, int):
            return
        types = [] if cls is None else self.attributes_of(cls)
        self.give(node.output, types[slot] if slot < len(types) else ANY)

    def set(self, node: Node) -> None:
        cls, slot = class_of(self.known(node.inputs[0])), node.attributes["name"]
        if cls is not None and self.finds_attributes and isinstance(slot, int):
            types = self.attributes_of(cls)
            if slot < len(types):
                types[slot] = self.wider(types[slot], self.known(node.inputs[1]))

    def call(self, node: Node) -> None:
        owner = self.known(node.inputs[0])
        function = method_of(node)
        if function is not None:
            result = self.results.get(function, UNKNOWN)
            self.waits |= result is UNKNOWN
            self.give(node.output, result)
        elif owner is not UNKNOWN:
            self.give(node.output, ANY)

    def meaning(self, node: Node) -> None:
        """A call of what an operator once meant."""
        function = getattr(node.inputs[0].type, "function", None)
        assert isinstance(function, Function)
        self.give(node.output, function.signature.returns[0].type)

    def list(self, node: Node) -> None:
        if node.output.type is UNKNOWN:
            self.give(node.output, ListType(self.joined(node.inputs)))

    def dict(self, node: Node) -> None:
        if node.output.type is UNKNOWN:
            keys, values = self.joined(node.inputs[::2]), self.joined(node.inputs[1::2])
            self.give(node.output, DictType(keys, values))

    @staticmethod
    def joined(values: Sequence[Value]) -> Type:
        """The type of elements that no text declares."""
        types = {value.type for value in values}
        return types.pop() if len(types) == 1 and UNKNOWN not in types else ANY

    def tuple(self, node: Node) -> None:
        types = [self.known(value) for value in node.inputs]
        if UNKNOWN not in types and (node.output.type is UNKNOWN or _is_plain(node.output.type)):
            self.give(node.output, TupleType(tuple(types)))

    def index(self, node: Node) -> None:
        whole, place = self.known(node.inputs[0]), constant_value(node.inputs[1])
        if whole.tuple_of is not None and isinstance(place, int):
            count = len(whole.tuple_of)
            self.give(node.output, whole.tuple_of[place] if -count <= place < count else ANY)
        elif whole is not UNKNOWN:
            self.give(node.output, ANY)

    def unpack(self, node: Node) -> None:
        whole = self.known(node.input)
        if whole.tuple_of is not None and len(whole.tuple_of) == len(node.outputs):
            for output, type in zip(node.outputs, whole.tuple_of, strict=True):
                self.give(output, type)
        elif whole is not UNKNOWN:
            for output in node.outputs:
                self.give(output, whole.list_of or ANY)

    def anything(self, node: Node) -> None:
        self.give(node.output, ANY)


def _is_plain(type: Type) -> bool:
    return type.tuple_name is None


def _parts(type: Type) -> int:
    return 1 + sum(map(_parts, type.contained))


_ELEMENTS: Final = (INT, FLOAT, BOOL, COMPLEX)


def _list_type(dimensions: object, element: object) -> Type:
    """The type that `tolist` gives, of its numbers for dimensions and the element's type."""
    if not isinstance(dimensions, int) or element not in range(len(_ELEMENTS)):
        return ANY
    type: Type = _ELEMENTS[element]  # type: ignore[call-overload]
    for _ in range(min(dimensions, _MOST_PARTS)):
        type = ListType(type)
    return type


_RULES: Final[Mapping[str, Callable[[Inference, Node], None]]] = {
    "prim::If": Inference.branch,
    "prim::Loop": Inference.loop,
    "prim::GetAttr": Inference.get,
    "prim::SetAttr": Inference.set,
    "prim::CallMethod": Inference.call,
    "prim::CallFunction": Inference.meaning,
    "prim::ListConstruct": Inference.list,
    "prim::DictConstruct": Inference.dict,
    "prim::TupleConstruct": Inference.tuple,
    "prim::TupleIndex": Inference.index,
    "prim::TupleUnpack": Inference.unpack,
    "prim::ListUnpack": Inference.unpack,
    "prim::EnumName": Inference.anything,
    "prim::EnumValue": Inference.anything,
}
