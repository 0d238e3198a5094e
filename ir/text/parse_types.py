"""Types in graph text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from ...typecheck.definitions.class_types import ClassType, FunctionType, InterfaceType
from ...typecheck.definitions.functions import Function
from ...typecheck.types.tensor_facts import RefinedTensor
from ...typecheck.types.types import (
    INT,
    SIMPLE_TYPES,
    DictType,
    EnumType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)
from .parse_literals import LiteralReader
from .text import SCALARS

if TYPE_CHECKING:
    from lark import Token, Tree

__all__ = ["TypeReader"]

_DEEPEST = 64
"""How many lists and options may lie in each other; what prints types is recursive."""


class TypeReader:
    """Makes types of syntax trees; `known` are classes and enumerations by qualified name."""

    def __init__(self, known: Mapping[str, Type]) -> None:
        self.known = dict(known)

    def read(self, tree: Tree[Token]) -> Type:
        basic, *suffixes = cast("list[Any]", tree.children)
        type = self.basic(basic)
        if len(suffixes) > _DEEPEST:
            raise RecursionError("a type is nested too deeply")
        for suffix in suffixes:
            type = ListType(type) if suffix.data == "list_type" else OptionalType(type)
        return type

    def basic(self, tree: Tree[Token]) -> Type:
        parts = cast("list[Any]", tree.children)
        match tree.data:
            case "dict_type":
                return DictType(self.read(parts[0]), self.read(parts[1]))
            case "task_type":
                kind = cast(Literal["Future", "Await", "RRef"], str(parts[0]))
                return FutureType(self.read(parts[1]), kind)
            case "union_type":
                return UnionType(tuple(map(self.read, parts)))
            case "tuple_type":
                return TupleType(tuple(map(self.read, parts)))
            case "named_tuple_type":
                fields = [(str(f.children[0]), self.read(f.children[1])) for f in parts]
                names, types = tuple(n for n, _ in fields), tuple(t for _, t in fields)
                read = LiteralReader().read
                given = [(f.children[0], f.children[2]) for f in parts if len(f.children) > 2]
                at = dict(fields)
                defaults = tuple((str(n), read(literal, at[str(n)])) for n, literal in given)
                return TupleType(types, None, names, defaults)
            case "enum_type":
                name = str(parts[0])
                return self.known.setdefault(name, EnumType(name, INT, ()))
            case "interface_type":
                name = str(parts[0])
                return self.known.setdefault(name, InterfaceType(name))
            case "class_type":
                name = str(parts[0])
                return self.known.setdefault(name, ClassType(name))
            case "tensor_type":
                return _tensor(str(parts[0]), parts[1:])
        return self.simple(str(parts[0]))

    def simple(self, name: str) -> Type:
        if name == "Function":
            return FunctionType(Function(""))
        if name.endswith("Tensor") and name[: -len("Tensor")] in SCALARS:
            return RefinedTensor(scalar=name[: -len("Tensor")])
        if name in SIMPLE_TYPES:
            return SIMPLE_TYPES[name]
        return self.known.setdefault(name, ClassType(name))


def _tensor(name: str, facts: Sequence[Tree[Token]]) -> Type:
    """`Float(2, *, strides=[3, 1], requires_grad=0, device=cpu)`."""
    sizes: list[int | None] = []
    notes: dict[str, list[str]] = {}
    for fact in facts:
        words = [str(token) for token in fact.children]
        if fact.data == "size":
            sizes.append(None if words[0] == "*" else int(words[0]))
        elif fact.data == "symbol":  # a size that is unknown, though the same as others
            sizes.append(None)
        else:
            notes[words[0]] = words[1:]
    strides = notes.get("strides")
    gradient = notes.get("requires_grad")
    device = notes.get("device")
    return RefinedTensor(
        scalar=None if name == "Tensor" else name.removesuffix("Tensor"),
        sizes=None if name.endswith("Tensor") and not sizes else tuple(sizes),
        strides=None if strides is None else tuple(map(int, strides)),
        requires_grad=None if gradient is None else gradient[0] != "0",
        device=None if device is None else ":".join(device),
    )
