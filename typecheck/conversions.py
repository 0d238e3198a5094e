"""Implicit conversion of a value to the type that `return`, an assignment or a slot asks for."""

from __future__ import annotations

from dataclasses import replace

from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from . import typed
from .iteration import tuple_elements
from .matching import Given, implicit_conversion
from .operators import call_operator
from .relations import is_subtype
from .scope import Scope
from .types import NONE, UNKNOWN, ListType, OptionalType, TupleType, Type

__all__ = ["convert"]


def convert(scope: Scope, value: typed.Expr, wanted: Type, span: Span) -> typed.Expr:
    """The value, converted towards `wanted` where torch does so; check the type after."""
    may_be_none = value.type is NONE or isinstance(value.type, OptionalType)
    if isinstance(wanted, OptionalType) and not may_be_none:
        return convert(scope, value, wanted.element, span)
    if value.type is UNKNOWN or wanted is UNKNOWN:
        return value
    is_empty = isinstance(value, typed.ListLiteral) and not value.elements
    if is_empty and isinstance(wanted, ListType):
        return replace(value, type=wanted)
    if isinstance(value.type, TupleType):
        return _convert_tuple(scope, value, value.type, wanted, span)
    name = implicit_conversion(value.type, wanted)
    if name is None or is_subtype(value.type, wanted):
        return value
    return call_operator(scope, name, Given([value]), span)


def _convert_tuple(
    scope: Scope, value: typed.Expr, type: TupleType, wanted: Type, span: Span
) -> typed.Expr:
    """A tuple where a list is wanted, or a tuple of other elements."""
    as_list = isinstance(wanted, ListType) and all(
        is_subtype(t, wanted.element) for t in type.elements
    )
    as_tuple = (
        isinstance(wanted, TupleType)
        and not is_subtype(type, wanted)
        and len(wanted.elements) == len(type.elements)
    )
    if not as_list and not as_tuple:
        return value
    statements: list[typed.Statement] = []
    elements = tuple_elements(scope, value, statements)
    result: typed.Expr
    if as_list:
        result = typed.ListLiteral(NOWHERE, wanted, tuple(elements))
    else:
        pairs = zip(elements, wanted.contained, strict=True)
        parts = tuple(convert(scope, e, t, span) for e, t in pairs)
        result = typed.TupleLiteral(NOWHERE, TupleType(tuple(p.type for p in parts)), parts)
    return typed.Sequenced(span, result.type, tuple(statements), result)
