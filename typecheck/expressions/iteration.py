"""What `for` runs over: ranges, sequences, `zip`, `enumerate`, and tuples, which are unrolled."""

from __future__ import annotations

from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ..definitions.names import TypeName
from ..relations.matching import Given, Match, choose
from ..reports.reasons import origin
from ..scopes.members import members_of, rows_of
from ..scopes.scope import Scope
from ..scopes.values import value_of
from ..trees import typed
from ..trees.sugar import (
    EnumerateValue,
    Item,
    Iterated,
    MemberSequence,
    RangeValue,
    Sugar,
    ZipValue,
)
from ..types.types import INT, STRING, TENSOR, UNKNOWN, ListType, TupleType, Type
from .operators import call_operator

__all__ = [
    "as_iterated",
    "item_value",
    "loop_control",
    "part_of",
    "tuple_elements",
    "turn_number",
    "unrolled_rows",
]

ENDLESS = (1 << 63) - 1


def as_iterated(scope: Scope, sugar: Sugar, span: Span) -> Iterated:
    """What an expression gives as something to iterate over; an error if it cannot."""
    if isinstance(sugar, RangeValue | EnumerateValue | ZipValue | MemberSequence):
        return sugar
    if isinstance(sugar, TypeName) and sugar.type.is_enum:
        return _members_of_enum(sugar.type, span)
    value = value_of(scope, sugar, span, "an iterable")
    type = value.type
    holds = type.is_collection or type.tuple_of is not None
    if holds or type in (TENSOR, STRING, UNKNOWN):
        return value
    if type.container:
        return members_of(value, span)
    if type.is_class and type.method("__len__") is not None:
        scope.report(
            "unsupported-syntax",
            f"iterating over an object of class `{type.python}` is not supported",
            span,
            "iterated here",
            torch=f"'{type}' object is not iterable",
        )
        return scope.unknown(span)
    scope.report(
        "argument-type",
        f"`{type.python}` is not iterable",
        value.span,
        f"this is `{type.python}`",
        torch=f"'{scope.torch_type(value)}' object is not iterable",
        torch_span=span,
        secondary=tuple(origin(scope, value)),
    )
    return scope.unknown(span)


# ------------------------------------------------------------------------ run-time loops


def loop_control(scope: Scope, iterated: Iterated, span: Span) -> tuple[typed.Iterable, Item]:
    """The loop's control and what a turn binds; `span` is the loop's, as torch places it."""
    match iterated:
        case RangeValue(start=start, stop=stop, step=step):
            index = scope.temporary()
            control = typed.Range(span, start, stop, step, index)
            return control, typed.Temporary(span, INT, index)
        case EnumerateValue(iterated=inner):
            counter, number = _counter(scope, iterated, span)
            child, item = loop_control(scope, inner, span)
            return typed.Zip(span, (counter, child)), (number, item)
        case ZipValue(parts=parts):
            children = [loop_control(scope, part, span) for part in parts]
            return typed.Zip(span, tuple(c for c, _ in children)), tuple(i for _, i in children)
    assert isinstance(iterated, typed.Expr)
    return _sequence(scope, iterated, span)


def _counter(
    scope: Scope, enumerated: EnumerateValue, span: Span
) -> tuple[typed.Range, typed.Expr]:
    index = scope.temporary()
    here = enumerated.span
    number = typed.Temporary(here, INT, index)
    if enumerated.start is None:
        return typed.Range(here, None, None, None, index), number
    stop = typed.PlaceNumber(here, INT, ENDLESS)
    step = typed.Literal(here, INT, 1)
    return typed.Range(span, enumerated.start, stop, step, index), number


def part_of(scope: Scope, sugar: Sugar, span: Span) -> Iterated:
    """What `zip` and `enumerate` go over beside others: of a dict its keys, made there."""
    iterated = as_iterated(scope, sugar, span)
    return _keys(scope, iterated, span) if isinstance(iterated, typed.Expr) else iterated


def _keys(scope: Scope, value: typed.Expr, span: Span) -> typed.Expr:
    """The keys of a dict; any other value itself."""
    if value.type.dict_of is None:
        return value
    return call_operator(scope, "aten::keys", Given([value]), span)


def _sequence(scope: Scope, value: typed.Expr, span: Span) -> tuple[typed.Iterable, Item]:
    value = _keys(scope, value, span)
    index = scope.temporary()
    length = _chosen(scope, "aten::len", [value])
    if value.type == TENSOR:
        zero = typed.Literal(NOWHERE, INT, 0)
        found = _chosen(scope, "aten::select", [value, zero, typed.Temporary(span, INT, -1)])
        bindings: tuple[typed.Binding, ...] = (
            typed.Given(0),
            typed.Default(0, INT),
            typed.Given(1),
        )
        item_type: Type = TENSOR
    else:
        found = _chosen(scope, "aten::__getitem__", [value, typed.Temporary(span, INT, -1)])
        bindings = (typed.Given(0), typed.Given(1))
        item_type = value.type.list_of or STRING
    if length is None or found is None:
        return typed.Range(span, None, None, None, index), scope.unknown(span)
    sequence = typed.Sequence(
        span, value, length.signature, found.signature, bindings, item_type, index
    )
    return sequence, typed.Temporary(span, item_type, index)


