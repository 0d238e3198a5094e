"""The types of mobile archives, written as text: `List[int]`, `Dict[str,int]`, class names and
`__torch__.P[NamedTuple, [[a, int],[b, str]]]`."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...typecheck.definitions.class_types import ClassType
from ...typecheck.scopes.annotations import TYPE_NAMES
from ...typecheck.types.types import (
    ANY,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)
from ..files.errors import archive_error

__all__ = ["mobile_type", "mobile_type_text"]

_WORD = re.compile(r"\s*([\w.]+|[\[\],()])")
_DEEPEST = 64


def mobile_type(text: str, class_named: Callable[[str], Type | None]) -> Type:
    """The type of a text; what names an unknown class is `Any`.

    Raises:
        ArchiveError: it is no type.
    """
    parser = _Parser(text, class_named)
    type = parser.type(0)
    if parser.words:
        raise parser.error()
    return type


class _Parser:
    def __init__(self, text: str, class_named: Callable[[str], Type | None]) -> None:
        self.text = text
        self.words = _WORD.findall(text)[::-1]
        self.class_named = class_named

    def error(self) -> Exception:
        return archive_error("damaged-archive", f"`bytecode.pkl` has no type: {self.text!r}")

    def take(self, wanted: str = "") -> str:
        word = self.words.pop() if self.words else ""
        if not word or (wanted and word != wanted):
            raise self.error()
        return str(word)

    def seen(self, word: str) -> bool:
        return bool(self.words) and self.words[-1] == word

    def type(self, depth: int) -> Type:
        if depth > _DEEPEST:
            raise self.error()
        name = self.take()
        if not self.seen("["):
            return TYPE_NAMES.get(name) or self.class_named(name) or ANY
        self.take("[")
        if self.seen("NamedTuple"):
            return self.named_tuple(name, depth)
        if self.seen("("):
            self.take("(")
            self.take(")")
            self.take("]")
            return TupleType(())
        parts = [self.type(depth + 1)]
        while self.seen(","):
            self.take(",")
            parts.append(self.type(depth + 1))
        self.take("]")
        return self.generic(name, parts)

    def generic(self, name: str, parts: list[Type]) -> Type:
        match name, parts:
            case "List", [element]:
                return ListType(element)
            case "Optional", [element]:
                return OptionalType(element)
            case "Dict", [key, value]:
                return DictType(key, value)
            case "Future" | "Await" | "RRef", [element]:
                return FutureType(element)
            case "Tuple", _:
                return TupleType(tuple(parts))
            case "Union", _:
                return UnionType(tuple(parts))
        raise self.error()

    def named_tuple(self, name: str, depth: int) -> Type:
        """What is left of `P[NamedTuple, [[a, int],[b, str]]]` after the first bracket."""
        self.take("NamedTuple")
        self.take(",")
        self.take("[")
        fields: list[str] = []
        types: list[Type] = []
        while not self.seen("]"):
            if fields:
                self.take(",")
            self.take("[")
            fields.append(self.take())
            self.take(",")
            types.append(self.type(depth + 1))
            self.take("]")
        self.take("]")
        self.take("]")
        return TupleType(tuple(types), name, tuple(fields))


def mobile_type_text(type: Type, name_of: Callable[[ClassType], str]) -> str:
    """The text of a type."""

    def inner(part: Type) -> str:
        return mobile_type_text(part, name_of)

    match type:
        case ClassType():
            return name_of(type)
        case TupleType(elements=elements, name=str(name), fields=fields):
            pairs = ",".join(f"[{f}, {inner(t)}]" for f, t in zip(fields, elements, strict=True))
            return f"{name}[NamedTuple, [{pairs}]]"
        case TupleType(elements=()):
            return "Tuple[()]"
        case TupleType(elements=elements):
            return f"Tuple[{', '.join(map(inner, elements))}]"
        case ListType(element=element):
            return f"List[{inner(element)}]"
        case OptionalType(element=element):
            return f"Optional[{inner(element)}]"
        case DictType(key=key, value=value):
            return f"Dict[{inner(key)}, {inner(value)}]"
    return type.annotation_str
