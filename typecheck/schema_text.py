"""Operator schema text -> Signature.

    aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

Type words that are not types (`t`, `t1`) are type variables; a dtype, layout or memory format is an
int, as in torch's own script signatures.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ..frontend.bounds import bounded
from ..grammar import load
from .builtin_classes import builtin_class
from .schema import NO_DEFAULT, AliasInfo, Argument, Signature
from .types import (
    INT,
    SIMPLE_TYPES,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
    VariableType,
)

if TYPE_CHECKING:
    from lark import Tree

__all__ = ["SchemaError", "parse_schema"]


class SchemaError(ValueError):
    """A schema text that cannot be read; the message says where."""


def parse_schema(text: str) -> Signature:
    """The signature a schema text describes.

    Raises:
        SchemaError: the text is not a schema.
    """
    from lark.exceptions import LarkError

    try:
        parsed: Tree[Any] = load("schema").parse(text)
    except LarkError as error:
        raise SchemaError(f"not an operator schema: {text!r}: {error}") from None
    operator, arguments, returns = parsed.children
    name, *overload = map(str, operator.children)
    with bounded("the schema", SchemaError):
        read, vararg = _arguments(arguments)
        results, varret = _returns(returns)
    return Signature(name, overload[0] if overload else "", read, results, vararg, varret)


def _arguments(parsed: Tree[Any]) -> tuple[tuple[Argument, ...], bool]:
    found: list[Argument] = []
    keyword_only = vararg = False
    for child in parsed.children:
        if isinstance(child, str):
            vararg = True
        elif child.data == "keyword_mark":
            keyword_only = True
        else:
            found.append(_argument(child, keyword_only))
    return tuple(found), vararg


def _argument(parsed: Tree[Any], keyword_only: bool) -> Argument:
    type_tree, name, *default = parsed.children
    type, size, alias = _type(type_tree)
    value = _default(default[0], type) if default else NO_DEFAULT
    return Argument(str(name), type, value, keyword_only, size, alias, _word(type_tree))


def _returns(parsed: Tree[Any]) -> tuple[tuple[Argument, ...], bool]:
    if not parsed.children:
        return (), False
    (only,) = parsed.children
    if isinstance(only, str):
        return (), True
    basic, *suffixes = only.children[0].children
    if basic.data == "tuple" and not suffixes:
        return tuple(map(_result, basic.children)), False
    return (_result(only),), False


def _result(parsed: Tree[Any]) -> Argument:
    type_tree, *name = parsed.children
    type, size, alias = _type(type_tree)
    word = _word(type_tree)
    return Argument(str(name[0]) if name else "", type, size=size, alias=alias, word=word)


def _word(parsed: Tree[Any]) -> str:
    """What the schema calls a number that stands for something else; "" if it stands for none."""
    basic = parsed.children[0]
    word = str(basic.children[0]) if basic.data == "name" else ""
    return word if word != INT.text and SIMPLE_TYPES.get(word) is INT else ""


def _type(parsed: Tree[Any]) -> tuple[Type, int | None, AliasInfo | None]:
    """The type, the N of a trailing `[N]`, and the alias mark."""
    basic, *suffixes = parsed.children
    type = _basic(basic)
    size: int | None = None
    alias: AliasInfo | None = None
    for suffix in suffixes:
        if suffix.data == "list":
            size = int(str(suffix.children[0])) if suffix.children else None
            type = ListType(type)
            if alias is not None:
                alias = AliasInfo(alias.sets, alias.is_write, alias.after, of_elements=True)
        elif suffix.data == "optional":
            type = OptionalType(type)
        else:
            alias = _alias(suffix)
    return type, size, alias


def _alias(parsed: Tree[Any]) -> AliasInfo:
    sets = [tuple(map(str, c.children)) for c in parsed.children if not isinstance(c, str)]
    is_write = any(isinstance(c, str) for c in parsed.children)
    return AliasInfo(sets[0], is_write, sets[1] if len(sets) > 1 else ())


def _basic(parsed: Tree[Any]) -> Type:
    if parsed.data in ("name", "class"):
        word = str(parsed.children[0])
        if parsed.data == "class":
            return builtin_class(word)
        return SIMPLE_TYPES.get(word) or VariableType(word)
    if parsed.data == "tuple":
        return TupleType(tuple(_result(child).type for child in parsed.children))
    parts = tuple(_type(child)[0] for child in parsed.children)
    match parsed.data:
        case "dict":
            return DictType(*parts)
        case "future":
            return FutureType(parts[0])
        case "await":
            return FutureType(parts[0], "Await")
        case "rref":
            return FutureType(parts[0], "RRef")
        case _:
            return UnionType(parts)


_WORDS: dict[str, object] = {
    "None": None,
    "True": True,
    "False": False,
    "Mean": 1,  # at::Reduction
    "Sum": 2,
    "contiguous_format": 0,
    "long": 4,
}


def _default(parsed: Tree[Any], type: Type) -> object:
    """A default's value; a whole number for a float argument is a float."""
    if parsed.data == "numbers":
        element = type.contained[0] if type.contained else type
        return [_default(child, element) for child in parsed.children]
    text = str(parsed.children[0])
    if parsed.data == "string":
        try:
            return ast.literal_eval(text)
        except SyntaxError:
            raise SchemaError(f"no text is {text[:80]}") from None
    if parsed.data == "word":
        if text not in _WORDS:
            raise SchemaError(f"unknown default {text}")
        return _WORDS[text]
    wants_float = "float" in str(type)
    if wants_float or not text.lstrip("-").isdigit():
        return float(text)
    return int(text)