def _chosen(scope: Scope, name: str, inputs: list[typed.Expr]) -> Match | None:
    if inputs[0].type is UNKNOWN:
        return None
    found = choose(scope.table.overloads(name), Given(inputs), scope.table)
    return found if isinstance(found, Match) else None


# ------------------------------------------------------------------------ unrolled loops


def unrolled_rows(
    scope: Scope, iterated: Iterated, into: list[typed.Statement], span: Span
) -> list[Item] | None:
    """The items of a loop over tuples, one for each turn; None for a loop at run time."""
    if not _is_unrolled(iterated):
        return None
    return _unroll(scope, iterated, into, span)


def turn_number(number: int, span: Span) -> typed.Statement:
    """The constant that torch makes for a turn of an unrolled loop; one for all its loops."""
    return typed.Evaluate(span, typed.PlaceNumber(span, INT, number))


def _unroll(
    scope: Scope, iterated: Iterated, into: list[typed.Statement], span: Span
) -> list[Item]:
    match iterated:
        case MemberSequence():
            return rows_of(scope, iterated, into)
        case EnumerateValue():
            return _numbered(scope, iterated, into, span)
        case ZipValue(parts=parts):
            columns = [_column(scope, part, into, iterated.span.whole) for part in parts]
            count = min(len(c) for c in columns if c is not None)
            unknown = scope.unknown(iterated.span)
            return [tuple(unknown if c is None else c[i] for c in columns) for i in range(count)]
    assert not isinstance(iterated, RangeValue)
    return list(tuple_elements(scope, iterated, into))


def _numbered(
    scope: Scope, iterated: EnumerateValue, into: list[typed.Statement], span: Span
) -> list[Item]:
    start = None if iterated.start is None else scope.let(iterated.start, into)
    into.append(turn_number(ENDLESS, iterated.span))
    items = unrolled_rows(scope, iterated.iterated, into, span) or []
    unused = typed.Evaluate(NOWHERE, typed.Literal(NOWHERE, INT, 0))
    into.extend([unused] * (2 if start is None else 1))  # what torch counts with elsewhere
    numbers = (_number(scope, start, i, iterated.span) for i in range(len(items)))
    return list(zip(numbers, items, strict=True))


def _column(
    scope: Scope, part: Iterated, into: list[typed.Statement], span: Span
) -> list[Item] | None:
    items = unrolled_rows(scope, part, into, span)
    if items is None:
        scope.report(
            "unsupported-syntax",
            "`zip` cannot mix tuples, which are unrolled, with what has a length at run time",
            span,
            f"the length of `{part.span.text}` is not known now",
            torch="Can not iterate over a module list or tuple with a value that does not "
            "have a statically determinable length\n",
        )
    return items


def _number(scope: Scope, start: typed.Expr | None, index: int, span: Span) -> typed.Expr:
    number = typed.PlaceNumber(span, INT, index)
    if start is None:
        return number
    return call_operator(scope, "aten::add", Given([start, number]), span)


def tuple_elements(
    scope: Scope, value: typed.Expr, into: list[typed.Statement]
) -> list[typed.Expr]:
    """Unpack a tuple into temporaries."""
    types = value.type.tuple_of
    assert types is not None
    indices = tuple(scope.temporary() for _ in types)
    into.append(typed.Unpack(value.span, value, indices, types))
    return [typed.Temporary(value.span, t, i) for t, i in zip(types, indices, strict=True)]


def _is_unrolled(iterated: Iterated) -> bool:
    match iterated:
        case RangeValue():
            return False
        case EnumerateValue(iterated=inner):
            return _is_unrolled(inner)
        case ZipValue(parts=parts):
            return any(map(_is_unrolled, parts))
        case MemberSequence():
            return True
    return iterated.type.tuple_of is not None


def _members_of_enum(type: Type, span: Span) -> typed.Expr:
    """The list of an enumeration's members, a constant."""
    members = [typed.EnumMember(name, value) for name, value in type.enum_members]
    return typed.Literal(span, ListType(type), members)


def item_value(scope: Scope, item: Item | Sugar, span: Span) -> typed.Expr:
    """What a loop binds as one value: several become a tuple."""
    if not isinstance(item, tuple):
        return value_of(scope, item, span)
    parts = tuple(item_value(scope, part, span) for part in item)
    return typed.TupleLiteral(span, TupleType(tuple(p.type for p in parts)), parts)
