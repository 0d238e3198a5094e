"""How the program spells what a node read: `x` and `self.weight` of `x @ self.weight`."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from ...frontend.diagnostics.paths import is_own_file
from ...frontend.foundations.kept import kept_with
from ...frontend.sources.source import UNKNOWN, Source, Span
from ...frontend.syntax.python_ast import python_tree
from ...ir.graphs.graph import Node, Value

__all__ = ["expression_of", "is_of_torch", "operand_texts", "users_span"]

LONGEST = 40
"""Longer expressions are not repeated."""


def operand_texts(node: Node) -> list[str]:
    """The expressions of a node's inputs, empty where there is none to speak of.

    Names of values in an inlined graph may be those of the caller; the text of the failing
    expression is the callee's, so that is looked at for a node that was inlined.  What fails in a
    library's file is told in the words of the user's call.
    """
    texts = [expression_of(value) for value in node.inputs]
    spans = [site.span for site in node.call_stack]
    spans += [node.span] if node.span is not UNKNOWN else []
    user = users_span(spans)
    if user < len(spans) - 1:
        return _texts_in_call(node, spans[user])
    expression = _parsed(node.span)
    if not node.call_stack or expression is None:
        return texts
    names = [] if node.signature is None else [a.name for a in node.signature.arguments]
    found = dict(_parts(expression, names, _variables(node.span.source)))
    for position, part in found.items():
        if position < len(texts) and isinstance(part, ast.Constant) == _is_constant(node, position):
            texts[position] = "" if isinstance(part, ast.Constant) else _short(ast.unparse(part))
    return texts


def users_span(spans: Sequence[Span]) -> int:
    """The place of the innermost span that is in no library's file; failing that the last."""
    for number in reversed(range(len(spans))):
        filename = (spans[number].original or spans[number]).filename or ""
        if not is_own_file(filename) and not is_of_torch(filename):
            return number
    return len(spans) - 1


_OF_TORCH: Final = re.compile(r"(^|/site-packages/)torch/")


def is_of_torch(filename: str) -> bool:
    """Whether a file is one of torch's, as archives that torch wrote name them."""
    return _OF_TORCH.search(filename) is not None


def _parsed(span: Span) -> ast.expr | None:
    if span is UNKNOWN:
        return None
    try:
        parsed: ast.Expression = python_tree(f"({span.text})", mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return None
    return parsed.body


def _texts_in_call(node: Node, call: Span) -> list[str]:
    """The operands as the caller of a library's function or module knows them."""
    written, expression = _parsed(call), _parsed(call.original or call)
    target = expression.func if isinstance(expression, ast.Call) else expression
    owner = "" if target is None else ast.unparse(target).removesuffix(".forward")
    given = written.args if isinstance(written, ast.Call) and not written.keywords else []
    attributes = [v.node.kind == "prim::GetAttr" for v in node.inputs]
    others = [n for n, v in enumerate(node.inputs) if not attributes[n] and not v.node.is_constant]
    texts = [
        f"{owner}.{v.node.attributes['name']}" if owner and attributes[n] else ""
        for n, v in enumerate(node.inputs)
    ]
    if len(given) == len(others) == 1:
        texts[others[0]] = _short(ast.unparse(given[0]))
    return texts


@kept_with
def _variables(source: Source) -> frozenset[str]:
    """The names that a source gives values to."""
    try:
        tree = python_tree(textwrap.dedent(source.text))
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_target(n)}
    return frozenset(stored | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)})


def _is_target(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _is_constant(node: Node, position: int) -> bool:
    return node.inputs[position].node.is_constant


def _parts(
    expression: ast.expr, names: list[str], variables: frozenset[str]
) -> Iterator[tuple[int, ast.expr]]:
    """The operands of an expression with their positions in the operator's schema."""
    match expression:
        case ast.BinOp(left, _, right) | ast.Compare(left, [_], [right]):
            yield from enumerate([left, right])
        case ast.UnaryOp(_, operand):
            yield 0, operand
        case ast.Subscript(value, _):
            yield 0, value
        case ast.Call(function, arguments, keywords):
            first = []
            if isinstance(function, ast.Attribute) and _is_value(function.value, variables):
                first.append(function.value)
            yield from enumerate([*first, *arguments])
            for keyword in keywords:
                if keyword.arg in names:
                    yield names.index(keyword.arg), keyword.value


def _is_value(expression: ast.expr, variables: frozenset[str]) -> bool:
    """Whether this is no module, such as `torch` or `torch.nn.functional`."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return not isinstance(expression, ast.Name) or expression.id in variables


def expression_of(value: Value) -> str:
    """A value's variable, or its expression if that is short; empty for a constant."""
    node = value.node
    if node.kind == "prim::Constant":
        return ""
    if node.kind == "prim::GetAttr":
        owner = expression_of(node.inputs[0])
        return f"{owner}.{node.attributes['name']}" if owner else ""
    if value.base_name is not None:
        return value.base_name
    return _short(node.span.text) if node.span is not UNKNOWN else ""


def _short(text: str) -> str:
    return text if len(text) <= LONGEST and "\n" not in text else ""
