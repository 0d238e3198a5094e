"""Type variables of operator schemas: the `t` of `aten::append.t(t[](a!) self, t el)`."""

from __future__ import annotations

from .relations import is_subtype, join, join_all
from .types import (
    NONE,
    UNKNOWN,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    VariableType,
)

__all__ = ["has_variables", "instantiate", "match"]


def has_variables(type: Type) -> bool:
    return isinstance(type, VariableType) or any(map(has_variables, type.contained))


def instantiate(type: Type, bound: dict[str, Type]) -> Type | None:
    """The type with its variables replaced; None if one of them is not bound."""
    if isinstance(type, VariableType):
        return bound.get(type.name)
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
    if isinstance(formal, VariableType):
        return _match_variable(formal, actual, bound)
    if actual is UNKNOWN:
        for part in formal.contained:
            match(part, UNKNOWN, bound)
        return ""
    if isinstance(formal, ListType):
        return _match_list(formal, actual, bound)
    if isinstance(formal, OptionalType):
        if isinstance(actual, OptionalType):
            return match(formal.element, actual.element, bound)
        if not is_subtype(actual, NONE):
            return match(formal.element, actual, bound)
        return (
            "Cannot match an Optional[T] to None, because there is no way to determine T from None"
        )
    if isinstance(formal, TupleType):
        return _match_tuple(formal, actual, bound)
    if isinstance(formal, DictType | FutureType):
        if type(actual) is not type(formal):
            kind = "dict" if isinstance(formal, DictType) else "future"
            return f"Cannot match a {kind} to {actual.annotation_str}"
        return _match_parts(formal, actual, bound)
    return f"Cannot match {formal.annotation_str} to {actual.annotation_str}"


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


def _match_list(formal: ListType, actual: Type, bound: dict[str, Type]) -> str:
    if isinstance(actual, ListType):
        return match(formal.element, actual.element, bound)
    if isinstance(actual, TupleType) and actual.elements:
        element = join_all(actual.elements)
        if element is not None:
            return match(formal.element, element, bound)
    return f"Cannot match {formal.annotation_str} to {actual.annotation_str}"


def _match_tuple(formal: TupleType, actual: Type, bound: dict[str, Type]) -> str:
    if not isinstance(actual, TupleType):
        return f"Cannot match a tuple to {actual.annotation_str}"
    if len(actual.elements) != len(formal.elements):
        return "Cannot match tuples of mismatched size"
    return _match_parts(formal, actual, bound)


def _match_parts(formal: Type, actual: Type, bound: dict[str, Type]) -> str:
    for one, other in zip(formal.contained, actual.contained, strict=True):
        reason = match(one, other, bound)
        if reason:
            return reason
    return ""
