"""From what an expression stands for to its first-class value."""

from __future__ import annotations

import builtins
import re
from typing import Final

from ...frontend.diagnostics.diagnostics import Diagnostic, Edit, Help
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ..definitions.names import Constant, SpecialForm, TypeName, Unusable
from ..trees import typed
from ..trees.sugar import BoundMethod, BoundOperator, MemberSequence, Sugar, describe, no_value
from ..types.types import ANY, UNKNOWN, TupleType, Type
from .globals import global_helps, global_labels, global_notes
from .idioms import dtype_of, is_about_lambda
from .members import rows_of
from .scope import Scope

__all__ = ["as_any", "called", "report_unusable", "sequenced", "value_of"]


def value_of(scope: Scope, sugar: Sugar, span: Span, purpose: str = "a value") -> typed.Expr:
    """The first-class value of what an expression stands for; an error if it has none.

    `purpose` is what it is wanted as, for the sentence: `an iterable`, `a tuple`.
    """
    if isinstance(sugar, typed.Expr):
        return sugar
    if isinstance(sugar, Constant):
        return typed.Literal(span, sugar.type, sugar.value)
    if isinstance(sugar, MemberSequence) and sugar.cut != slice(None):
        return _tuple_of_members(scope, sugar, span)
    _report_no_value(scope, sugar, span, purpose)
    return scope.unknown(span)


def _tuple_of_members(scope: Scope, sequence: MemberSequence, span: Span) -> typed.Expr:
    """A slice of members is a tuple of them."""
    into: list[typed.Statement] = []
    members = [m for m in rows_of(scope, sequence, into) if isinstance(m, typed.Expr)]
    type = TupleType(tuple(m.type for m in members))
    return typed.Sequenced(span, type, tuple(into), typed.TupleLiteral(span, type, tuple(members)))


def _report_no_value(scope: Scope, sugar: Sugar, span: Span, purpose: str) -> None:
    if isinstance(sugar, Unusable):
        report_unusable(scope, sugar, span, purpose=purpose)
    elif isinstance(sugar, BoundOperator | BoundMethod):
        scope.report(
            "argument-type",
            f"`{span.text}` is a method, and no value until it is called",
            span,
            "not called",
            torch=no_value(sugar, purpose),
            helps=(Help("call it", (Edit(Span(span.source, span.end, span.end), "()"),)),),
        )
    else:
        scope.report(
            "argument-type",
            f"`{span.text}` is not a value",
            span,
            f"this is {_kind(sugar)}",
            torch=no_value(sugar, purpose),
            torch_span=called(span),
            helps=_dtype_help(scope, span),
        )


def report_unusable(
    scope: Scope,
    sugar: Unusable,
    span: Span,
    inner: Diagnostic | None = None,
    purpose: str = "a value",
    torch_span: Span | None = None,
) -> None:
    """Report what script cannot use; `inner` is the error in an argument that torch tells of."""
    if sugar.is_unnamed:
        torch_span = None
        if inner is not None and not is_about_lambda(inner):
            inner = None
    scope.report(
        sugar.code,
        sugar.message.replace("{name}", span.text) or f"`{span.text}` cannot be used here",
        span,
        "used here",
        torch=no_value(sugar, purpose).replace("{name}", span.text)
        if inner is None
        else inner.torch_message,
        torch_span=torch_span if inner is None else inner.torch_span,
        secondary=global_labels(sugar),
        notes=global_notes(sugar),
        helps=global_helps(sugar, span, scope.tree),
        exception=sugar.exception if inner is None else inner.exception,
    )


def _kind(sugar: Sugar) -> str:
    """What something is that is no value, in words of Python."""
    match sugar:
        case TypeName():
            return "a type"
        case SpecialForm(name=name):
            is_type = isinstance(getattr(builtins, name, None), type)
            return "a type" if is_type else "a builtin function"
    word = describe(sugar)
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


_DTYPE: Final = re.compile(r"\bdtype\s*=\s*\Z")


def _dtype_help(scope: Scope, span: Span) -> tuple[Help, ...]:
    """`dtype=float` -> `dtype=torch.float64`."""
    before = span.source.text[: span.whole.start]
    is_type = span.text in ("float", "int", "bool")
    return dtype_of(scope, span, span.text) if is_type and _DTYPE.search(before) else ()


def called(span: Span) -> Span:
    """What torch underlines of a call whose result is no value: all but the last parenthesis."""
    if not span.text.endswith(")"):
        return span
    return Span(span.source, span.start, span.end - 1)


def as_any(value: typed.Expr, hint: Type | None) -> typed.Expr:
    """Where Any is asked for the value is cast to it, so that types agree later."""
    if hint is ANY and value.type not in (ANY, UNKNOWN):
        return typed.UncheckedCast(NOWHERE, ANY, value)
    return value


def sequenced(statements: list[typed.Statement], result: Sugar, span: Span) -> Sugar:
    """The result, after the statements its arguments needed."""
    if not statements or not isinstance(result, typed.Expr):
        return result
    return typed.Sequenced(span, result.type, tuple(statements), result)
