"""Types in printed code: their spelling, their names, and which of them the code depends on."""

from __future__ import annotations

from collections.abc import Iterator

from ...typecheck.definitions.class_types import ClassType, FunctionType, InterfaceType
from ...typecheck.definitions.functions import Function
from ...typecheck.types.types import (
    DictType,
    EnumType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)

__all__ = [
    "Dependencies",
    "Named",
    "TypeNames",
    "named_type",
    "qualified_name",
]

Named = ClassType | InterfaceType | EnumType | TupleType | Function
"""What stands in a file of its namespace; a TupleType is one with a name."""


def qualified_name(named: Named) -> str:
    """The name the compiler gave."""
    return (named.name or "") if isinstance(named, TupleType) else named.qualified_name


def named_type(type: Type) -> Named | None:
    """What gives a type its name; the named results of operators (`values`, `indices`) do not."""
    if isinstance(type, FunctionType):
        return type.function
    if isinstance(type, ClassType | InterfaceType | EnumType):
        return type
    return type if isinstance(type, TupleType) and "." in (type.name or "") else None


class TypeNames:
    """Spells types.  If `unique`, as files need it, all names differ and have a namespace."""

    def __init__(self, unique: bool = False) -> None:
        self._unique = unique
        self._names: dict[Named, str] = {}
        self._taken: set[str] = set()
        self._mangled = 0

    def name_of(self, named: Named) -> str:
        """The qualified name `named` has in the printed code."""
        if not self._unique:
            return qualified_name(named)
        name = self._names.get(named)
        if name is None:
            name = qualified_name(named)
            if "." not in name:  # of a CompilationUnit; a file needs a namespace
                name = f"__torch__.{name}"
            while name in self._taken:
                name = self._mangle(name)
            self._names[named] = name
            self._taken.add(name)
        return name

    def _mangle(self, name: str) -> str:
        *path, last = name.split(".")
        if path and path[-1].startswith("___torch_mangle_"):
            path.pop()
        mangled = ".".join((*path, f"___torch_mangle_{self._mangled}", last))
        self._mangled += 1
        return mangled

    def spell(self, type: Type) -> str:
        """The annotation for `type`."""
        named = named_type(type)
        if named is not None:
            return self.name_of(named)
        parts = [self.spell(t) for t in type.contained]
        match type:
            case TupleType():
                return f"Tuple[{', '.join(parts) or '()'}]"
            case ListType():
                return f"List[{parts[0]}]"
            case DictType():
                return f"Dict[{parts[0]}, {parts[1]}]"
            case OptionalType():
                return f"Optional[{parts[0]}]"
            case UnionType():
                return f"Union[{', '.join(parts)}]"
            case FutureType():
                return f"{type.kind}[{parts[0]}]"
        return type.annotation_str


class Dependencies:
    """The named types and functions met so far, in order of first appearance.

    Iterating also visits what is added meanwhile.
    """

    def __init__(self) -> None:
        self._found: dict[Named, None] = {}
        self._order: list[Named] = []

    def add(self, named: Named) -> bool:
        """Add one; the result is whether it is new."""
        if named in self._found:
            return False
        self._found[named] = None
        self._order.append(named)
        return True

    def add_type(self, type: Type) -> None:
        """Add every named type in `type`, the attributes of classes included."""
        named = named_type(type)
        if named is not None and not self.add(named):
            return
        parts = (
            [a.type for a in type.attributes.values()]
            if isinstance(type, ClassType)
            else type.contained
        )
        for part in parts:
            self.add_type(part)

    def __iter__(self) -> Iterator[Named]:
        return iter(self._order)  # a list's iterator sees what is appended
