"""How types relate: subtypes, joins, the canonical forms of optionals and unions.

The rules are TorchScript's.  `UNKNOWN` is a subtype and a supertype of everything, so that one
fault is told once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .class_types import ClassType, InterfaceType
from .types import (
    ANY,
    ANY_CLASS,
    ANY_ENUM,
    ANY_LIST,
    ANY_TUPLE,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    UNKNOWN,
    DictType,
    EnumType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)

if TYPE_CHECKING:
    from .functions import Function
    from .schema import Signature

__all__ = [
    "can_be_none",
    "equal",
    "in_order",
    "is_subtype",
    "is_unknown",
    "join",
    "join_all",
    "members",
    "optional",
    "union",
    "unmet_method",
    "without_none",
]


def is_unknown(type: Type) -> bool:
    """Whether the type is, or contains, `UNKNOWN`."""
    return type is UNKNOWN or any(is_unknown(t) for t in type.contained)


def equal(a: Type, b: Type) -> bool:
    """Whether two types are the same, where unknown parts agree with anything."""
    if a is UNKNOWN or b is UNKNOWN or a == b:
        return True
    if type(a) is not type(b) or len(a.contained) != len(b.contained) or not a.contained:
        return False
    return all(equal(x, y) for x, y in zip(a.contained, b.contained, strict=True)) and (
        a.with_contained(b.contained) == b
    )


def is_subtype(a: Type, b: Type) -> bool:
    """Whether a value of type `a` may stand where a `b` is wanted, without any conversion."""
    if b is ANY or equal(a, b):
        return True
    if isinstance(a, OptionalType):
        return can_be_none(b) and is_subtype(a.element, b)
    if isinstance(a, UnionType):
        return all(is_subtype(t, b) for t in a.members)
    if isinstance(b, OptionalType):
        return a is NONE or is_subtype(a, b.element)
    if isinstance(b, UnionType):
        return any(is_subtype(a, t) for t in b.members)
    if b is NUMBER:
        return a in (INT, FLOAT, COMPLEX)
    return _is_structural_subtype(a, b)


def _is_structural_subtype(a: Type, b: Type) -> bool:
    if isinstance(a, ListType):
        return b is ANY_LIST
    if isinstance(a, TupleType):
        return b is ANY_TUPLE or (isinstance(b, TupleType) and _is_tuple_subtype(a, b))
    if isinstance(a, FutureType):
        return isinstance(b, FutureType) and a.kind == b.kind and is_subtype(a.element, b.element)
    if isinstance(a, ClassType):
        return b is ANY_CLASS or (isinstance(b, InterfaceType) and _fills(a, b))
    if isinstance(a, InterfaceType):
        return isinstance(b, InterfaceType) and _fills(a, b)
    if isinstance(a, EnumType):
        return b is ANY_ENUM
    return False


def _is_tuple_subtype(a: TupleType, b: TupleType) -> bool:
    """Tuples are covariant; a NamedTuple is a subtype of a plain tuple, not the reverse."""
    if len(a.elements) != len(b.elements):
        return False
    if b.name is not None and (a.fields != b.fields or a.name != b.name):
        return False
    return all(is_subtype(x, y) for x, y in zip(a.elements, b.elements, strict=True))


def _fills(found: ClassType | InterfaceType, wanted: InterfaceType) -> bool:
    """Whether a class or interface has every method of an interface, with a signature that fits."""
    return not (wanted.is_module and not found.is_module) and unmet_method(found, wanted) is None


def unmet_method(found: ClassType | InterfaceType, wanted: InterfaceType) -> Function | None:
    """The first method of an interface that a class or interface lacks or has otherwise.

    Of a live module those methods count that are compiled.
    """
    for name, method in wanted.methods.items():
        own = found.magic(name) if isinstance(found, ClassType) else found.methods.get(name)
        if own is None or not _answers(own.signature, method.signature):
            return method
    return None


def _answers(mine: Signature, theirs: Signature) -> bool:
    """Whether a method can be called as another one: arguments are contravariant."""
    if len(mine.arguments) != len(theirs.arguments):
        return False
    pairs = zip(mine.arguments[1:], theirs.arguments[1:], strict=True)
    return all(is_subtype(b.type, a.type) and a.name == b.name for a, b in pairs) and is_subtype(
        mine.returns[0].type, theirs.returns[0].type
    )


# ------------------------------------------------------------------------ optionals and unions


def can_be_none(type: Type) -> bool:
    """Whether None is a value of the type."""
    if isinstance(type, UnionType):
        return any(can_be_none(t) for t in type.members)
    return type is NONE or type is ANY or type is UNKNOWN or isinstance(type, OptionalType)


def optional(type: Type) -> Type:
    """`type` or None."""
    if can_be_none(type) and type is not UNKNOWN:
        return type
    if isinstance(type, UnionType):
        return union([*type.members, NONE])
    return OptionalType(type)


def without_none(type: Type) -> Type:
    """The type of a value known not to be None."""
    if isinstance(type, OptionalType):
        return type.element
    if isinstance(type, UnionType):
        return union([t for t in type.members if t is not NONE])
    return type


def members(type: Type) -> list[Type]:
    """The alternatives of a type: `int?` is `int` and `NoneType`."""
    if isinstance(type, OptionalType):
        return [*members(type.element), NONE]
    if isinstance(type, UnionType):
        return [m for t in type.members for m in members(t)]
    return [type]


# Members of a union stand in torch's order of kinds, those of one kind by their text.
_KIND_ORDER: tuple[object, ...] = (
    *(ANY, EnumType, ANY_ENUM, TENSOR, TupleType, ListType, DictType, NUMBER, FLOAT, COMPLEX),
    *(FutureType, INT, NONE, STRING, BOOL),
)


def _order(type: Type) -> tuple[int, str]:
    for place, kind in enumerate(_KIND_ORDER):
        if type is kind or type.__class__ is kind:
            return place, str(type)
    return len(_KIND_ORDER), str(type)


def in_order(types: Iterable[Type]) -> list[Type]:
    """Types in the order in which the members of a union stand."""
    return sorted(types, key=_order)


def union(types: Iterable[Type]) -> Type:
    """The canonical union: flat, without members that are subtypes of others, in a fixed order.

    One member is itself; one member and None are an optional.
    """
    flat = [m for t in types for m in members(t)]
    if any(t is UNKNOWN for t in flat):
        return UNKNOWN
    kept: list[Type] = []
    for t in flat:
        if not any(is_subtype(t, other) for other in kept):
            kept = [other for other in kept if not is_subtype(other, t)]
            kept.append(t)
    if INT in kept and FLOAT in kept and COMPLEX in kept:
        kept = [t for t in kept if t not in (INT, FLOAT, COMPLEX)] + [NUMBER]
    kept.sort(key=_order)
    if len(kept) == 1:
        return kept[0]
    if len(kept) == 2 and NONE in kept:
        return OptionalType(next(t for t in kept if t is not NONE))
    return UnionType(tuple(kept))


# ----------------------------------------------------------------------------------------- joins


def join(a: Type, b: Type, *, or_union: bool = False) -> Type | None:
    """The type that holds both: the wider one, or an optional, or elementwise for tuples.

    Returns None where there is none, or the union if `or_union` is set.  int and float do not
    join, as in torch.
    """
    joined = _join(a, b)
    if joined is None and or_union:
        return union([a, b])
    return joined


def _join(a: Type, b: Type) -> Type | None:
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    if is_subtype(a, b):
        return b
    if is_subtype(b, a):
        return a
    if a is NONE or b is NONE:
        return optional(b if a is NONE else a)
    if isinstance(a, OptionalType) or isinstance(b, OptionalType):
        inner = _join(without_none(a), without_none(b))
        return None if inner is None else optional(inner)
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        return _join_tuples(a, b)
    if isinstance(a, FutureType) and isinstance(b, FutureType) and a.kind == b.kind:
        element = _join(a.element, b.element)
        return None if element is None else FutureType(element, a.kind)
    return None


def _join_tuples(a: TupleType, b: TupleType) -> Type | None:
    if len(a.elements) != len(b.elements):
        return None
    elements: list[Type] = []
    for x, y in zip(a.elements, b.elements, strict=True):
        joined = _join(x, y)
        if joined is None:
            return None
        elements.append(joined)
    return TupleType(tuple(elements))


def join_all(types: Sequence[Type], *, or_union: bool = False) -> Type | None:
    """The join of several types, from left to right; None if there is none."""
    joined: Type | None = types[0]
    for t in types[1:]:
        if joined is None:
            return None
        joined = join(joined, t, or_union=or_union)
    return joined
