"""Expressions of Python's `ast` to the tree's.

Torch builds an expression's range from its parts: `Converter.span` takes where torch starts and
ends; what the text itself covers comes from `ast`.
"""

from __future__ import annotations

import ast
from types import EllipsisType

from ..diagnostics.diagnostics import Collector
from ..limits.clock import ARMED, checkpoint
from ..sources.source import Source, Span
from . import tree
from .positions import Located, Positions
from .torch_ranges import whole_end
from .unsupported import construct_of, describe

__all__ = ["BINARY", "ExpressionConverter"]

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.Invert: "~", ast.Not: "not"}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
RESERVED = "__jit"
LONGEST_ANNOTATION = 1 << 18
"""Characters of one type; pairs of pairs double at each level."""


class ExpressionConverter:
    """Makes tree expressions of `ast` expressions of one source.

    What TorchScript lacks goes to the collector and becomes a `Name` called `ERROR_NAME`.
    `is_text` says that the source is a text of its own, which torch reads with a parser of its
    own: places are more exact, and functions may hold functions.
    """

    is_text = False

    def __init__(self, positions: Positions, collector: Collector, where: str = "") -> None:
        self.positions = positions
        self.source: Source = positions.source
        self.collector = collector
        self.where = where

    # ------------------------------------------------------------------------------- places

    def span(
        self, node: Located, *, start: int | None = None, torch_end: int | None = None
    ) -> Span:
        """The span of a node; `start` and `torch_end` as torch sees them, if not as written."""
        written = self.positions.start(node)
        end = self.positions.end(node)
        begin = written if start is None else start
        return Span(self.source, begin, end, end if torch_end is None else torch_end, written)

    def torch_width(self, node: Located, width: int) -> Span:
        """`width` characters from the node's start: how torch marks most things."""
        start = self.positions.start(node)
        return Span(self.source, start, start + width)

    def refuse(
        self, key: str, node: Located, *, torch: Span | None = None, **details: str
    ) -> tree.Name:
        """Report an unsupported expression and return what stands for it."""
        construct = construct_of(key)
        span = self.span(node)
        if torch is None:
            torch = self.torch_width(node, construct.width) if construct.width else span
        self.collector.add(describe(construct, span, self.where, torch_span=torch, **details))
        return tree.Name(span, tree.ERROR_NAME)

    # ------------------------------------------------------------------------- dispatching

    def annotation(self, node: ast.expr) -> tree.Expr:
        """The tree of a type; one that is larger than any program's is refused unread."""
        start = self.positions.start(node)
        if self.positions.end(node) - start <= LONGEST_ANNOTATION:
            return self.expression(node)
        shown = Span(self.source, start, start + 1)
        construct = construct_of("large-annotation")
        most = f"{LONGEST_ANNOTATION:,}"
        self.collector.add(describe(construct, shown, self.where, torch_span=shown, most=most))
        return tree.Name(shown, tree.ERROR_NAME)

    def expression(self, node: ast.expr) -> tree.Expr:
        """The tree of any expression."""
        if ARMED:
            checkpoint()
        match node:
            case ast.Constant():
                return self.constant(node)
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.BinOp():
                return self.binary(node)
            case ast.UnaryOp():
                return self.unary(node)
            case ast.Compare():
                return self.compare(node)
            case ast.BoolOp():
                return self.boolean(node)
            case ast.IfExp():
                return self.conditional(node)
            case _:
                return self.display(node)

    def display(self, node: ast.expr) -> tree.Expr:
        """The tree of what builds a container or a string, or of what has no tree."""
        match node:
            case ast.Tuple():
                elements = self.expressions(node.elts)
                return tree.TupleDisplay(self.around(node, 1, elements), elements)
            case ast.List():
                elements = self.expressions(node.elts)
                return tree.ListDisplay(self.around(node, 1, elements), elements)
            case ast.Dict():
                return self.dict(node)
            case ast.ListComp() | ast.GeneratorExp():
                return self.list_comprehension(node)
            case ast.DictComp():
                return self.dict_comprehension(node)
            case ast.JoinedStr():
                return self.formatted(node)
            case ast.Starred():
                value = self.expression(node.value)
                return tree.Starred(self.around(node, 1, (value,)), value)
            case _:
                return self.refuse(type(node).__name__, node)

    def expressions(self, nodes: list[ast.expr]) -> tuple[tree.Expr, ...]:
        return tuple(self.expression(node) for node in nodes)

    def around(self, node: Located, width: int, parts: tuple[tree.Expr, ...]) -> Span:
        """The span of a node of which torch marks `width` characters and all its parts."""
        start = self.positions.start(node)
        starts = [start, *(part.span.start for part in parts)]
        ends = [start + width, *(whole_end(part) for part in parts)]
        return self.span(node, start=min(starts), torch_end=max(ends))

    def covering(self, node: Located, *parts: tree.Expr) -> Span:
        """The span of a node of which torch marks no more than its parts."""
        starts = [part.span.start for part in parts]
        ends = [whole_end(part) for part in parts]
        return self.span(node, start=min(starts), torch_end=max(ends))

    # ------------------------------------------------------------------------------- atoms

    def constant(self, node: ast.Constant) -> tree.Expr:
        value = node.value
        if isinstance(value, bytes):
            return self.refuse("bytes", node, torch=self.torch_width(node, len(str(value))))
        start = self.positions.start(node)
        if self.is_text:
            width = self.positions.end(node) - start
        elif isinstance(value, EllipsisType):
            width = 3
        elif isinstance(value, str):
            width = len(value) + 1
        else:
            width = _shown_length(value)
        return tree.Literal(self.span(node, torch_end=start + width), value)

    def name(self, node: ast.Name) -> tree.Expr:
        if node.id.startswith(RESERVED):
            return self.refuse("reserved", node)
        if node.id == "Ellipsis":  # a keyword of torch's language, another way to write `...`
            return tree.Literal(self.span(node), ...)
        return tree.Name(self.span(node), node.id)

    # -------------------------------------------------------------------- access and calls

    def attribute(self, node: ast.Attribute) -> tree.Expr:
        value = self.expression(node.value)
        end = self.positions.end(node)
        name_span = Span(self.source, max(end - len(node.attr), value.span.end), end)
        torch_end = end if self.is_text else self._counted_end(value, node.attr)
        span = self.span(node, start=value.span.start, torch_end=torch_end)
        return tree.Attribute(span, value, node.attr, name_span)

    def _counted_end(self, value: tree.Expr, name: str) -> int:
        """Where torch takes a member's name of Python code to end: it counts on from where it
        thinks the value does."""
        begin, text = whole_end(value) + 1, self.source.text
        while begin < len(text) and text[begin] in " \t\n\r\v\f":
            begin += 1
        return begin + len(name)

    def call(self, node: ast.Call) -> tree.Expr:
        function = self.expression(node.func)
        arguments = self.expressions(node.args)
        keywords = []
        for keyword in node.keywords:
            value = self.expression(keyword.value)
            if keyword.arg is None:
                span = Span(self.source, value.span.start, value.span.end, whole_end(value))
                self.refuse("double-star", keyword, torch=span)
            keywords.append(tree.Keyword(self.span(keyword), keyword.arg, value))
        span = self.span(node, start=function.span.start, torch_end=whole_end(function))
        return tree.Call(span, function, arguments, tuple(keywords))

    def subscript(self, node: ast.Subscript) -> tree.Expr:
        value = self.expression(node.value)
        start, end = value.span.start, whole_end(value)
        index = node.slice
        if isinstance(index, ast.Tuple) and index.elts:
            indices = tuple(self.index(part, start, end) for part in index.elts)
        elif isinstance(index, ast.Tuple):
            empty = self.span(index, torch_end=self.positions.start(index) + len("()"))
            indices = (tree.TupleDisplay(empty, ()),)
        else:
            indices = (self.index(index, start, end),)
        # Torch counts one more character, for the bracket, wherever that stands.
        torch_end = max([end, *(whole_end(i) for i in indices)]) + len("]")
        return tree.Subscript(self.span(node, start=start, torch_end=torch_end), value, indices)

    def index(self, node: ast.expr, start: int, end: int) -> tree.Expr:
        if isinstance(node, ast.Slice):
            return self.slice(node, start, end)
        return self.expression(node)

    def slice(self, node: ast.Slice, start: int, end: int) -> tree.Slice:
        """A slice, which torch places where the value that is sliced stands."""
        lower = self.expression(node.lower) if node.lower else None
        upper = self.expression(node.upper) if node.upper else None
        step = self.expression(node.step) if node.step else None
        if self.is_text and lower is None:  # where the colon has a place of its own
            start, end = self.positions.start(node), self.positions.start(node) + len(":")
        ends = [end, *(whole_end(part) for part in (lower, upper, step) if part)]
        return tree.Slice(self.span(node, start=start, torch_end=max(ends)), lower, upper, step)

    # --------------------------------------------------------------------------- operators

    def binary(self, node: ast.BinOp) -> tree.Expr:
        # A long chain `a + b + ...` leans to the left; going down it needs no recursion.
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        result = self.expression(chain[-1].left)
        for part in reversed(chain):
            right = self.expression(part.right)
            span = self.covering(part, result, right)
            result = tree.Binary(span, BINARY[type(part.op)], result, right)
        return result

    def unary(self, node: ast.UnaryOp) -> tree.Expr:
        operand = self.expression(node.operand)
        operator = UNARY.get(type(node.op))
        if operator is None:
            return self.refuse("UAdd", node)
        span = self.around(node, len(operator), (operand,))
        if self.is_text and operator == "-" and (number := _number(operand)) is not None:
            return tree.Literal(operand.span, -number)  # torch's parser reads one word
        return tree.Unary(span, operator, operand)

    def compare(self, node: ast.Compare) -> tree.Expr:
        left = self.expression(node.left)
        rights = self.expressions(node.comparators)
        span = self.covering(node, left, *rights)
        return tree.Compare(span, left, tuple(COMPARE[type(op)] for op in node.ops), rights)

    def boolean(self, node: ast.BoolOp) -> tree.Expr:
        values = self.expressions(node.values)
        operator = "and" if isinstance(node.op, ast.And) else "or"
        span = self.covering(node, *values)
        return tree.Boolean(span, operator, values)

    def conditional(self, node: ast.IfExp) -> tree.Expr:
        test = self.expression(node.test)
        body = self.expression(node.body)
        orelse = self.expression(node.orelse)
        span = self.covering(node, test, body, orelse)
        return tree.Conditional(span, test, body, orelse)

    # ---------------------------------------------------------------------------- displays

    def dict(self, node: ast.Dict) -> tree.Expr:
        if None in node.keys:
            first = node.keys[0] is None
            return self.refuse("dict-expansion" if first else "dict-expansion-later", node)
        keys = self.expressions([key for key in node.keys if key is not None])
        values = self.expressions(node.values)
        return tree.DictDisplay(self.around(node, 1, keys + values), keys, values)

    def list_comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> tree.Expr:
        refused = self.refuse_generators(node, node.generators)
        if refused is not None:
            return refused
        element = self.expression(node.elt)
        generator = self.generator(node.generators[0])
        span = self.around(node, 0, (element, generator.target, generator.iterable))
        return tree.ListComprehension(span, element, (generator,))

    def dict_comprehension(self, node: ast.DictComp) -> tree.Expr:
        refused = self.refuse_generators(node, node.generators)
        if refused is not None:
            return refused
        key = self.expression(node.key)
        value = self.expression(node.value)
        generator = self.generator(node.generators[0])
        span = self.around(node, 0, (key, value, generator.target, generator.iterable))
        return tree.DictComprehension(span, key, value, (generator,))

    def refuse_generators(
        self, node: ast.expr, generators: list[ast.comprehension]
    ) -> tree.Expr | None:
        """Report what no comprehension of TorchScript may have."""
        start = self.positions.start(node)
        nothing = Span(self.source, start, start)
        if len(generators) != 1:
            return self.refuse("generators", node, torch=nothing)
        if generators[0].is_async:
            return self.refuse("AsyncFor", node)
        if generators[0].ifs:
            self.refuse("conditions", generators[0].ifs[0], torch=nothing)
            return tree.Name(self.span(node), tree.ERROR_NAME)
        return None

    def generator(self, node: ast.comprehension) -> tree.Generator:
        target = self.expression(node.target)
        iterable = self.expression(node.iter)
        span = Span(self.source, target.span.start, iterable.span.end, whole_end(iterable))
        return tree.Generator(span, target, iterable, ())

    def formatted(self, node: ast.JoinedStr) -> tree.Expr:
        parts: list[tree.Expr] = []
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                parts.append(self.formatted_value(node, value))
            elif isinstance(value, ast.Constant):
                parts.append(tree.Literal(self.span(node), str(value.value)))
        span = self.span(node, torch_end=self.positions.start(node) + 1)
        return tree.FormattedString(span, tuple(parts))

    def formatted_value(self, whole: ast.JoinedStr, value: ast.FormattedValue) -> tree.Expr:
        if value.conversion != -1:
            return self.refuse("conversion", whole)  # where Python before 3.12 has its parts
        if value.format_spec is not None:
            return self.refuse("format", whole)
        return self.expression(value.value)


def _shown_length(value: object) -> int:
    """How many characters torch counts for a number: those of `str`, not those written."""
    try:
        return len(str(value))
    except ValueError:  # an integer too long for decimal digits
        return 1


def _number(node: tree.Expr) -> complex | None:
    """The value of a number that is written with digits."""
    value = node.value if isinstance(node, tree.Literal) else None
    return value if type(value) in (int, float, complex) else None  # type: ignore[return-value]
