"""Text that holds definitions to trees: the code files of archives, and strings of functions.

The code in an archive is Python by its grammar, so Python's parser reads it; nothing is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from ..diagnostics.diagnostics import Collector, Diagnostic, Label
from ..foundations.value_class import value_class
from ..limits.clock import OutOfTime
from ..sources.source import Source, Span
from . import tree
from .deep_stack import deeply
from .from_ast import Converter, converter_of, parse
from .python_ast import has_words, python_tree
from .type_comments import fold_first_comment

__all__ = [
    "Outline",
    "expression_tree",
    "function_trees",
    "module_of_methods",
    "module_outlines",
    "module_trees",
]

_N = TypeVar("_N", bound=ast.stmt)
_T = TypeVar("_T")

MAXIMUM_LENGTH = 1 << 24
"""Characters of one text; more is refused unread."""

MAXIMUM_WORDS = 1 << 21
"""Words and signs of one text: Python's own tree takes up to a kilobyte for each."""


def module_trees(
    text: str,
    filename: str | None,
    collector: Collector,
    origin: Callable[[int], Span | None] | None = None,
) -> list[tree.Definition]:
    """The classes and functions of a code file, in order; for `origin` see `Source`.

    `import` lines and assignments at the top (`op_version_set = 1`) say nothing and are skipped;
    any other statement there is reported.
    """
    outlines = module_outlines(text, filename, collector, origin)
    whole = (outline.whole() for outline in outlines)
    return [definition for definition in whole if definition is not None]


@value_class(frozen=True, slots=True)
class Outline:
    """A class or function of a code file; functions become trees when they are asked for.

    What is wrong with a function is reported each time it is read.
    """

    node: ast.ClassDef | ast.FunctionDef
    converter: Converter

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.name

    @property
    def is_class(self) -> bool:
        """Whether it is a class; if not, it is a function."""
        return isinstance(self.node, ast.ClassDef)

    def whole(self) -> tree.Definition | None:
        """The whole tree; None, after a report, if it is nested too deeply."""
        return _guarded(self.node, self.converter, _definition)

    def head(self) -> tree.ClassDefinition | None:
        """The tree of a class without its methods; None, after a report, as above."""
        assert isinstance(self.node, ast.ClassDef)
        return _guarded(self.node, self.converter, _head)

    def methods(self) -> dict[str, Callable[[], tree.Function | None]]:
        """What reads each method of a class, by name."""
        return {
            part.name: partial(self.method, part)
            for part in self.node.body
            if isinstance(part, ast.FunctionDef)
        }

    def method(self, node: ast.FunctionDef) -> tree.Function | None:
        """The tree of a method; None, after a report, if it is nested too deeply."""
        read = partial(Converter.function, class_name=self.name)
        return _guarded(node, self.converter, lambda n, converter: read(converter, n))


def module_outlines(
    text: str,
    filename: str | None,
    collector: Collector,
    origin: Callable[[int], Span | None] | None = None,
) -> list[Outline]:
    """The outlines of what `module_trees` gives."""
    nodes, converter = _parsed(Source(_unix(text), filename, origin=origin), collector)
    found = []
    for node in nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.append(Outline(node, converter))
        else:
            _guarded(node, converter, _definition)
    return found


def module_of_methods(
    name: str,
    text: str,
    filename: str,
    collector: Collector,
    origin: Callable[[int], Span | None] | None = None,
) -> Outline:
    """The outline of a class whose methods are the functions of a code file."""
    nodes, converter = _parsed(Source(_unix(text), filename, origin=origin), collector)
    methods: list[ast.stmt] = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    if not methods:  # perhaps the text is no code, so that no place in it can be told
        converter = converter_of(Source("", filename), collector)
    place = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
    node = ast.ClassDef(name, [], [], methods, [], **place)
    return Outline(node, converter)


def function_trees(
    text: str, collector: Collector, filename: str | None = None, *, are_methods: bool = False
) -> list[tree.Function]:
    """The functions in a string, in order; anything else in it is reported.

    A comment `# type: (A) -> B` that opens a body holds the types; methods leave `self` out of it.
    """
    source = Source(_unix(text), filename)
    functions = []
    for definition in _definitions(source, collector, are_methods=are_methods):
        if isinstance(definition, tree.Function):
            functions.append(definition)
        else:
            _report(collector, definition.span, "a class is not expected here")
    return functions


