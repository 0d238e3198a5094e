"""Graph text read back.

`str(parse_ir(text))` is the text again.  Tensors that are too large to be printed cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from ...frontend.limits.bounds import BoundExceeded
from ...frontend.limits.clock import checkpoint
from ...frontend.sources.source import UNKNOWN, Source, Span
from ...grammar import load
from ...typecheck.definitions.class_types import FunctionType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import OperatorTable, Signature
from ...typecheck.relations.relations import is_subtype
from ...typecheck.types.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    MOST_PARTS,
    NUMBER,
    TENSOR,
    DictType,
    ListType,
    Type,
)
from ..graphs.graph import Block, Graph, Node, Value
from ..graphs.kinds import KINDS
from .parse_literals import LiteralReader
from .parse_types import TypeReader

if TYPE_CHECKING:
    from lark import Token, Tree

__all__ = ["GraphSyntaxError", "parse_ir", "signature_of"]

_NUMBER = re.compile(r"[0-9]{1,9}")
_COMMENT = re.compile(r"# ([^#\n]+):(\d{1,9}):(\d{1,9})[ \t]*$")


class GraphSyntaxError(ValueError):
    """Text that is not a graph; `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"{message}, line {line}, column {column}")
        self.line = line
        self.column = column


def parse_ir(
    text: str,
    *,
    table: OperatorTable | None = None,
    types: Mapping[str, Type] | None = None,
    functions: Mapping[str, Function] | None = None,
    renumber: bool = False,
    placeholders: bool = False,
) -> Graph:
    """Read a graph.

    `table` gives operators their signatures, `types` the classes and enumerations by qualified
    name, `functions` the functions by the name that constants spell.  What is not given is made
    up: an empty class, a function without a body, no signature.  With `renumber` only inputs keep
    their names and all values get new numbers; with `placeholders` a tensor too large to be printed
    becomes one of zeros, in the form that its type tells.

    Raises:
        GraphSyntaxError: the text is not a graph, a value is used before it is defined or defined
            twice, or a constant cannot be read back.
    """
    tree = _tree(text)
    reader = _Reader(text, table, TypeReader(types or {}), functions or {})
    reader.renumber, reader.literals.placeholders = renumber, placeholders
    main, *tasks = tree.children
    for task in reversed(tasks):
        name, body = cast("Tree[Token]", task).children
        reader.tasks[str(name)] = reader.graph(cast("Tree[Token]", body))
    return reader.graph(cast("Tree[Token]", main))


MOST_WORDS: Final = 1 << 20
"""Words and signs of one text; each takes some ten microseconds."""


def _tree(text: str) -> Tree[Token]:
    """The syntax tree of a graph; what is too large is refused before it is read to its end."""
    from lark.exceptions import UnexpectedInput

    parser: Any = load("graph").parse_interactive(text)
    names = 0  # since the last value
    last: Token | None = None
    try:
        for count, token in enumerate(parser.lexer_thread.lex(parser.parser_state)):
            names = 0 if token.type == "VALUE" else names + (token.type == "NAME")
            if count > MOST_WORDS:
                raise _too_large(f"a graph has more than {MOST_WORDS} words and signs", token)
            if names > MOST_PARTS:
                raise _too_large(f"a type or constant has more than {MOST_PARTS} names", token)
            if not count & 255:
                checkpoint()
            last = token
            parser.feed_token(token)
        return cast("Tree[Token]", parser.feed_eof(last))
    except UnexpectedInput as error:
        line, column = max(error.line, 1), max(error.column, 1)
        raise GraphSyntaxError("unexpected text in graph", line, column) from None


def _too_large(message: str, token: Token) -> GraphSyntaxError:
    return GraphSyntaxError(message, token.line or 1, token.column or 1)


@contextmanager
def _at(token: Token, what: str = "") -> Iterator[None]:
    """What cannot be is told of a place in the text."""
    try:
        yield
    except RecursionError:
        message = "this is nested too deeply"
    except MemoryError:
        message = "this needs more memory than there is"
    except (ValueError, OverflowError, BoundExceeded) as error:
        message = f"{what}{error}"
    else:
        return
    raise GraphSyntaxError(message, token.line or 1, token.column or 1)


class _Reader:
    def __init__(
        self,
        text: str,
        table: OperatorTable | None,
        types: TypeReader,
        functions: Mapping[str, Function],
    ) -> None:
        self.lines = text.split("\n")
        self.table = table
        self.types = types
        self.literals = LiteralReader()
        self.renumber = False
        self.functions = dict(functions)
        self.tasks: dict[str, Graph] = {}
        self.values: dict[str, Value] = {}
        self.line, self.place = 0, UNKNOWN

    def graph(self, tree: Tree[Token]) -> Graph:
        graph = Graph()
        self.values = {}
        self.fill(graph.block, tree.children)
        if self.renumber:
            _keep_input_names(self.values)
        else:
            _keep_numbers(graph, self.values)
        return graph

    def fill(self, block: Block, children: Sequence[object]) -> None:
        waiting = [self.filled(block, children)]  # however deep blocks lie in each other
        while waiting:
            inner = next(waiting[-1], None)
            if inner is None:
                waiting.pop()
            else:
                waiting.append(self.filled(*inner))

    def filled(self, block: Block, children: Sequence[Any]) -> Iterator[tuple[Block, list[object]]]:
        """Fill a block; the blocks in it are given, to be filled before the next is asked for."""
        inputs, *nodes, outputs = children
        for declaration in inputs.children:
            name, *type = declaration.children
            self.define(name, block.add_input(self.type(name, type)))
        for tree in nodes:
            yield from self.node(tree, block)
        for token in outputs.children:
            block.add_output(self.find(token))

    def node(self, tree: Tree[Token], block: Block) -> Iterator[tuple[Block, list[Any]]]:
        outputs, kind, attributes, inputs, *blocks = cast("list[Any]", tree.children)
        node = Node(block.graph, str(kind), self.span(kind.line))
        for token in inputs.children:
            node.add_input(self.find(token))
        for declaration in outputs.children:
            name, *type = declaration.children
            self.define(name, node.add_output(self.type(name, type)))
        if node.is_constant and len(node.outputs) != 1:
            raise GraphSyntaxError("a constant has one output", kind.line, kind.column)
        block.append(node)
        task = self.tasks.get(node.kind)
        if task is not None:
            node.kind = node.kind.rpartition("_")[0]
            node.attributes["Subgraph"] = task
        for attribute in attributes.children:
            self.attribute(node, attribute)
        for inner in blocks:
            yield node.add_block(), inner.children[1:]
        if node.is_constant and isinstance(node.output.type, FunctionType):
            name = str(node.attributes.get("name", ""))
            if not name:
                raise GraphSyntaxError("a function has no name", kind.line, kind.column)
            function = self.functions.setdefault(name, Function(name))
            node.output.type = FunctionType(function)
        if self.table is not None and node.kind not in KINDS:
            node.signature = signature_of(node, self.table)

    def type(self, name: Token, written: Sequence[Any]) -> Type:
        """The type that is written of a value; a value without one is a tensor."""
        if not written:
            return TENSOR
        with _at(name, "this type cannot be: "):
            return self.types.read(written[0])

    def attribute(self, node: Node, tree: Tree[Token]) -> None:
        name, *rest = cast("list[Any]", tree.children)
        type = node.output.type if node.is_constant and name == "value" else None
        with _at(name):
            if tree.data == "types":
                node.attributes[str(name)] = [self.types.read(part) for part in rest]
            elif tree.data == "type":
                node.attributes[str(name)] = self.types.basic(rest[0])
            else:
                node.attributes[str(name)] = self.literals.read(rest[0], type)

    def define(self, token: Token, value: Value) -> None:
        name = token[1:]
        if name in self.values:
            raise GraphSyntaxError(f"%{name} is defined twice", token.line or 1, token.column or 1)
        self.values[name] = value

    def find(self, token: Token) -> Value:
        value = self.values.get(token[1:])
        if value is None:
            raise GraphSyntaxError(
                f"{token} is used before it is defined", token.line or 1, token.column or 1
            )
        return value

    def span(self, line: int) -> Span:
        if line != self.line:  # many nodes may stand on one line
            self.line, match = line, _COMMENT.search(self.lines[line - 1])
            place = None if match is None else (match[1], int(match[2]), int(match[3]))
            self.place = UNKNOWN if place is None else _place(*place)
        return self.place


_WIDEST = 4096
"""The last column of a place that is kept; generated text may be wider."""


@lru_cache(maxsize=4096)
def _place(filename: str, line: int, column: int) -> Span:
    """A span at a place whose text is not known."""
    if column > _WIDEST:
        return UNKNOWN
    return Span(Source(" " * (column + 1), filename, first_line=line), column, column + 1)


def _keep_numbers(graph: Graph, values: Mapping[str, Value]) -> None:
    """Give values the names and numbers of the text."""
    highest = max((int(name) for name in values if _NUMBER.fullmatch(name)), default=-1)
    for name, value in values.items():
        if _NUMBER.fullmatch(name):
            value.id = int(name)
        else:
            highest += 1
            value.id = highest
            value.name = name
    graph._last_id = highest


def _keep_input_names(values: Mapping[str, Value]) -> None:
    for name, value in values.items():
        if value.node.kind == "prim::Param" and not name.isdigit():
            value.name = name


# --------------------------------------------------------------------------------- signatures


def signature_of(node: Node, table: OperatorTable) -> Signature | None:
    """The first overload of the node's kind that takes its inputs and gives its outputs."""
    for signature in table.overloads(node.kind):
        if _matches(node, signature):
            return signature
    return None


def _matches(node: Node, signature: Signature) -> bool:
    arguments, inputs = signature.arguments, node.inputs
    if len(inputs) < len(arguments) or (len(inputs) > len(arguments) and not signature.vararg):
        return False
    if not signature.varret and len(signature.returns) != len(node.outputs):
        return False
    pairs = zip(inputs, arguments, strict=False)
    return all(_takes(argument.type, value.type) for value, argument in pairs)


def _takes(wanted: Type, type: Type) -> bool:
    if wanted.is_variable:
        return True
    if wanted == NUMBER and type in (INT, FLOAT, COMPLEX, BOOL):
        return True
    for constructor in (ListType, DictType):
        if isinstance(wanted, constructor) and isinstance(type, constructor):
            parts = zip(wanted.contained, type.contained, strict=True)
            return all(_takes(w, t) for w, t in parts)
    if wanted.optional_of is not None:
        return is_subtype(type, wanted) or _takes(wanted.optional_of, type.inner)
    return is_subtype(type, wanted)
