"""`# type: (A, B) -> C`: signatures in comments.

As in torch, every line of a function that holds `# type:` counts, wherever it stands, except
`# type: ignore` with whatever codes.  One such line must be the whole signature; with several, one
must read `# type: (...) -> C` and the lines before it give one parameter each.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable
from dataclasses import replace

from ..diagnostics.diagnostics import Diagnostic, Label
from ..foundations.value_class import value_class
from ..sources.source import Source, Span
from . import tree
from .from_ast import Converter
from .positions import Positions
from .python_ast import python_tree

__all__ = ["BadComment", "fold_first_comment", "fold_signature_comment", "signature_texts"]

MARK = "# type:"
IGNORED = re.compile(r"# type:\ ignore(\[[^\]]*\])?[ \t]*(#.*)?$")
"""What type checkers are told; torch takes no more than one word in brackets, and nothing after."""
MISSPELT = re.compile(r"#[\t ]*type[\t ]*(?!: ignore(\[.*\])?[ \t]*(#.*)?$):")
PEP_484 = (
    "https://www.python.org/dev/peps/pep-0484/#suggested-syntax-for-python-2-7-and-straddling-code"
)


@value_class(frozen=True, slots=True)
class Piece:
    """The text of a type and where it stands: a line of the source and a column in it."""

    line: int
    column: int
    text: str


class BadComment(Exception):
    """A type comment that cannot be used: torch's text and the piece of it."""

    def __init__(self, torch_text: str, message: str, piece: Piece) -> None:
        super().__init__(message)
        self.torch_text = torch_text
        self.message = message
        self.piece = piece


def fold_signature_comment(
    function: tree.Function, source: Source, converter: Converter, *, is_method: bool
) -> tree.Function:
    """The function with the types of its signature comment, if it has one, as annotations."""
    return _fold(function, lambda: _find(source), source, converter, is_method)


def fold_first_comment(
    function: tree.Function, node: ast.FunctionDef, converter: Converter, *, is_method: bool
) -> tree.Function:
    """The same for a function of a longer text, where torch's own parser reads the comment.

    That one counts only where it stands between the function's head and its first statement.
    """
    source = converter.positions.source
    head = source.lines[node.lineno : node.body[0].lineno - 1]
    for i, line in enumerate(head, node.lineno):
        if line.lstrip().startswith(MARK) and not IGNORED.search(line):
            pieces = [_whole(i, line)]
            return _fold(function, pieces.copy, source, converter, is_method)
    return function


def _fold(
    function: tree.Function,
    find: Callable[[], list[Piece] | None],
    source: Source,
    converter: Converter,
    is_method: bool,
) -> tree.Function:
    try:
        pieces = find()
        if pieces is None:
            return function
        types, returns = _parse(pieces, source, converter)
    except BadComment as error:
        piece = error.piece
        start = source.offset(piece.line, piece.column)
        converter.collector.add(
            Diagnostic(
                code="unknown-type",
                message=error.message,
                primary=Label(Span(source, start, start + len(piece.text)), "not a signature"),
                where=converter.where,
                torch_text=error.torch_text,
            )
        )
        return function
    parameters = function.parameters[1:] if is_method else function.parameters
    if len(types) != len(parameters):
        _report_count(function, len(types), len(parameters), converter, is_method)
        return function
    typed = [
        replace(parameter, annotation=annotation)
        for parameter, annotation in zip(parameters, types, strict=True)
    ]
    kept = function.parameters[: len(function.parameters) - len(parameters)]
    return replace(function, parameters=(*kept, *typed), returns=returns, types_are_text=True)


def _find(source: Source) -> list[Piece] | None:
    """The pieces of the comment: either one whole signature, or the parameters and the result."""
    numbered = list(enumerate(source.lines))
    lines = [(i, line) for i, line in numbered if MARK in line and not IGNORED.search(line)]
    if not lines:
        _refuse_misspelt(numbered)
        return None
    if len(lines) == 1:
        return [_whole(*lines[0])]
    parameters: list[Piece] = []
    for i, line in lines:
        if "# type: (...) -> " in line:
            column = line.index("-> ") + 3
            return [*parameters, Piece(i, column, line[column:])]
        column = line.index(MARK) + len(MARK)
        column += len(line[column:]) - len(line[column:].lstrip())
        parameters.append(Piece(i, column, line[column:].strip()))
    raise BadComment(
        "Return type line '# type: (...) -> ...' not found on multiline type annotation\n"
        "for type lines:\n" + "\n".join(line for _, line in lines) + f"\n(See PEP 484 {PEP_484})",
        "several `# type:` comments need one `# type: (...) -> T` after them",
        parameters[-1],
    )


