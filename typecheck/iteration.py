"""What `for` runs over: ranges, sequences, `zip`, `enumerate`, and tuples, which are unrolled."""

from __future__ import annotations

from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from . import typed
from .containers import Containers, container_kind
from .matching import Given, Match, choose
from .names import TypeName
from .sugar import EnumerateValue, Item, Iterated, MemberSequence, RangeValue, Sugar, ZipValue
from .types import (
    INT,
    STRING,
    TENSOR,
    UNKNOWN,
    ClassType,
    DictType,
    EnumType,
    ListType,
    TupleType,
    Type,
)

__all__ = ["Item", "Iteration"]

ENDLESS = (1 << 63) - 1


class Iteration(Containers):
    """Checking what is iterated over."""

    def iterated(self, sugar: Sugar, span: Span) -> Iterated:
        """What an expression gives as something to iterate over; an error if it cannot."""
        if isinstance(sugar, RangeValue | EnumerateValue | ZipValue | MemberSequence):
            return sugar
        if isinstance(sugar, TypeName) and isinstance(sugar.type, EnumType):
            return _members_of_enum(sugar.type, span)
        value = self.value(sugar, span)
        type = value.type
        if isinstance(type, ListType | DictType | TupleType) or type in (TENSOR, STRING, UNKNOWN):
            return value
        if container_kind(type):
            return self.members_of(value, span)
        if isinstance(type, ClassType) and type.method("__len__") is not None:
            self.report(
                "unsupported-syntax",
                f"iterating over an object of class `{type.name}` is not supported",
                span,
                "iterated here",
                torch=f"'{type}' object is not iterable",
            )
            return self.unknown(span)
        self.report(
            "argument-type",
            f"`{type.python}` is not iterable",
            value.span,
            f"this is `{type.python}`",
            torch=f"'{self.torch_type(value)}' object is not iterable",
            torch_span=span,
            secondary=tuple(self.origin(value)),
        )
        return self.unknown(span)

    # ------------------------------------------------------------------------ run-time loops

    def iterable(self, iterated: Iterated, span: Span) -> tuple[typed.Iterable, Item]:
        """The loop's control and what a turn binds; `span` is the loop's, as torch places it."""
        if isinstance(iterated, RangeValue):
            index = self.temporary()
            control = typed.Range(span, iterated.start, iterated.stop, iterated.step, index)
            return control, typed.Temporary(span, INT, index)
        if isinstance(iterated, EnumerateValue):
            counter, number = self._counter(iterated, span)
            child, item = self.iterable(iterated.iterated, span)
            return typed.Zip(span, (counter, child)), (number, item)
        if isinstance(iterated, ZipValue):
            children = [self.iterable(part, span) for part in iterated.parts]
            return typed.Zip(span, tuple(c for c, _ in children)), tuple(i for _, i in children)
        assert isinstance(iterated, typed.Expr)
        return self._sequence(iterated, span)

    def _counter(self, enumerated: EnumerateValue, span: Span) -> tuple[typed.Range, typed.Expr]:
        index = self.temporary()
        here = enumerated.span
        number = typed.Temporary(here, INT, index)
        if enumerated.start is None:
            return typed.Range(here, None, None, None, index), number
        stop = typed.Literal(here, INT, ENDLESS)
        step = typed.Literal(here, INT, 1)
        return typed.Range(span, enumerated.start, stop, step, index), number

    def _sequence(self, value: typed.Expr, span: Span) -> tuple[typed.Iterable, Item]:
        if isinstance(value.type, DictType):
            value = self.call_operator("aten::keys", Given([value]), span)
        index = self.temporary()
        length = self._chosen("aten::len", [value])
        if value.type == TENSOR:
            zero = typed.Literal(NOWHERE, INT, 0)
            found = self._chosen("aten::select", [value, zero, typed.Temporary(span, INT, -1)])
            bindings: tuple[typed.Binding, ...] = (
                typed.Given(0),
                typed.Default(0, INT),
                typed.Given(1),
            )
            item_type: Type = TENSOR
        else:
            found = self._chosen("aten::__getitem__", [value, typed.Temporary(span, INT, -1)])
            bindings = (typed.Given(0), typed.Given(1))
            item_type = value.type.element if isinstance(value.type, ListType) else STRING
        if length is None or found is None:
            return typed.Range(span, None, None, None, index), self.unknown(span)
        sequence = typed.Sequence(
            span, value, length.signature, found.signature, bindings, item_type, index
        )
        return sequence, typed.Temporary(span, item_type, index)

    def _chosen(self, name: str, inputs: list[typed.Expr]) -> Match | None:
        if inputs[0].type is UNKNOWN:
            return None
        found = choose(self.table.overloads(name), Given(inputs), self.table)
        return found if isinstance(found, Match) else None

    # ------------------------------------------------------------------------ unrolled loops

    def unrolled(
        self, iterated: Iterated, into: list[typed.Statement], span: Span
    ) -> list[Item] | None:
        """The items of a loop over tuples, one for each turn; None for a loop at run time."""
        if not _is_unrolled(iterated):
            return None
        return self._rows_unrolled(iterated, into, span)

    def turn_number(self, number: int, span: Span) -> typed.Statement:
        """The constant that torch makes for a turn of an unrolled loop; one for all its loops."""
        return typed.Evaluate(span, typed.PlaceNumber(span, INT, number))

    def _rows_unrolled(
        self, iterated: Iterated, into: list[typed.Statement], span: Span
    ) -> list[Item]:
        if isinstance(iterated, MemberSequence):
            return self.rows_of(iterated, into)
        if isinstance(iterated, typed.Expr):
            return list(self.tuple_elements(iterated, into))
        if isinstance(iterated, EnumerateValue):
            items = self.unrolled(iterated.iterated, into, span) or []
            return [(self._number(iterated, i, into), item) for i, item in enumerate(items)]
        assert isinstance(iterated, ZipValue)
        columns = [self._column(part, into, iterated.span.whole) for part in iterated.parts]
        count = min(len(c) for c in columns if c is not None)
        rows: list[Item] = []
        for i in range(count):
            rows.append(tuple(c[i] for c in columns if c is not None))
        return rows

    def _column(self, part: Iterated, into: list[typed.Statement], span: Span) -> list[Item] | None:
        items = self.unrolled(part, into, span)
        if items is None:
            self.report(
                "unsupported-syntax",
                "`zip` cannot mix tuples, which are unrolled, with what has a length at run time",
                span,
                f"the length of `{part.span.text}` is not known now",
                torch="Can not iterate over a module list or tuple with a value that does not "
                "have a statically determinable length\n",
            )
        return items

    def _number(
        self, enumerated: EnumerateValue, index: int, into: list[typed.Statement]
    ) -> typed.Expr:
        if enumerated.start is None:
            return typed.PlaceNumber(enumerated.span, INT, index)
        number = typed.Literal(enumerated.span, INT, index)
        return self.call_operator("aten::add", Given([enumerated.start, number]), enumerated.span)

    def tuple_elements(self, value: typed.Expr, into: list[typed.Statement]) -> list[typed.Expr]:
        """Unpack a tuple into temporaries."""
        assert isinstance(value.type, TupleType)
        types = value.type.elements
        indices = tuple(self.temporary() for _ in types)
        into.append(typed.Unpack(value.span, value, indices, types))
        return [typed.Temporary(value.span, t, i) for t, i in zip(types, indices, strict=True)]


def _is_unrolled(iterated: Iterated) -> bool:
    if isinstance(iterated, EnumerateValue):
        return _is_unrolled(iterated.iterated)
    if isinstance(iterated, ZipValue):
        return any(map(_is_unrolled, iterated.parts))
    if isinstance(iterated, MemberSequence):
        return True
    return isinstance(iterated, typed.Expr) and isinstance(iterated.type, TupleType)


def _members_of_enum(type: EnumType, span: Span) -> typed.Expr:
    """The list of an enumeration's members, a constant."""
    members = [typed.EnumMember(name, value) for name, value in type.members]
    return typed.Literal(span, ListType(type), members)
