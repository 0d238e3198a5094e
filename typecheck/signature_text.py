"""Signatures as text: torch's, for its own sentences, and Python's, for messages."""

from __future__ import annotations

from .schema import Argument, Signature
from .types import DictType, ListType, OptionalType, TupleType, Type

__all__ = ["expected_text", "python_default", "python_signature", "torch_signature", "type_text"]


def torch_signature(signature: Signature, *, name: str | None = None) -> str:
    """`aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`"""
    parts: list[str] = []
    keyword_only = False
    for argument in signature.arguments:
        if argument.keyword_only and not keyword_only:
            keyword_only = True
            parts.append("*")
        parts.append(_torch_argument(argument))
    if signature.vararg:
        parts.append("...")
    returns = [_torch_type(r) for r in signature.returns]
    if signature.varret:
        text = "..."
    else:
        is_bare = len(returns) == 1 and not returns[0].startswith("(")
        text = returns[0] if is_bare else f"({', '.join(returns)})"
    return f"{name or signature.full_name}({', '.join(parts)}) -> {text}"


def _torch_argument(argument: Argument) -> str:
    text = f"{_torch_type(argument)} {argument.name}"
    if argument.has_default:
        text += f"={_torch_default(argument.default)}"
    return text


def _torch_type(argument: Argument) -> str:
    """The type, with the alias annotation where schema text puts it."""
    type = argument.type.inner
    suffix = "" if argument.type.optional_of is None else "?"
    if type.list_of is not None and argument.size is not None:
        return f"{type_text(type.list_of)}[{argument.size}]{suffix}"
    alias = ""
    if argument.alias is not None:
        sets, after = "|".join(argument.alias.sets), "|".join(argument.alias.after)
        change = f" -> {after}" if after and after != sets else ""
        alias = f"({sets}{'!' if argument.alias.is_write else ''}{change})"
        if argument.alias.of_elements and type.list_of is not None:
            return f"{type_text(type.list_of)}{alias}[]{suffix}"
    return f"{type_text(type)}{alias}{suffix}"


def _torch_default(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        comma = "," * (len(value) == 1)
        return f"({', '.join(map(_part_of_default, value))}{comma})"
    if isinstance(value, list):
        return f"[{', '.join(map(_torch_default, value))}]"
    if isinstance(value, float):
        return f"{value:.17g}" if value != int(value) else f"{value:.1f}"
    return str(value)


def _part_of_default(value: object) -> str:
    """What stands in a tuple, which torch writes as it shows values."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}."
    return _torch_default(value)


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
        text = f"{argument.name}: {_python_type(argument)}"
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


def _python_type(argument: Argument) -> str:
    if argument.size is not None:
        element = argument.type.inner.contained[0].python
        return f"{element} | {argument.type.python}"
    return argument.type.python


def python_default(value: object) -> str:
    return repr(list(value)) if isinstance(value, tuple) else repr(value)
