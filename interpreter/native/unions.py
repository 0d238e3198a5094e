"""What the language of `lowering` has for values of one of several kinds.

Such a value is the place of its kind among the parts of the union's, and room for a value of each.
"""

from __future__ import annotations

import ast

from .built_in import BuiltIns
from .emitter import Item, Value
from .kinds import BOOL, INT, NONE, Kind, NotNative

__all__ = ["Unions"]


class Unions(BuiltIns):
    """A method `_do_<name>` for each, called with what stands between its parentheses."""

    def _converted(self, value: Value, wanted: Kind) -> Value:
        raise NotImplementedError

    def _field(self, value: Value, place: int, kind: Kind) -> Value:
        raise NotImplementedError

    def _do_choice(self, node: ast.expr) -> Item:
        """The place of the kind that a value is of."""
        return self._choice(self._value(node))

    def _do_is_choice(self, node: ast.expr, *places: ast.expr) -> Item:
        """Whether a value is of one of the kinds at some places."""
        choice, found = self._choice(self._value(node)), Value(BOOL, "false")
        for place in map(self._whole, places):
            same = self._let(BOOL, f"icmp eq i64 {choice.text}, {place.text}")
            found = self._let(BOOL, f"or i1 {found.text}, {same.text}")
        return found

    def _do_chosen(self, node: ast.expr, index: ast.expr) -> Item:
        """The value of the kind at a place."""
        return self._chosen(self._value(node), self._number(index))

    def _do_as_choice(self, kind: ast.expr, index: ast.expr, node: ast.expr) -> Item:
        """A value of the kind at a place as one of a union."""
        nothing = Value(self._kind(kind), "zeroinitializer")
        return self._with(nothing, self._number(index), self._value(node))

    def _choice(self, value: Value) -> Value:
        if value.kind.family != "union":
            raise NotNative(f"{value.kind.family} is of one kind")
        return self._let(INT, f"extractvalue {value.kind.llvm} {value.text}, 0")

    def _chosen(self, value: Value, place: int) -> Value:
        part = value.kind.parts[place]
        return self._let(part, f"extractvalue {value.kind.llvm} {value.text}, {place + 1}")

    def _with(self, made: Value, place: int, part: Value) -> Value:
        """A value of a union that is of the kind at a place."""
        kind = made.kind
        made = self._let(kind, f"insertvalue {kind.llvm} {made.text}, i64 {place}, 0")
        text = f"insertvalue {kind.llvm} {made.text}, {part.kind.llvm} {part.text}, {place + 1}"
        return self._let(kind, text)

    def _into(self, value: Value, wanted: Kind) -> Value:
        """A value as one of a union."""
        nothing, kind = Value(wanted, "zeroinitializer"), value.kind
        if kind in wanted.parts:
            return self._with(nothing, wanted.parts.index(kind), value)
        if kind.family == "optional":
            there = self._into(self._field(value, 0, kind.parts[0]), wanted)
            without = self._into(Value(NONE, "false"), wanted)
            return self._one_of(self._field(value, 1, BOOL), there, without)
        found, choice = nothing, self._choice(value)
        for place, part in enumerate(kind.parts):
            if part in wanted.parts:
                is_it = self._let(BOOL, f"icmp eq i64 {choice.text}, {place}")
                found = self._one_of(is_it, self._into(self._chosen(value, place), wanted), found)
        return found

    def _one_of(self, condition: Value, one: Value, other: Value) -> Value:
        kind = one.kind
        text = f"select i1 {condition.text}, {kind.llvm} {one.text}, {kind.llvm} {other.text}"
        return self._let(kind, text)

    def _out_of(self, value: Value, wanted: Kind) -> Value:
        """A value of a union as one of a kind that it is known to be of, or may be None."""
        if wanted in value.kind.parts:
            return self._chosen(value, value.kind.parts.index(wanted))
        inner = value.kind.parts.index(wanted.parts[0])
        is_it = self._let(BOOL, f"icmp eq i64 {self._choice(value).text}, {inner}")
        there = self._converted(self._chosen(value, inner), wanted)
        return self._one_of(is_it, there, Value(wanted, "zeroinitializer"))
