"""Type variables of operator schemas: the `t` of `aten::append.t(t[](a!) self, t el)`."""

from __future__ import annotations

from ..types.type_table import TypeTable
from ..types.types import (
    NONE,
    UNKNOWN,
    CompoundType,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    VariableType,
)
from .relations import is_subtype, join, join_all

__all__ = ["has_variables", "instantiate", "match"]


def has_variables(type: Type) -> bool:
    return type.is_variable or any(map(has_variables, type.contained))


def instantiate(type: Type, bound: dict[str, Type]) -> Type | None:
    """The type with its variables replaced; None if one of them is not bound."""
    if type.variable is not None:
        return bound.get(type.variable)
    if not has_variables(type):
        return type
    parts = [instantiate(t, bound) for t in type.contained]
    known = [t for t in parts if t is not None]
    return type.with_contained(tuple(known)) if len(known) == len(parts) else None


def match(formal: Type, actual: Type, bound: dict[str, Type]) -> str:
    """Bind the variables of `formal` so that it may take `actual`.

    Returns "" or torch's reason why that cannot be; types without variables are not compared.
    """
    if not has_variables(formal):
        return ""
    if actual is UNKNOWN and not formal.is_variable:
        for part in formal.contained:
            match(part, UNKNOWN, bound)
        return ""
    return _MATCH(formal, actual, bound)


_MATCH: TypeTable[[Type, dict[str, Type]], str] = TypeTable()


@_MATCH.row(Type)
def _match_nothing(formal: Type, actual: Type, bound: dict[str, Type]) -> str:
    return f"Cannot match {formal.annotation_str} to {actual.annotation_str}"


@_MATCH.row(VariableType)
def _match_variable(formal: VariableType, actual: Type, bound: dict[str, Type]) -> str:
    known = bound.get(formal.name)
    if known is None:
        bound[formal.name] = actual
        return ""
    if join(known, actual) is None:
        return (
            f"Type variable '{formal.name}' previously matched to type "
            f"{known.annotation_str} is matched to type {actual.annotation_str}"
        )
    return ""  # the first one stays: whoever asks sees whether the other fits it


@_MATCH.row(ListType)
def _match_list(formal: ListType, actual: Type, bound: dict[str, Type]) -> str:
    element = join_all(actual.tuple_of) if actual.tuple_of else actual.list_of
    if element is None:
        return _match_nothing(formal, actual, bound)
    return match(formal.element, element, bound)


@_MATCH.row(OptionalType)
def _match_optional(formal: OptionalType, actual: Type, bound: dict[str, Type]) -> str:
    if actual.optional_of is None and is_subtype(actual, NONE):
        return ""  # which leaves the variable open
    return match(formal.element, actual.inner, bound)


@_MATCH.row(TupleType)
def _match_tuple(formal: TupleType, actual: Type, bound: dict[str, Type]) -> str:
    if actual.tuple_of is None:
        return f"Cannot match a tuple to {actual.annotation_str}"
    if len(actual.tuple_of) != len(formal.elements):
        return "Cannot match tuples of mismatched size"
    return _match_parts(formal, actual, bound)


@_MATCH.row(DictType, FutureType)
def _match_same(formal: CompoundType, actual: Type, bound: dict[str, Type]) -> str:
    if type(actual) is not type(formal):
        kind = "a dict"
        if isinstance(formal, FutureType):
            kind = "an await" if formal.kind == "Await" else "a future"
        return f"Cannot match {kind} to {actual.annotation_str}"
    return _match_parts(formal, actual, bound)


def _match_parts(formal: Type, actual: Type, bound: dict[str, Type]) -> str:
    for one, other in zip(formal.contained, actual.contained, strict=True):
        reason = match(one, other, bound)
        if reason:
            return reason
    return ""
