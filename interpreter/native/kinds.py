"""The kinds of values that native code computes with, and how they lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...ops.table.inline import Native
from ...typecheck.class_types import ClassType
from ...typecheck.schema import Signature
from ...typecheck.types import BOOL as BOOL_TYPE
from ...typecheck.types import FLOAT as FLOAT_TYPE
from ...typecheck.types import INT as INT_TYPE
from ...typecheck.types import NONE as NONE_TYPE
from ...typecheck.types import STRING as STRING_TYPE
from ...typecheck.types import DictType, Type

__all__ = [
    *("ADDRESS", "BOOL", "FLOAT", "INT", "NONE", "STR"),
    *("Kind", "NotNative", "bound", "kind_of", "list_of", "matches", "tuple_of"),
]


class NotNative(Exception):
    """There is no native form of this."""


_LLVM: Final = {
    **{"int": "i64", "float": "double", "bool": "i1", "none": "i1", "str": "{ ptr, i64 }"},
    **{"address": "ptr", "list": "ptr", "dict": "ptr", "object": "ptr"},
}
_LETTERS: Final = {
    **{"int": "i", "float": "f", "bool": "b", "none": "n", "str": "s", "address": "p"},
    **{"list": "L", "dict": "D", "tuple": "T"},
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values, by its family.

    Numbers, truth values and addresses are words; a `str` is where its characters begin and how
    many they are, a tuple its `parts` side by side.  Lists, dicts and objects of the class `name`
    are reached by address; their `parts` are what they hold.
    """

    family: str
    parts: tuple[Kind, ...] = ()
    name: str = ""

    @property
    def llvm(self) -> str:
        """LLVM's type."""
        if self.family == "tuple":
            return "{ " + ", ".join(part.llvm for part in self.parts) + " }"
        return _LLVM[self.family]

    @property
    def letters(self) -> str:
        """What tells it apart in names."""
        if self.family == "object":
            return f"O{len(self.name)}_{self.name.replace('.', '_')}_"
        inside = "".join(part.letters for part in self.parts)
        return _LETTERS[self.family] + (f"{len(self.parts)}{inside}" if self.parts else "")

    @property
    def is_number(self) -> bool:
        return self.family in ("int", "float")

    @property
    def element(self) -> Kind:
        """What a list holds.

        Raises:
            NotNative: it is no list.
        """
        if self.family != "list":
            raise NotNative
        return self.parts[0]

    @property
    def key(self) -> Kind:
        """The kind of a dict's keys."""
        return self.parts[0]

    @property
    def value(self) -> Kind:
        """The kind of a dict's values."""
        return self.parts[1]

    @property
    def may_cross(self) -> bool:
        """Whether values of it come from Python's objects and become such."""
        return self.family not in ("object", "address") and all(p.may_cross for p in self.parts)


INT: Final = Kind("int")
FLOAT: Final = Kind("float")
BOOL: Final = Kind("bool")
NONE: Final = Kind("none")
STR: Final = Kind("str")
ADDRESS: Final = Kind("address")


def list_of(element: Kind) -> Kind:
    """Lists of a kind."""
    return Kind("list", (element,))


def tuple_of(parts: Sequence[Kind]) -> Kind:
    """Tuples of some kinds."""
    return Kind("tuple", tuple(parts))


_ALONE: Final[dict[Type, Kind]] = {
    **{INT_TYPE: INT, FLOAT_TYPE: FLOAT, BOOL_TYPE: BOOL, STRING_TYPE: STR, NONE_TYPE: NONE}
}
_KEYS: Final = (INT, FLOAT, BOOL, STR)


def kind_of(type: Type) -> Kind:
    """The kind of values of a type.

    Raises:
        NotNative: native code has no such values.
    """
    found = _ALONE.get(type)
    if found is not None:
        return found
    if type.list_of is not None:
        return list_of(kind_of(type.list_of))
    if isinstance(type, DictType):
        kind = Kind("dict", (kind_of(type.key), kind_of(type.value)))
        if kind.key in _KEYS:
            return kind
    elif type.tuple_of and type.tuple_name is None:
        return tuple_of([kind_of(part) for part in type.tuple_of])
    elif isinstance(type, ClassType) and not type.is_module:
        return Kind("object", (), type.qualified_name)
    raise NotNative


Known = dict[str, Kind]
"""The kinds that the type variables of a schema stand for."""


def matches(form: Native, signature: Signature, kinds: Sequence[Kind]) -> Known | None:
    """What a form's type variables stand for if it takes operands of these kinds."""
    if form.of:
        texts = " ".join(_text(kind) for kind in kinds)
        return {} if texts in form.of else None
    known: Known = {}
    wanted = [argument.type for argument in signature.arguments]
    if all(_is_like(want, kind, known) for want, kind in zip(wanted, kinds, strict=False)):
        return known
    return None


def _text(kind: Kind) -> str:
    """As a type is written in schemas."""
    return f"{_text(kind.element)}[]" if kind.family == "list" else kind.family


def _is_like(wanted: Type, kind: Kind, known: Known) -> bool:
    """Whether an operand is of the kind that a schema wants."""
    if wanted.variable is not None:
        return known.setdefault(wanted.variable, kind) == kind
    if wanted.optional_of is not None:
        return kind == NONE or _is_like(wanted.optional_of, kind, known)
    if wanted.list_of is not None:
        return kind.family == "list" and _is_like(wanted.list_of, kind.element, known)
    if isinstance(wanted, DictType):
        return (
            kind.family == "dict"
            and _is_like(wanted.key, kind.key, known)
            and _is_like(wanted.value, kind.value, known)
        )
    return _ALONE.get(wanted) == kind


def bound(result: Type, known: Known) -> Kind:
    """The kind of a schema's result."""
    if result.variable is not None:
        return known[result.variable]
    if result.list_of is not None:
        return list_of(bound(result.list_of, known))
    if result.tuple_of:
        return tuple_of([bound(part, known) for part in result.tuple_of])
    if isinstance(result, DictType):
        return Kind("dict", (bound(result.key, known), bound(result.value, known)))
    return kind_of(result)
