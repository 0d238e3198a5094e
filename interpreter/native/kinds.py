"""The kinds of values that native code computes with, and how they lie in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from ...frontend.foundations.value_class import value_class
from ...ir.graphs.graph import Node
from ...ops.table.inline import Native
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import ANY_ENUM, DictType, EnumType, Type, UnionType
from ...typecheck.types.types import BOOL as BOOL_TYPE
from ...typecheck.types.types import COMPLEX as COMPLEX_TYPE
from ...typecheck.types.types import DEVICE as DEVICE_TYPE
from ...typecheck.types.types import FLOAT as FLOAT_TYPE
from ...typecheck.types.types import INT as INT_TYPE
from ...typecheck.types.types import NONE as NONE_TYPE
from ...typecheck.types.types import STRING as STRING_TYPE
from ...typecheck.types.types import TENSOR as TENSOR_TYPE

__all__ = [
    *("ADDRESS", "ARRAY", "BOOL", "COMPLEX", "DEVICE", "FLOAT", "INT", "MADE", "NONE", "STR"),
    *("Kind", "NotNative", "bound", "holds_arrays", "is_convertible", "kind_of"),
    *("list_of", "lists_tensors", "matches"),
    *("optional_of", "shown", "tuple_of"),
]


class NotNative(Exception):
    """There is no native form of this; the text says of what."""


_LLVM: Final = {
    **{"int": "i64", "float": "double", "bool": "i1", "none": "i1", "str": "{ ptr, i64 }"},
    **{"address": "ptr", "list": "ptr", "dict": "ptr", "object": "ptr"},
    **{"enum": "i64", "place": "i1"},
}
_LETTERS: Final = {
    **{"int": "i", "float": "f", "bool": "b", "none": "n", "str": "s", "address": "p"},
    **{"list": "L", "dict": "D", "tuple": "T", "optional": "Q", "object": "O", "enum": "E"},
    **{"union": "U", "array": "A", "place": "V", "c128": "Z"},
}


@value_class(frozen=True, slots=True)
class Kind:
    """A kind of values, by its family.

    Numbers, truth values and addresses are words; a `str` is where its bytes begin and how many
    they are, a tuple its `parts` side by side, an optional its part and whether it is there, a
    union the place of its kind among its `parts` and room for each of them, the
    member of an enumeration its place among them.  Lists, dicts and objects of the class `name` are
    reached by address; their `parts` are what they hold.  Tensors are known by their words
    (`library/arrays.native`), which are the `parts`.  `type` is that of classes, enumerations
    and NamedTuples.
    """

    family: str
    parts: tuple[Kind, ...] = ()
    name: str = ""
    type: Type | None = field(default=None, compare=False, repr=False)

    @property
    def llvm(self) -> str:
        """LLVM's type."""
        if self.family in ("tuple", "array", "c128"):
            return "{ " + ", ".join(part.llvm for part in self.parts) + " }"
        if self.family == "optional":
            return f"{{ {self.parts[0].llvm}, i1 }}"
        if self.family == "union":
            return "{ i64, " + ", ".join(part.llvm for part in self.parts) + " }"
        return _LLVM[self.family]

    @property
    def letters(self) -> str:
        """What tells it apart in names."""
        name = f"{len(self.name)}_{re.sub(r'[^A-Za-z0-9]', '_', self.name)}_" if self.name else ""
        inside = "".join(part.letters for part in self.parts)
        count = f"{len(self.parts)}{inside}" if self.parts else ""
        return f"{_LETTERS[self.family]}{name}{count}"

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
            raise NotNative(f"{self.family} is no list")
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
        if self.family == "array":
            return True
        return self.family not in ("address", "place") and all(p.may_cross for p in self.parts)


INT: Final = Kind("int")
FLOAT: Final = Kind("float")
BOOL: Final = Kind("bool")
NONE: Final = Kind("none")
STR: Final = Kind("str")
COMPLEX: Final = Kind("c128", (FLOAT, FLOAT))
ADDRESS: Final = Kind("address")
DEVICE: Final = Kind("place")
ARRAY: Final = Kind("array", (ADDRESS, ADDRESS, ADDRESS, INT, INT, ADDRESS, ADDRESS))
MADE: Final = Kind("array", ARRAY.parts, "made")
"""Tensors whose numbers lie side by side in memory of the call."""


def list_of(element: Kind) -> Kind:
    """Lists of a kind."""
    return Kind("list", (element,))


def tuple_of(parts: Sequence[Kind]) -> Kind:
    """Tuples of some kinds."""
    return Kind("tuple", tuple(parts))


def optional_of(part: Kind) -> Kind:
    """Values of a kind, or None."""
    return Kind("optional", (part,))


def is_convertible(kind: Kind, wanted: Kind) -> bool:
    """Whether a value of a kind is one of another, as types say: None and what may be None, a
    NamedTuple and its elements, one of several kinds and each of them."""
    if kind == wanted or (kind == MADE and wanted == ARRAY):
        return True
    if "union" in (kind.family, wanted.family):
        return _are_of_one_union(kind, wanted)
    if wanted.family == "optional":
        inner = kind.parts[0] if kind.family == "optional" else kind
        return kind == NONE or is_convertible(inner, wanted.parts[0])
    if kind.family == "optional":
        return is_convertible(kind.parts[0], wanted)
    return (
        kind.family == wanted.family == "tuple"
        and len(kind.parts) == len(wanted.parts)
        and all(map(is_convertible, kind.parts, wanted.parts))
    )


