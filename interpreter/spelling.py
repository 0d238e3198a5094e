"""How the program spells what a node read: `x` and `self.weight` of `x @ self.weight`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..frontend.source import UNKNOWN
from ..ir.graph import Node, Value

__all__ = ["expression_of", "operand_texts"]

LONGEST = 40
"""Longer expressions are not repeated."""


def operand_texts(node: Node) -> list[str]:
    """The expressions of a node's inputs, empty where there is none to speak of.

    Names of values in an inlined graph may be those of the caller; the text of the failing
    expression is the callee's, so that is looked at for a node that was inlined.
    """
    texts = [expression_of(value) for value in node.inputs]
    if not node.call_stack or node.span is UNKNOWN:
        return texts
    try:
        expression = ast.parse(f"({node.span.text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return texts
    names = [] if node.signature is None else [a.name for a in node.signature.arguments]
    found = dict(_parts(expression, names))
    for position, part in found.items():
        if position < len(texts) and isinstance(part, ast.Constant) == _is_constant(node, position):
            texts[position] = "" if isinstance(part, ast.Constant) else _short(ast.unparse(part))
    return texts


def _is_constant(node: Node, position: int) -> bool:
    return node.inputs[position].node.is_constant


def _parts(expression: ast.expr, names: list[str]) -> Iterator[tuple[int, ast.expr]]:
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
            if isinstance(function, ast.Attribute) and not _is_namespace(function.value):
                first.append(function.value)
            yield from enumerate([*first, *arguments])
            for keyword in keywords:
                if keyword.arg in names:
                    yield names.index(keyword.arg), keyword.value


def _is_namespace(expression: ast.expr) -> bool:
    """Whether this can be a module like `torch` or `torch.nn.functional`."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return isinstance(expression, ast.Name) and expression.id in ("torch", "F", "ops", "math")


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
