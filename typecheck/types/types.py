"""The types of the language; those that hold functions are in `class_types.py`.

A type has three spellings: `str(t)` is the one of graph text and operator schemas (`int[]`,
`Dict(str, int)`, `Tensor?`), `t.annotation_str` the one of serialized code (`List[int]`,
`Optional[Tensor]`), `t.python` the one of messages (`list[int]`, `Tensor | None`).

Types compare by structure; what programs declare by identity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeVar

from ...frontend.limits.bounds import BoundExceeded
from ...frontend.syntax.places import Place

MOST_PARTS = 1 << 16
"""How many parts a type may have, each counted as often as it is written; a flat one may have
any number."""

DEEPEST = 100
"""How deep types may lie in each other."""


class Type:
    """A type; `contained` are its type arguments, in order.

    `size` counts the parts that its text spells, `depth` how deep they lie in each other.
    `is_module` says that its values are modules, `is_live` that they are one live module, and
    `container` which kind of container that is ("" for none): see `ClassType`.
    `list_of`, `tuple_of`, `dict_of` (key and value) and `optional_of` are what a type of that kind
    holds, None of all others; lists and dicts are collections; `fields` are the names that a
    NamedTuple gives to its elements, `tuple_name` is its own.  `enum_members` are the names and
    values of an enumeration, `variable` is the name of a type variable.
    `alternatives` are the types of which a value has one: of `int?`, which `is_choice` as each
    `is_union` is, they are `int` and `NoneType`; `inner` is what an optional type is where it is
    not None.  `is_class` and `is_interface` say that it is a class or interface, which has methods,
    `is_declared` that a program declares it, `is_mutable` that its values can be changed
    themselves, whatever is in them.
    """

    size = 1
    depth = 1
    is_module: bool = False
    is_live: bool = False
    container: str = ""
    is_choice: bool = False
    is_union: bool = False
    is_collection: bool = False
    is_enum: bool = False
    is_variable: bool = False
    is_declared: bool = False
    is_class: bool = False
    is_interface: bool = False
    is_mutable: bool = False

    @property
    def contained(self) -> tuple[Type, ...]:
        return ()

    @property
    def list_of(self) -> Type | None:
        return None

    @property
    def tuple_of(self) -> tuple[Type, ...] | None:
        return None

    @property
    def dict_of(self) -> tuple[Type, Type] | None:
        return None

    @property
    def optional_of(self) -> Type | None:
        return None

    @property
    def inner(self) -> Type:
        return self

    @property
    def alternatives(self) -> tuple[Type, ...]:
        return (self,)

    @property
    def fields(self) -> tuple[str, ...]:
        return ()

    @property
    def tuple_name(self) -> str | None:
        return None

    @property
    def enum_members(self) -> tuple[tuple[str, object], ...]:
        return ()

    @property
    def variable(self) -> str | None:
        return None

    def with_contained(self, parts: tuple[Type, ...]) -> Type:
        """The same type over other arguments."""
        return self

    def slot_type(self, name: str) -> Type | None:
        """The type of the attribute that objects have by that name; None of what is none."""
        return None

    def method(self, name: str) -> object | None:
        """The method of that name, if values have it."""
        return None

    def magic(self, name: str) -> object | None:
        """The method of that name that an operator or builtin calls, if values have it."""
        return None

    def place(self, name: str) -> Place | None:
        """Where the Python class that it is made of, if any, sets an attribute first."""
        return None

    @property
    def annotation_str(self) -> str:
        return str(self)

    @property
    def python(self) -> str:
        return self.annotation_str


@dataclass(frozen=True)
class SimpleType(Type):
    """A type without arguments: its spelling in graphs, in serialized code and in messages."""

    text: str
    annotation: str = ""
    spelling: str = ""

    def __eq__(self, other: object) -> bool:  # which is asked more than anything else
        if self is other:
            return True
        if other.__class__ is not SimpleType or self.text != other.text:
            return False
        return (self.annotation, self.spelling) == (other.annotation, other.spelling)

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    @property
    def annotation_str(self) -> str:
        return self.annotation or self.text

    @property
    def python(self) -> str:
        return self.spelling or self.annotation or self.text


TENSOR = SimpleType("Tensor")
INFERRED_TENSOR = SimpleType("Tensor")
"""That of parameters without annotation: the same type, which exits tell apart, as in torch."""
INT = SimpleType("int")
FLOAT = SimpleType("float")
COMPLEX = SimpleType("complex")
BOOL = SimpleType("bool")
STRING = SimpleType("str")
NUMBER = SimpleType("Scalar", "number", "number")
NONE = SimpleType("NoneType", "NoneType", "None")
ANY = SimpleType("Any")
DEVICE = SimpleType("Device", "Device", "torch.device")
GENERATOR = SimpleType("Generator", "Generator", "torch.Generator")
STREAM = SimpleType("Stream", "Stream", "torch.Stream")
STORAGE = SimpleType("Storage")
CAPSULE = SimpleType("Capsule")
ANY_LIST = SimpleType("list", "list")
ANY_TUPLE = SimpleType("tuple", "tuple")
ANY_CLASS = SimpleType("AnyClassType", "AnyClassType")
ANY_ENUM = SimpleType("AnyEnumType", "AnyEnumType")
UNKNOWN = SimpleType("<unknown>")
"""The type of what could not be checked; it agrees with everything, so one fault is told once."""


class CompoundType(Type):
    """A type with arguments, which may share parts: what is asked of all of them is kept.

    Making one raises BoundExceeded if it spells more than `MOST_PARTS` parts (or sixteen times as
    many as it has arguments) or is deeper than `DEEPEST`.  So no walk over a type is long.
    """

    def __post_init__(self) -> None:
        size = depth = 1
        for part in self.contained:
            size += part.size
            if part.depth >= depth:
                depth = part.depth + 1
        if size > MOST_PARTS and size > 16 * len(self.contained):
            raise BoundExceeded(f"a type has {size} parts (the limit is {MOST_PARTS})")
        if depth > DEEPEST:
            raise BoundExceeded(f"types lie more than {DEEPEST} deep in each other")
        kept = self.__dict__
        kept["size"], kept["depth"] = size, depth


_T = TypeVar("_T", bound=type[CompoundType])


def _hashed_once(cls: _T) -> _T:
    """Keep the hash of each type, which for shared parts would be computed again and again."""
    compute = cls.__hash__

    def __hash__(self: CompoundType) -> int:
        kept = self.__dict__
        if "_hash" not in kept:
            kept["_hash"] = compute(self)
        return int(kept["_hash"])

    cls.__hash__ = __hash__  # type: ignore[assignment]
    return cls


@dataclass(frozen=True)
class VariableType(Type):
    """A type variable of an operator schema, such as the `t` of `aten::append.t`."""

    name: str
    is_variable = True
    is_mutable = True

    @property
    def variable(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name


@_hashed_once
@dataclass(frozen=True)
class ListType(CompoundType):
    element: Type
    is_collection = True
    is_mutable = True

    @property
    def contained(self) -> tuple[Type, ...]:
        return (self.element,)

    @property
    def list_of(self) -> Type:
        return self.element

    def with_contained(self, parts: tuple[Type, ...]) -> Type:
        return ListType(*parts)

    def __str__(self) -> str:
        return f"{self.element}[]"

    @property
    def annotation_str(self) -> str:
        return f"List[{self.element.annotation_str}]"

    @property
    def python(self) -> str:
        return f"list[{self.element.python}]"


@_hashed_once
@dataclass(frozen=True)
class DictType(CompoundType):
    key: Type
    value: Type
    is_collection = True
    is_mutable = True

    @property
    def contained(self) -> tuple[Type, ...]:
        return (self.key, self.value)

    @property
    def dict_of(self) -> tuple[Type, Type]:
        return (self.key, self.value)

    def with_contained(self, parts: tuple[Type, ...]) -> Type:
        return DictType(*parts)

    def __str__(self) -> str:
        return f"Dict({self.key}, {self.value})"

    @property
    def annotation_str(self) -> str:
        return f"Dict[{self.key.annotation_str}, {self.value.annotation_str}]"

    @property
    def python(self) -> str:
        return f"dict[{self.key.python}, {self.value.python}]"


@_hashed_once
@dataclass(frozen=True)
class TupleType(CompoundType):
    """A tuple; `name` and `fields` are set for a NamedTuple, and `defaults` if it has any."""

    elements: tuple[Type, ...]
    name: str | None = None
    fields: tuple[str, ...] = ()
    defaults: tuple[tuple[str, object], ...] = field(default=(), compare=False)

    @property
    def contained(self) -> tuple[Type, ...]:
        return self.elements

    @property
    def tuple_of(self) -> tuple[Type, ...]:
        return self.elements

    @property
    def tuple_name(self) -> str | None:
        return self.name

    def with_contained(self, parts: tuple[Type, ...]) -> Type:
        return TupleType(parts, self.name, self.fields, self.defaults)

    def __str__(self) -> str:
        if self.name is not None:
            fields = zip(self.fields, self.elements, strict=True)
            return f"NamedTuple({', '.join(f'{n} : {t}' for n, t in fields)})"
        return f"({', '.join(map(str, self.elements))})"

    @property
    def annotation_str(self) -> str:
        if self.name is not None:
            return self.name
        return f"Tuple[{', '.join(t.annotation_str for t in self.elements) or '()'}]"

    @property
    def python(self) -> str:
        if self.name is not None:
            return self.name.rpartition(".")[2]
        return f"tuple[{', '.join(t.python for t in self.elements) or '()'}]"


@_hashed_once
@dataclass(frozen=True)
class OptionalType(CompoundType):
    """`element` or None.  Make it with `relations.optional`, which keeps the form canonical."""

    element: Type
    is_choice = True

    @property
    def contained(self) -> tuple[Type, ...]:
        return (self.element,)

    @property
    def optional_of(self) -> Type:
        return self.element

    @property
    def inner(self) -> Type:
        return self.element

    @property
    def alternatives(self) -> tuple[Type, ...]:
        return (*self.element.alternatives, NONE)

    def with_contained(self, parts: tuple[Type, ...]) -> Type:
        return OptionalType(*parts)

    def __str__(self) -> str:
        return f"{self.element}?"

    @property
    def annotation_str(self) -> str:
        return f"Optional[{self.element.annotation_str}]"

    @property
    def python(self) -> str:
        return f"{self.element.python} | None"


@_hashed_once
@dataclass(frozen=True)
class UnionType(CompoundType):
    """One of several types, never just one type and None.  Make it with `relations.union`."""

    members: tuple[Type, ...]
    is_choice = True
    is_union = True

    @property
    def contained(self) -> tuple[Type, ...]:
        return self.members

    @property
    def alternatives(self) -> tuple[Type, ...]:
        return tuple(each for member in self.members for each in member.alternatives)

    def with_contained(self, parts: tuple[Type, ...]) -> Type:
        return UnionType(parts)

    def __str__(self) -> str:
        return f"Union({', '.join(map(str, self.members))})"

    @property
    def annotation_str(self) -> str:
        return f"Union[{', '.join(t.annotation_str for t in self.members)}]"

    @property
    def python(self) -> str:
        return " | ".join(t.python for t in self.members)


@_hashed_once
@dataclass(frozen=True)
class FutureType(CompoundType):
    """What `fork` gives (`Future`), or an unfinished `_Await`."""

    element: Type
    kind: Literal["Future", "Await", "RRef"] = "Future"
    is_mutable = True

    @property
    def contained(self) -> tuple[Type, ...]:
        return (self.element,)

    def with_contained(self, parts: tuple[Type, ...]) -> Type:
        return FutureType(parts[0], self.kind)

    def __str__(self) -> str:
        return f"{self.kind}({self.element})"

    @property
    def annotation_str(self) -> str:
        return f"{self.kind}[{self.element.annotation_str}]"

    @property
    def python(self) -> str:
        return f"{self.kind}[{self.element.python}]"


class NamedType(Type):
    """A type that programs declare: `qualified_name` is its name with that of its namespace."""

    qualified_name: str
    is_declared = True

    @property
    def name(self) -> str:
        """The unqualified name."""
        return self.qualified_name.rpartition(".")[2]

    @property
    def annotation_str(self) -> str:
        return self.qualified_name

    @property
    def python(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class EnumType(NamedType):
    """An enumeration: its value type and its members, in order."""

    qualified_name: str
    value: Type
    members: tuple[tuple[str, object], ...]
    is_enum = True

    @property
    def enum_members(self) -> tuple[tuple[str, object], ...]:
        return self.members

    def __str__(self) -> str:
        return f"Enum<{self.qualified_name}>"


def element_is_evident(type: Type) -> bool:
    """Whether elements of a container show that its element type is `type`."""
    if type in (ANY, NUMBER):
        return False
    return not type.is_choice and not type.is_interface


_SIMPLE = (
    *(TENSOR, INT, FLOAT, COMPLEX, BOOL, STRING, NUMBER, NONE, ANY, DEVICE),
    *(GENERATOR, STREAM, STORAGE, CAPSULE, ANY_CLASS, ANY_ENUM),
)

SIMPLE_TYPES: dict[str, Type] = {
    **{t.text: t for t in _SIMPLE},
    "number": NUMBER,
    "ScalarType": INT,
    "Layout": INT,
    "MemoryFormat": INT,
    "SymInt": INT,
    "QScheme": INT,
    "Dimname": STRING,
    "DeviceIndex": INT,
    "AnyList": ANY_LIST,
    "list": ANY_LIST,
    "AnyTuple": ANY_TUPLE,
    "tuple": ANY_TUPLE,
}
"""What the words of schema text mean; dtypes, layouts and memory formats are ints, as in torch."""
