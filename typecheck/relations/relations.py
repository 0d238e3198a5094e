"""How types relate: subtypes, joins, the canonical forms of optionals and unions.

The rules are TorchScript's.  `UNKNOWN` is a subtype and a supertype of everything, so that one
fault is told once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..definitions.class_types import ClassType, InterfaceType
from ..types.type_table import TypeTable
from ..types.types import (
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
    from ..definitions.functions import Function
    from ..definitions.schema import Signature

__all__ = [
    "can_be_none",
    "equal",
    "in_order",
    "is_subtype",
    "is_unknown",
    "join",
    "join_all",
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
    if a.is_choice:
        return all(is_subtype(t, b) for t in a.alternatives)
    if b.is_choice:
        return any(is_subtype(a, t) for t in b.alternatives)
    if b is NUMBER:
        return a in (INT, FLOAT, COMPLEX)
    return _STANDS_FOR(a, b)


_STANDS_FOR: TypeTable[[Type], bool] = TypeTable()
"""Whether a type of some kind is a subtype of another that differs from it."""


@_STANDS_FOR.row(Type)
def _never(a: Type, b: Type) -> bool:
    return False


@_STANDS_FOR.row(ListType)
def _list_for(a: ListType, b: Type) -> bool:
    return b is ANY_LIST


@_STANDS_FOR.row(TupleType)
def _tuple_for(a: TupleType, b: Type) -> bool:
    """Tuples are covariant; a NamedTuple is a subtype of a plain tuple, not the reverse."""
    theirs = b.tuple_of
    if theirs is None:
        return b is ANY_TUPLE
    if len(a.elements) != len(theirs):
        return False
    if b.tuple_name is not None and (a.fields != b.fields or a.name != b.tuple_name):
        return False
    return all(is_subtype(x, y) for x, y in zip(a.elements, theirs, strict=True))


@_STANDS_FOR.row(FutureType)
def _future_for(a: FutureType, b: Type) -> bool:
    return isinstance(b, FutureType) and a.kind == b.kind and is_subtype(a.element, b.element)


@_STANDS_FOR.row(ClassType)
def _object_for(a: ClassType, b: Type) -> bool:
    return b is ANY_CLASS or _fills(a, b)


@_STANDS_FOR.row(EnumType)
def _enum_for(a: EnumType, b: Type) -> bool:
    return b is ANY_ENUM


@_STANDS_FOR.row(InterfaceType)
def _filling_for(a: InterfaceType, b: Type) -> bool:
    return _fills(a, b)


def _fills(found: ClassType | InterfaceType, wanted: Type) -> bool:
    """Whether a class or interface has every method of an interface, with a signature that fits."""
    if not isinstance(wanted, InterfaceType) or (wanted.is_module and not found.is_module):
        return False
    return unmet_method(found, wanted) is None


def unmet_method(found: ClassType | InterfaceType, wanted: InterfaceType) -> Function | None:
    """The first method of an interface that a class or interface lacks or has otherwise.

    Of a live module those methods count that are compiled.
    """
    for name, method in wanted.methods.items():
        own = found.magic(name)
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
    return any(t is NONE or t is ANY or t is UNKNOWN for t in type.alternatives)


def optional(type: Type) -> Type:
    """`type` or None: `Any` too, which a test against None narrows only then."""
    if can_be_none(type) and type is not UNKNOWN and type is not ANY:
        return type
    return union([*type.alternatives, NONE]) if type.is_choice else OptionalType(type)


def without_none(type: Type) -> Type:
    """The type of a value known not to be None."""
    if type.is_choice and type.optional_of is None:
        return union([t for t in type.alternatives if t is not NONE])
    return type.inner


# Members of a union stand in torch's order of kinds, those of one kind by their text.
_KIND_ORDER: tuple[object, ...] = (
    *(ANY, EnumType, ANY_ENUM, TENSOR, TupleType, ListType, DictType, NUMBER, FLOAT, COMPLEX),
    *(FutureType, INT, NONE, STRING, BOOL),
)


def _order(type: Type) -> tuple[int, str]:
    for place, kind in enumerate(_KIND_ORDER):
        if type == kind or type.__class__ is kind:
            return place, str(type)
    return len(_KIND_ORDER), str(type)


def in_order(types: Iterable[Type]) -> list[Type]:
    """Types in the order in which the members of a union stand."""
    return sorted(types, key=_order)


def union(types: Iterable[Type]) -> Type:
    """The canonical union: flat, without members that are subtypes of others, in a fixed order.

    One member is itself; one member and None are an optional.
    """
    flat = [m for t in types for m in t.alternatives]
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
        return optional(ANY) if kept == [ANY] and NONE in flat else kept[0]
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
    if a.optional_of is not None or b.optional_of is not None:
        inner = _join(without_none(a), without_none(b))
        return None if inner is None else optional(inner)
    if a.tuple_of is not None and b.tuple_of is not None:
        return _join_tuples(a.tuple_of, b.tuple_of)
    if isinstance(a, FutureType) and isinstance(b, FutureType) and a.kind == b.kind:
        element = _join(a.element, b.element)
        return None if element is None else FutureType(element, a.kind)
    return None


def _join_tuples(a: tuple[Type, ...], b: tuple[Type, ...]) -> Type | None:
    if len(a) != len(b):
        return None
    elements: list[Type] = []
    for x, y in zip(a, b, strict=True):
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
