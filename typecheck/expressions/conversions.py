"""Implicit conversion of a value to the type that `return`, an assignment or a slot asks for."""

from __future__ import annotations

from dataclasses import replace

from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ..relations.matching import Given, implicit_conversion
from ..relations.relations import is_subtype
from ..scopes.scope import Scope
from ..trees import typed
from ..types.types import NONE, UNKNOWN, TupleType, Type
from .iteration import tuple_elements
from .operators import call_operator

__all__ = ["convert"]


def convert(scope: Scope, value: typed.Expr, wanted: Type, span: Span) -> typed.Expr:
    """The value, converted towards `wanted` where torch does so; check the type after."""
    may_be_none = value.type is NONE or value.type.optional_of is not None
    if wanted.optional_of is not None and not may_be_none:
        return convert(scope, value, wanted.optional_of, span)
    if value.type is UNKNOWN or wanted is UNKNOWN:
        return value
    is_empty = isinstance(value, typed.ListLiteral) and not value.elements
    if is_empty and wanted.list_of is not None:
        return replace(value, type=wanted)
    if value.type.tuple_of is not None:
        return _convert_tuple(scope, value, value.type.tuple_of, wanted, span)
    name = implicit_conversion(value.type, wanted)
    if name is None or is_subtype(value.type, wanted):
        return value
    return call_operator(scope, name, Given([value]), span)


def _convert_tuple(
    scope: Scope, value: typed.Expr, given: tuple[Type, ...], wanted: Type, span: Span
) -> typed.Expr:
    """A tuple where a list is wanted, or a tuple of other elements."""
    element = wanted.list_of
    as_list = element is not None and all(is_subtype(t, element) for t in given)
    as_tuple = (
        wanted.tuple_of is not None
        and not is_subtype(value.type, wanted)
        and len(wanted.tuple_of) == len(given)
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