def expression_tree(literal: tree.Literal, collector: Collector) -> tree.Expr | None:
    """The expression written in a string, as in the annotation `"List[int]"`.

    Its spans lie inside the string where its characters stand there one by one, else they are
    the string's own.  None, after a report, if the string holds no expression.
    """
    text, span = str(literal.value), literal.span
    at = span.source.text.find(text, span.written, span.end)
    plain = at >= 0 and "\n" not in text
    source = span.source if plain else Source(text, span.filename, span.line)
    converter = converter_of(source, collector)
    if plain:
        index = source.line_index(at)
        column = at - source.line_starts[index]
        converter = Converter(converter.positions.within(index, column), collector)
    try:
        return converter.expression(python_tree(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        collector.add(
            Diagnostic(
                code="unknown-type",
                message=f'`"{text}"` is not an expression',
                primary=Label(span, "cannot be read"),
                torch_message=f"Unknown type name '{text}'",
            )
        )
        return None


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _parsed(source: Source, collector: Collector) -> tuple[list[ast.stmt], Converter]:
    """The statements of a text, none after a report, and what converts them."""
    converter = converter_of(source, collector)
    converter.is_text = True
    problem = _too_big(source.text)
    if problem is not None:
        _report(collector, Span(source, 0, 0), problem, "limit-exceeded")
        return [], converter
    try:
        return parse(source.text).body, converter
    except SyntaxError as error:
        said = f"this is not code: {error.msg.partition('; use ')[0]}"  # no cure of Python's
        place = _place_of(error, source)
        _report(collector, place, said, torch=_torch_fault(error.msg, source, place))
        return [], converter


_FAULTS: Final = (
    ("illegal expression for augmented", " augmented assignment can only have one LHS expression"),
    ("cannot assign to", "unexpected expression on left-hand side of assignment"),
    (
        "for integer string conversion",
        "Integral constant out of range (must fit in a signed 64 bit integer)",
    ),
)
"""What torch's own parser says where Python's says something with these words."""


def _torch_fault(said: str, source: Source, place: Span) -> str:
    """What torch's own parser says where Python's `said` this of a place; empty if unknown."""
    line = source.lines[source.text.count("\n", 0, place.start)]
    before = source.text[: place.start].rpartition("\n")[2].strip()
    if "cannot assign to" in said and before.endswith("*"):
        return "Cannot pack a tuple into a non-variable"
    if "cannot assign to" in said and ("," in line.partition("=")[0]) and "[" not in before[:1]:
        return "lhs of assignment must be a variable, subscript, or starred expression"
    if said.startswith("unterminated"):
        return f"expected a valid token but found '{place.text}' here"
    if "forgot a comma" in said:
        return f"expected {_closing(source.text[: place.start])} but found 'ident' here"
    return next((text for words, text in _FAULTS if words in said), "")


def _closing(text: str) -> str:
    """What closes the bracket that is open at the end of a text; `newline` where none is."""
    pairs, depth = {"(": ")", "[": "]", "{": ":"}, 0
    for letter in reversed(text):
        if letter in ")]}":
            depth += 1
        elif letter in pairs:
            if not depth:
                return pairs[letter]
            depth -= 1
    return "newline"


def _definitions(
    source: Source, collector: Collector, *, are_methods: bool
) -> list[tree.Definition]:
    """All definitions; comments are read where `are_methods` says whose they are."""

    def definition(node: ast.stmt, converter: Converter) -> tree.Definition | None:
        made = _definition(node, converter)
        if isinstance(made, tree.Function):
            assert isinstance(node, ast.FunctionDef)
            folded = fold_first_comment(made, node, converter, is_method=are_methods)
            return replace(folded, types_are_text=True)
        return made

    nodes, converter = _parsed(source, collector)
    found = (_guarded(node, converter, definition) for node in nodes)
    return [made for made in found if made is not None]


def _guarded(node: _N, converter: Converter, make: Callable[[_N, Converter], _T]) -> _T | None:
    """What is made of a node; None, after a report, if it is too deep or takes too long."""
    try:
        return deeply(lambda: make(node, converter), converter.collector.forgetting())
    except (RecursionError, OutOfTime) as error:
        span = converter.span(node if converter.at is None else converter.at)
        what = str(error) if isinstance(error, OutOfTime) else "the code is nested too deeply"
        _report(converter.collector, span, what, "limit-exceeded")
        return None
    finally:
        converter.at = None


def _definition(node: ast.stmt, converter: Converter) -> tree.Definition | None:
    match node:
        case ast.FunctionDef():
            return converter.function(node)
        case ast.ClassDef():
            return _class(node, converter)
        case ast.Import() | ast.ImportFrom() | ast.Assign() | ast.Pass():
            return None
        case ast.Expr(value=ast.Constant()):
            return None
        case _:
            converter.where = ""
            converter.drop(type(node).__name__, node)
            return None


def _class(node: ast.ClassDef, converter: Converter) -> tree.ClassDefinition:
    """A class of an archive, its members and methods in the order they are written."""
    head = _head(node, converter)
    methods = [
        converter.function(part, class_name=node.name)
        for part in node.body
        if isinstance(part, ast.FunctionDef)
    ]
    return replace(head, methods=tuple(methods))


def _head(node: ast.ClassDef, converter: Converter) -> tree.ClassDefinition:
    """A class without its methods."""
    start = converter.positions.start(node)
    converter.where = f"in class `{node.name}`"
    return tree.ClassDefinition(
        converter.span(node, torch_end=start + len("class")),
        node.name,
        converter.expressions(node.bases),
        converter.members(node.body),
        (),
    )


# --------------------------------------------------------------------------------------- limits


def _too_big(text: str) -> str | None:
    """Why a text is not even given to the parser, or None."""
    if len(text) > MAXIMUM_LENGTH:
        return f"the text has {len(text)} characters, more than {MAXIMUM_LENGTH}"
    if has_words(text, MAXIMUM_WORDS):
        return f"the text has more than {MAXIMUM_WORDS} words and signs"
    return None


def _place_of(error: SyntaxError, source: Source) -> Span:
    line = min(max((error.lineno or 1) - 1, 0), len(source.lines) - 1)
    column = min(max((error.offset or 1) - 1, 0), len(source.lines[line]))
    start = source.offset(line, column)
    end_of_line = source.offset(line, len(source.lines[line]))
    return Span(source, start, min(start + 1, end_of_line) if start < end_of_line else start)


def _report(
    collector: Collector,
    span: Span,
    message: str,
    code: str = "unsupported-syntax",
    torch: str = "",
) -> None:
    collector.add(
        Diagnostic(
            code=code,
            message=message,
            primary=Label(span, "here"),
            torch_message=torch or message,
        )
    )
