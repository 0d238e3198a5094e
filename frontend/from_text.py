"""Text that holds definitions to trees: the code files of archives, and strings of functions.

The code in an archive is Python by its grammar, so Python's parser reads it; nothing is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from . import tree
from .diagnostics import Collector, Diagnostic, Label
from .from_ast import Converter, converter_of, parse
from .python_ast import python_tree
from .source import Source, Span
from .type_comments import fold_first_comment

__all__ = ["expression_tree", "function_trees", "module_trees"]

MAXIMUM_LENGTH = 1 << 28
"""Characters of one text; more is refused unread."""


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
    return _definitions(Source(_unix(text), filename, origin=origin), collector)


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
            _report(source, collector, definition.span, "a class is not expected here")
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


def _definitions(
    source: Source, collector: Collector, *, are_methods: bool | None = None
) -> list[tree.Definition]:
    """All definitions; comments are read where `are_methods` says whose they are."""
    problem = _too_big(source.text)
    if problem is not None:
        _report(source, collector, Span(source, 0, 0), problem, "limit-exceeded")
        return []
    try:
        body = parse(source.text).body
    except SyntaxError as error:
        _report(source, collector, _place_of(error, source), f"this is not code: {error.msg}")
        return []
    converter = converter_of(source, collector)
    converter.local_functions = True
    result: list[tree.Definition] = []
    for node in body:
        try:
            definition = _definition(node, converter)
            if isinstance(definition, tree.Function) and are_methods is not None:
                assert isinstance(node, ast.FunctionDef)
                definition = fold_first_comment(definition, node, converter, is_method=are_methods)
        except RecursionError:
            span = converter.span(node)
            _report(source, collector, span, "the code is nested too deeply", "limit-exceeded")
            continue
        if definition is not None:
            result.append(definition)
    return result


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
    start = converter.positions.start(node)
    converter.where = f"in class `{node.name}`"
    bases = converter.expressions(node.bases)
    members = converter.members(node.body)
    methods = [
        converter.function(part, class_name=node.name)
        for part in node.body
        if isinstance(part, ast.FunctionDef)
    ]
    return tree.ClassDefinition(
        converter.span(node, torch_end=start + len("class")),
        node.name,
        bases,
        members,
        tuple(methods),
    )


# --------------------------------------------------------------------------------------- limits


def _too_big(text: str) -> str | None:
    """Why a text is not even given to the parser, or None."""
    if len(text) > MAXIMUM_LENGTH:
        return f"the text has {len(text)} characters, more than {MAXIMUM_LENGTH}"
    return None


def _place_of(error: SyntaxError, source: Source) -> Span:
    line = min(max((error.lineno or 1) - 1, 0), len(source.lines) - 1)
    column = min(max((error.offset or 1) - 1, 0), len(source.lines[line]))
    start = source.offset(line, column)
    end_of_line = source.offset(line, len(source.lines[line]))
    return Span(source, start, min(start + 1, end_of_line) if start < end_of_line else start)


def _report(
    source: Source,
    collector: Collector,
    span: Span,
    message: str,
    code: str = "unsupported-syntax",
) -> None:
    collector.add(
        Diagnostic(
            code=code,
            message=message,
            primary=Label(span, "here"),
            torch_message=message,
        )
    )
