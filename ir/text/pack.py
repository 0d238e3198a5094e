"""A graph as data that can be written to a file, and back: lists, strings and numbers.

Sources, types and functions of the program are told by name.  A graph that holds anything else
that is not plain (tensors, tasks) is not packed.  The copy has the
values' numbers and names; it is a graph to run, not one to go on writing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...frontend.sources.source import UNKNOWN, Span
from ...frontend.syntax.deep_stack import goes_deep
from ...ops.memory.dtype import Device
from ...ops.table.table import TABLE
from ...typecheck.definitions.class_types import FunctionType
from ...typecheck.definitions.functions import Program
from ...typecheck.definitions.schema import NO_DEFAULT, Argument, Signature
from ...typecheck.types.types import (
    SIMPLE_TYPES,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    SimpleType,
    TupleType,
    Type,
    UnionType,
)
from ..graphs.graph import Block, CallSite, Graph, Node, Value
from ..graphs.kinds import KINDS

__all__ = ["Data", "NotPacked", "Packing", "Unpacking", "packed", "unpacked"]

Data = list[Any]

_PLAIN: Final = (type(None), bool, int, str)


class NotPacked(Exception):
    """A graph that holds what has no name."""


def packed(graph: Graph, names: Program) -> Data:
    """A graph of a function of a program.

    Raises:
        NotPacked: it holds what cannot be told by names.
    """
    packing = Packing(names)
    return [packing.block(graph.block), packing.tables]


def unpacked(data: Data, names: Program) -> Graph:
    """What `packed` was given.

    Raises:
        LookupError, TypeError, ValueError: this is not what it gave, or something is not there.
    """
    block, tables = data
    unpacking = Unpacking(tables, names)
    graph = Graph()
    unpacking.fill(graph.block, block)
    return graph


class _Table:
    """Things that are told once, and by their numbers then."""

    def __init__(self, tell: Callable[[Any], Data]) -> None:
        self.told: list[Data] = []
        self._tell = tell
        self._numbers: dict[object, int] = {}

    def number(self, key: object, what: object) -> int:
        number = self._numbers.get(key)
        if number is None:
            told = self._tell(what)  # which may tell others first
            number = self._numbers[key] = len(self.told)
            self.told.append(told)
        return number


class Packing:
    """The packing of what belongs to one program; `tables` are what it tells by numbers."""

    def __init__(self, names: Program) -> None:
        self._names = names
        self._values: dict[Value, int] = {}
        self._types = _Table(self._type)
        self._spans = _Table(self._span)
        self._sites = _Table(self._site)
        self._operators = _Table(self._operator)
        self._constants = _Table(self._constant)
        told = (self._types, self._spans, self._sites, self._operators, self._constants)
        self.tables = [each.told for each in told]

    @goes_deep
    def block(self, block: Block) -> Data:
        """A block with all that lies in it."""
        inputs = [self._new(value) for value in block.inputs]
        nodes = [self._node(node) for node in block.nodes]
        return [inputs, nodes, [self._values[value] for value in block.outputs]]

    def _node(self, node: Node) -> Data:
        inputs = [self._values[value] for value in node.inputs]
        about: Data = [node.kind, self._place(node.span), inputs]
        about.append(-1 if node.signature is None else self._operator_number(node.signature))
        about.append([self._sites.number(site, site) for site in node.call_stack])
        about.append(node.scope)
        about.append({name: self.value(value) for name, value in node.attributes.items()})
        blocks = [self.block(block) for block in node.blocks]
        return [*about, [self._new(value) for value in node.outputs], blocks]

    def _new(self, value: Value) -> Data:
        self._values[value] = len(self._values)
        return [self.type(value.type), value.id, value.name]

    def _operator_number(self, signature: Signature) -> int:
        return self._operators.number(signature.full_name, signature)

    def _operator(self, signature: Signature) -> Data:
        name = signature.full_name
        if name in KINDS:  # that archive code writes as an operator
            return self.signature(signature)
        entry = TABLE.operator(name) if name.partition("::")[0] in _OURS else None
        if entry is None or entry.signature is not signature:
            raise NotPacked(f"the operator {name}")
        return [name]

    def value(self, value: object) -> object:
        """Of an attribute, or a default."""
        if value.__class__ in _PLAIN:
            return value
        if isinstance(value, Type):
            return ["type", self.type(value)]
        return ["constant", self._constants.number(id(value), value)]

    def _constant(self, value: object) -> Data:
        if value.__class__ is float:
            return ["float", value]
        if value.__class__ in (list, tuple):
            assert isinstance(value, list | tuple)
            return [value.__class__.__name__, *map(self.value, value)]
        if isinstance(value, Device):
            return ["device", str(value)]
        raise NotPacked(f"a {value.__class__.__name__}")

    def _place(self, span: Span) -> int:
        return self._spans.number((id(span.source), span.start, span.end, span.written), span)

    def _span(self, span: Span) -> Data:
        source = span.source
        if source is UNKNOWN.source:
            return [None]
        if source.filename is None or self._names.source_named(source.filename) is not source:
            raise NotPacked("a place outside of the program")
        return [source.filename, span.start, span.end, span.torch_end, span.written]

    def _site(self, site: CallSite) -> Data:
        span = self._place(site.span)
        return [site.function, span, site.module, site.callee, site.is_method]

    def type(self, type: Type) -> int:
        """The number of a type."""
        return self._types.number(id(type), type)

    def _type(self, type: Type) -> Data:
        if isinstance(type, SimpleType):
            if SIMPLE_TYPES.get(type.text) is type:
                return ["simple", type.text]
        elif type.is_declared or (isinstance(type, TupleType) and type.name is not None):
            name = type.annotation_str
            if self._names.type_named(name) is type:
                return ["named", name]
        elif isinstance(type, FunctionType):
            name = type.function.qualified_name
            if self._names.function_named(name) is type.function:
                return ["function", name]
        elif isinstance(type, TupleType | UnionType):
            return [_WORDS[type.__class__], [self.type(each) for each in type.contained]]
        elif isinstance(type, FutureType):
            return ["future", self.type(type.element), type.kind]
        elif isinstance(type, DictType):
            return ["dict", self.type(type.key), self.type(type.value)]
        elif isinstance(type, ListType | OptionalType):
            return [_WORDS[type.__class__], self.type(type.element)]
        raise NotPacked(f"the type {type}")

    def signature(self, signature: Signature) -> Data:
        """That of a function, whose arguments have no more to them than programs write."""
        arguments = [self._argument(each) for each in signature.arguments]
        results = [self._argument(each) for each in signature.returns]
        return [signature.name, signature.overload, arguments, results]

    def _argument(self, argument: Argument) -> Data:
        has_default, default = argument.has_default, None
        if has_default:
            default = self.value(argument.default)
        if argument.size is not None or argument.alias is not None or argument.word:
            raise NotPacked(f"the argument {argument.name}")
        type = self.type(argument.type)
        return [argument.name, type, argument.keyword_only, has_default, default]


_WORDS: Final[dict[type[Type], str]] = {
    ListType: "list",
    OptionalType: "optional",
    TupleType: "tuple",
    UnionType: "union",
}


_OURS: Final = ("aten", "prim", "quantized")
"""Namespaces whose operators are the same in each process."""


class Unpacking:
    """The reading of what was packed, by its tables."""

    def __init__(self, tables: Sequence[Sequence[Data]], names: Program) -> None:
        types, spans, sites, operators, constants = tables
        self._names = names
        self._values: list[Value] = []
        self.types: list[Type] = []
        for each in types:
            self.types.append(self._type(*each))
        self._spans = [self._span(*each) for each in spans]
        self._sites = [CallSite(name, self._spans[span], *callee) for name, span, *callee in sites]
        self._constants: list[object] = []
        for each in constants:
            self._constants.append(self._constant(*each))
        self._signatures = [
            self.signature(each) if len(each) > 1 else _signature_of(*each) for each in operators
        ]

    def fill(self, block: Block, data: Data) -> None:
        """Put what is told of a block into an empty one."""
        inputs, nodes, outputs = data
        for told in inputs:
            self._new(block.param, told)
        for told in nodes:
            self._node(block, *told)
        for number in outputs:
            block.add_output(self._values[number])

    def _node(
        self,
        block: Block,
        kind: str,
        span: int,
        inputs: list[int],
        operator: int,
        sites: list[int],
        scope: str,
        attributes: dict[str, object],
        outputs: list[Data],
        blocks: list[Data],
    ) -> None:
        signature = None if operator < 0 else self._signatures[operator]
        calls = tuple([self._sites[site] for site in sites])
        node = Node(block.graph, kind, self._spans[span], signature, calls)
        node.scope = scope
        for name, value in attributes.items():
            node.attributes[name] = self.value(value)
        for number in inputs:
            node.add_input(self._values[number])
        for told in blocks:
            self.fill(node.add_block(), told)
        for told in outputs:
            self._new(node, told)
        block.append(node)

    def _new(self, node: Node, told: Data) -> None:
        type, number, name = told
        value = node.add_output(self.types[type], name)
        value.id = number
        self._values.append(value)

    def value(self, told: object) -> object:
        """What `Packing.value` told."""
        if not isinstance(told, list):
            return told
        word, number = told
        return self.types[number] if word == "type" else self._constants[number]

    def _constant(self, word: str, *parts: Any) -> object:
        if word == "float":
            return float(parts[0])
        if word == "device":
            return Device(parts[0])
        made = list(map(self.value, parts))
        return tuple(made) if word == "tuple" else made

    def _span(self, filename: str | None, *places: int) -> Span:
        if filename is None:
            return UNKNOWN
        source = self._names.source_named(filename)
        if source is None:
            raise LookupError(filename)
        return Span(source, *places)

    def _type(self, word: str, *parts: Any) -> Type:
        if word == "simple":
            return SIMPLE_TYPES[parts[0]]
        if word == "named":
            found = self._names.type_named(parts[0])
            if found is None:
                raise LookupError(parts[0])
            return found
        if word == "function":
            function = self._names.function_named(parts[0])
            if function is None:
                raise LookupError(parts[0])
            return FunctionType(function)
        if word in ("tuple", "union"):
            members = tuple([self.types[each] for each in parts[0]])
            return TupleType(members) if word == "tuple" else UnionType(members)
        if word == "future":
            return FutureType(self.types[parts[0]], parts[1])
        if word == "dict":
            return DictType(self.types[parts[0]], self.types[parts[1]])
        element = self.types[parts[0]]
        return ListType(element) if word == "list" else OptionalType(element)

    def signature(self, data: Data) -> Signature:
        """What `Packing.signature` told."""
        name, overload, arguments, results = data
        inward = tuple([self._argument(*each) for each in arguments])
        return Signature(name, overload, inward, tuple([self._argument(*each) for each in results]))

    def _argument(
        self, name: str, type: int, is_keyword: bool, has_default: bool, told: object
    ) -> Argument:
        default = self.value(told) if has_default else NO_DEFAULT
        return Argument(name, self.types[type], default, is_keyword)


def _signature_of(full_name: str) -> Signature:
    entry = TABLE.operator(full_name)
    if entry is None:
        raise LookupError(full_name)
    return entry.signature
