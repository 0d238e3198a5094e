"""Signatures as text: torch's, for its own sentences, and Python's, for messages."""

from __future__ import annotations

from typing import Final

from ...frontend.syntax.literal_text import complex_text, escape, float_text
from ..types.types import INT, DictType, ListType, OptionalType, TupleType, Type
from .schema import AliasInfo, Argument, Signature

__all__ = ["expected_text", "python_default", "python_signature", "torch_signature", "type_text"]


def torch_signature(signature: Signature, *, name: str | None = None) -> str:
    """`aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`"""
    parts: list[str] = []
    keyword_only = False
    for argument in signature.arguments:
        if argument.keyword_only and not keyword_only:
            keyword_only = True
            parts.append("*")
        parts.append(_argument_text(argument))
    if signature.vararg:
        parts.append("...")
    return f"{name or signature.full_name}({', '.join(parts)}) -> {_returns_text(signature)}"


def _returns_text(signature: Signature) -> str:
    if signature.varret:
        return "..."
    returns = [_argument_text(result) for result in signature.returns]
    if len(returns) == 1 and not returns[0].startswith("("):
        return returns[0]
    return f"({', '.join(returns)})"


def _argument_text(argument: Argument) -> str:
    text = _type_text(argument.type, argument)
    if argument.name:
        text += f" {argument.name}"
    if argument.has_default:
        text += f"={_default_text(_shortened(argument))}"
    return text


def _type_text(type: Type, argument: Argument) -> str:
    """The type; the number of elements and the alias mark stand inside `?` and around `[]`."""
    if type.optional_of is not None:
        return f"{_type_text(type.optional_of, argument)}?"
    if (element := type.list_of) is not None:
        size = "" if argument.size is None else str(argument.size)
        text = argument.word or type_text(element)
        if argument.alias is not None and argument.alias.of_elements:
            return f"{text}{_alias_text(argument.alias)}[{size}]"
        return f"{text}[{size}]{_alias_text(argument.alias)}"
    return f"{argument.word or type_text(type)}{_alias_text(argument.alias)}"


def _alias_text(alias: AliasInfo | None) -> str:
    if alias is None:
        return ""
    text = "|".join(alias.sets) + ("!" if alias.is_write else "")
    return f"({text} -> {'|'.join(alias.after)})" if alias.after else f"({text})"


def _shortened(argument: Argument) -> object:
    """The default; of a list of several equal integers one of them, as torch writes it."""
    value = argument.default
    if argument.word or argument.type.list_of != INT:
        return value
    if isinstance(value, list) and len(value) > 1:
        return value[0] if value.count(value[0]) == len(value) else value
    return value


def _default_text(value: object, *, inside: bool = False) -> str:
    """A default; strings in lists and tuples stand without quotes, as torch writes them."""
    match value:
        case float():
            return float_text(value)
        case complex():
            return complex_text(value)
        case str():
            return value if inside else escape(value)
        case list():
            return f"[{', '.join(_default_text(part, inside=True) for part in value)}]"
        case tuple():
            parts = ", ".join(_default_text(part, inside=True) for part in value)
            return f"({parts}{',' * (len(value) == 1)})"
    return str(value)


def expected_text(type: Type) -> str:
    """The type where an error says what was expected or found."""
    return str(type) if type.is_enum else type.annotation_str


def type_text(type: Type) -> str:
    """The type as schemas write it: by its name what graphs spell out, tuples with fields."""
    match type:
        case TupleType(_, None, _):
            return f"({', '.join(map(type_text, type.contained))})"
        case TupleType():
            return type.annotation_str
        case ListType(element):
            return f"{type_text(element)}[]"
        case OptionalType(element):
            return f"{type_text(element)}?"
        case DictType(key, value):
            return f"Dict({type_text(key)}, {type_text(value)})"
    return str(type)


def python_signature(signature: Signature, *, bound: bool = False) -> str:
    """`cat(tensors: list[Tensor], dim: int = 0) -> Tensor`; `bound` leaves the first out."""
    arguments = signature.arguments[1:] if bound else signature.arguments
    parts: list[str] = []
    keyword_only = False
    for argument in arguments:
        if argument.keyword_only and not keyword_only:
            keyword_only = True
            parts.append("*")
        text = f"{argument.name}: {python_type(argument)}"
        if argument.has_default:
            text += f" = {python_default(argument.default)}"
        parts.append(text)
    if signature.vararg:
        parts.append("*more")
    returns = [r.type.python for r in signature.returns]
    text = returns[0] if len(returns) == 1 else f"tuple[{', '.join(returns)}]"
    if not returns:
        text = "None"
    name = signature.name.rpartition("::")[2].rpartition(".")[2]
    return f"{name}({', '.join(parts)}) -> {text}"


_WORDS: Final = {
    "ScalarType": "torch.dtype",
    "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
}
"""What numbers that stand for something else are in Python."""


def python_type(argument: Argument) -> str:
    """The type of a parameter as users know it: `torch.dtype` for the number of a dtype."""
    if argument.word in _WORDS:
        return argument.type.python.replace("int", _WORDS[argument.word])
    if argument.size is not None:
        element = argument.type.inner.contained[0].python
        return f"{element} | {argument.type.python}"
    return argument.type.python


def python_default(value: object) -> str:
    return repr(list(value)) if isinstance(value, tuple) else repr(value)