def _refuse_misspelt(numbered: list[tuple[int, str]]) -> None:
    for i, line in numbered:
        found = MISSPELT.search(line)
        if found:
            raise BadComment(
                f"The annotation prefix in line {i} is probably invalid.\n"
                f"It must be '# type:'\nSee PEP 484 ({PEP_484})\nfor examples",
                "a type comment begins with `# type:`",
                Piece(i, found.start(), found.group()),
            )


def _whole(line_index: int, line: str) -> Piece:
    """A signature on a line of its own."""
    start = len(line) - len(line.lstrip())
    if not line.startswith(MARK, start):
        first = re.match(r"\w+|.", line[start:])
        word = first.group() if first else ""
        kind = word if keyword.iskeyword(word) or not word.isidentifier() else "ident"
        shown = line.strip()
        raise BadComment(
            f"expected type comment but found '{kind}' here:\n{shown}\n"
            + "~" * len(word)
            + " <--- HERE\n",
            "a `# type:` comment is read as the function's signature, and this is none",
            Piece(line_index, line.index(MARK), line[line.index(MARK) :]),
        )
    return Piece(line_index, start + len(MARK), line[start + len(MARK) :].rstrip())


def _parse(
    pieces: list[Piece], source: Source, converter: Converter
) -> tuple[list[tree.Expr], tree.Expr | None]:
    """The parameters' types and the result's, which a comment on one line may leave open."""
    text = pieces[0].text.strip()
    is_open = "->" not in text
    if len(pieces) > 1 or (is_open and not (text.startswith("(") and text.endswith(")"))):
        *parameters, result = pieces
        types = [_type(piece, source, converter) for piece in parameters]
        return types, _type(result, source, converter)
    piece = pieces[0]
    text = piece.text.lstrip()
    try:
        signature = python_tree(f"{text} -> None" if is_open else text, mode="func_type")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(piece) from None
    column = piece.column + len(piece.text) - len(text)
    positions = Positions(source).within(piece.line, column)
    inner = Converter(positions, converter.collector, converter.where)
    types = [inner.expression(t) for t in signature.argtypes]
    return types, None if is_open else inner.expression(signature.returns)


def _type(piece: Piece, source: Source, converter: Converter) -> tree.Expr:
    try:
        parsed = python_tree(piece.text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(piece) from None
    positions = Positions(source).within(piece.line, piece.column)
    return Converter(positions, converter.collector, converter.where).expression(parsed.body)


def signature_texts(source: Source) -> tuple[list[str], str | None] | None:
    """The texts of the parameters' types and the result's in a function's comment, if it has one.

    Raises:
        BadComment: it cannot be used.
    """
    pieces = _find(source)
    if pieces is None:
        return None
    if len(pieces) > 1:
        return [piece.text.strip() for piece in pieces[:-1]], pieces[-1].text.strip()
    text = pieces[0].text.strip()
    is_open = "->" not in text
    try:
        signature = python_tree(f"{text} -> None" if is_open else text, mode="func_type")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(pieces[0]) from None
    types = [ast.unparse(part) for part in signature.argtypes]
    return types, None if is_open else ast.unparse(signature.returns)


def _unreadable(piece: Piece) -> BadComment:
    return BadComment(
        f"Syntax error in type annotation:\n# type:{piece.text}",
        "this `# type:` comment cannot be read as a signature",
        piece,
    )


def _report_count(
    function: tree.Function, given: int, expected: int, converter: Converter, is_method: bool
) -> None:
    start = function.span.start
    end = max([start + 3, *(parameter.span.torch_end for parameter in function.parameters)])
    kind = "method" if is_method else "function"
    converter.collector.add(
        Diagnostic(
            code="unknown-type",
            message=f"the type comment names {given} parameters, but `{function.name}` "
            f"has {expected}",
            primary=Label(function.name_span, f"{expected} parameters"),
            where=converter.where,
            torch_message=f"Number of type annotations ({given}) did not match the number of "
            f"{kind} parameters ({expected})",
            torch_span=Span(function.span.source, start, end),
        )
    )