def _are_of_one_union(kind: Kind, wanted: Kind) -> bool:
    """Whether all kinds of one are among those of the other, a union."""
    some, others = set(_choices(kind)), set(_choices(wanted))
    if wanted.family == "union":
        return some <= others or (kind.family == "union" and others <= some)
    return others <= some


def _choices(kind: Kind) -> tuple[Kind, ...]:
    if kind.family == "optional":
        return (*kind.parts, NONE)
    return kind.parts if kind.family == "union" else (kind,)


_ALONE: Final[dict[Type, Kind]] = {
    **{INT_TYPE: INT, FLOAT_TYPE: FLOAT, BOOL_TYPE: BOOL, STRING_TYPE: STR, NONE_TYPE: NONE},
    **{COMPLEX_TYPE: COMPLEX, DEVICE_TYPE: DEVICE, TENSOR_TYPE: ARRAY},
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
    elif type.tuple_of:
        named = None if type.tuple_name is None else type
        parts = tuple(map(kind_of, type.tuple_of))
        return Kind("tuple", parts, type.tuple_name or "", named)
    elif type.optional_of is not None:
        return optional_of(kind_of(type.optional_of))
    elif isinstance(type, UnionType):
        return _union_of([kind_of(part) for part in type.alternatives])
    elif isinstance(type, ClassType):
        return Kind("object", (), type.qualified_name, type)
    elif isinstance(type, EnumType):
        return Kind("enum", (), type.qualified_name, type)
    raise NotNative(f"values of type {type}")


def holds_arrays(kind: Kind) -> bool:
    """Whether tensors are in there."""
    return kind.family == "array" or any(map(holds_arrays, kind.parts))


def shown(kind: Kind) -> str:
    """A kind as reasons name it."""
    if not kind.parts:
        return kind.name or kind.family
    return f"{kind.name or kind.family}[{', '.join(map(shown, kind.parts))}]"


def lists_tensors(node: Node) -> bool:
    """Whether a node makes a list of tensors, each of which is there."""
    element = node.outputs[0].type.list_of if node.kind == "prim::ListConstruct" else None
    is_of_tensors = element is not None and TENSOR_TYPE in (element, element.optional_of)
    return is_of_tensors and all(each.type == TENSOR_TYPE for each in node.inputs)


_TOLD_APART: Final = (
    *("int", "float", "bool", "none", "str", "c128"),
    *("list", "dict", "tuple", "object"),
)
"""Families whose values Python has classes of their own for."""


def _union_of(parts: Sequence[Kind]) -> Kind:
    """Values of one of some kinds.

    Raises:
        NotNative: the classes of Python's values do not tell them apart.
    """
    families = [part.family for part in parts]
    is_told = len(set(families)) == len(families) and all(each in _TOLD_APART for each in families)
    if not is_told or any(part.family == "tuple" and part.name for part in parts):
        raise NotNative(f"values of one of {', '.join(families)}")
    return Kind("union", tuple(parts))


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
    """Whether an operand is of the kind that a schema wants, or can be made so."""
    if wanted.variable is not None:
        found = known.setdefault(wanted.variable, kind)
        if is_convertible(found, kind) and not is_convertible(kind, found):
            known[wanted.variable] = kind
            return True
        return is_convertible(kind, found)
    if wanted.optional_of is not None:
        if kind.family == "optional":
            return False  # there is one way for a value and one for None
        return kind == NONE or _is_like(wanted.optional_of, kind, known)
    if wanted.list_of is not None:
        return kind.family == "list" and _is_exactly(wanted.list_of, kind.element, known)
    if isinstance(wanted, DictType):
        return (
            kind.family == "dict"
            and _is_exactly(wanted.key, kind.key, known)
            and _is_exactly(wanted.value, kind.value, known)
        )
    if wanted.tuple_of:
        return kind.family == "tuple" and all(
            _is_exactly(want, part, known)
            for want, part in zip(wanted.tuple_of, kind.parts, strict=True)
        )
    if wanted == TENSOR_TYPE:
        return kind.family == "array"
    return kind.family == "enum" if wanted == ANY_ENUM else _ALONE.get(wanted) == kind


def _is_exactly(wanted: Type, kind: Kind, known: Known) -> bool:
    """The same of what containers hold, which stays as it is."""
    if wanted.variable is None:
        return _is_like(wanted, kind, known)
    found = known.get(wanted.variable, kind)
    known[wanted.variable] = kind
    return is_convertible(found, kind)


def bound(result: Type, known: Known) -> Kind:
    """The kind of a schema's result.

    Raises:
        NotNative: nothing says what a type variable stands for.
    """
    if result.variable is not None:
        if result.variable not in known:
            raise NotNative("None alone")
        return known[result.variable]
    if result.list_of is not None:
        return list_of(bound(result.list_of, known))
    if result.tuple_of:
        return tuple_of([bound(part, known) for part in result.tuple_of])
    if isinstance(result, DictType):
        return Kind("dict", (bound(result.key, known), bound(result.value, known)))
    if result.optional_of is not None:
        inner = bound(result.optional_of, known)
        return inner if inner.family == "optional" else optional_of(inner)
    return kind_of(result)
