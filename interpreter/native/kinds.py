"""What native code knows of the values it computes with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ops.table.inline import Native
from ...typecheck.schema import Signature
from ...typecheck.types import BOOL, FLOAT, INT, ListType, Type

__all__ = ["Kind", "NotNative", "bound", "kind_of", "matches"]


class NotNative(Exception):
    """There is no native form of this."""


_LETTERS: dict[Type, str] = {INT: "i", FLOAT: "f", BOOL: "b"}
_EMPTY: dict[Type, str] = {INT: "0", FLOAT: "0.0", BOOL: "False"}


@dataclass(frozen=True)
class Kind:
    """The type of a value, and whether it is a list from outside, which is only read.

    There are whole numbers of 64 bits, floats, truth values, tuples of these, and lists.
    """

    type: Type
    is_outside: bool = False

    @property
    def is_scalar(self) -> bool:
        return self.type in _LETTERS

    @property
    def is_list(self) -> bool:
        return self.type.list_of is not None

    @property
    def is_rows(self) -> bool:
        """Whether it is a list of lists from outside."""
        return self.is_outside and self.element.is_list

    @property
    def element(self) -> Kind:
        """The kind of a list's elements.

        Raises:
            NotNative: it is no list.
        """
        element = self.type.list_of
        if element is None:
            raise NotNative
        return Kind(element, self.is_outside and element.list_of is not None)

    @property
    def parts(self) -> tuple[Kind, ...]:
        """The kinds of a tuple's elements.

        Raises:
            NotNative: it is no tuple.
        """
        if self.type.tuple_of is None:
            raise NotNative
        return tuple(map(Kind, self.type.tuple_of))

    @property
    def letters(self) -> str:
        """What tells it apart in names."""
        if self.is_list:
            return ("A" if self.is_outside else "L") + self.element.letters
        if self.is_scalar:
            return _LETTERS[self.type]
        return "T" + "".join(part.letters for part in self.parts)

    @property
    def empty(self) -> str:
        """An expression for a value of it."""
        if self.is_list:
            return f"[{self.element.empty} for _ in range(0)]"
        if self.is_scalar:
            return _EMPTY[self.type]
        return "(" + "".join(f"{part.empty}, " for part in self.parts) + ")"

    def from_outside(self) -> Kind:
        """The kind of an argument: lists are one or two deep.

        Raises:
            NotNative: arguments cannot be that.
        """
        if self.type.tuple_of is not None or (self.is_list and not _is_flat(self.element)):
            raise NotNative
        return Kind(self.type, self.is_list)


def _is_flat(kind: Kind) -> bool:
    return kind.is_scalar or (kind.is_list and kind.element.is_scalar)


def kind_of(type: Type) -> Kind:
    """The kind of values of a type.

    Raises:
        NotNative: native code has no such values.
    """
    if type.list_of is not None:
        kind_of(type.list_of)
    elif type.tuple_of is not None:
        named = type.tuple_name is not None
        if named or not type.tuple_of or not all(element in _LETTERS for element in type.tuple_of):
            raise NotNative
    elif type not in _LETTERS:
        raise NotNative
    return Kind(type)


Known = dict[str, Kind]
"""The kinds that the type variables of a schema stand for."""


def matches(form: Native, signature: Signature, kinds: Sequence[Kind]) -> Known | None:
    """What a form's type variables stand for if it takes operands of these kinds."""
    if form.of and " ".join(str(kind.type) for kind in kinds) not in form.of:
        return None
    for kind in kinds:
        if kind.is_rows if form.lists != "rows" else kind.is_list and not kind.is_rows:
            return None
        if kind.is_outside and form.lists == "made":
            return None
    known: Known = {}
    wanted = [argument.type for argument in signature.arguments]
    if form.of or all(map(_is_like, wanted, kinds, [known] * len(wanted))):
        return known
    return None


def _is_like(wanted: Type, kind: Kind, known: Known) -> bool:
    """Whether an operand is of the kind that a schema wants."""
    if wanted.variable is not None:
        return known.setdefault(wanted.variable, kind) == kind
    if wanted.list_of is not None:
        return kind.is_list and _is_like(wanted.list_of, kind.element, known)
    return kind == Kind(wanted)


def bound(result: Type, known: Known) -> Kind:
    """The kind of a schema's result."""
    if result.variable is not None:
        return known[result.variable]
    if result.list_of is not None and result.list_of.variable is not None:
        return Kind(ListType(known[result.list_of.variable].type))
    return kind_of(result)
