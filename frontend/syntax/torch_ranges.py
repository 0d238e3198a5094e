"""What torch underlines for a whole expression.

A `Call`'s own span stops, for torch, at the callee, because that is where its errors point.  Where
torch speaks about the call as a whole (the chain "is being compiled since it was called from") and
where the call is part of something larger, its range reaches to the last argument.
"""

from __future__ import annotations

from ..sources.source import Span
from . import tree

__all__ = ["whole_end", "whole_range"]


def whole_end(expression: tree.Expr) -> int:
    """The offset where torch's range of the expression with all its parts ends."""
    if isinstance(expression, tree.Call):
        parts = [expression.function, *expression.arguments]
        parts.extend(keyword.value for keyword in expression.keywords)
        return max(whole_end(part) for part in parts)
    if isinstance(expression, tree.FormattedString):
        values = [p for p in expression.parts if not isinstance(p, tree.Literal)]
        return max([expression.span.torch_end, *(whole_end(value) for value in values)])
    return expression.span.torch_end


def whole_range(expression: tree.Expr) -> Span:
    """The expression's span, with torch's end set to cover all its parts."""
    span = expression.span
    return Span(span.source, span.start, span.end, whole_end(expression), span.written)
