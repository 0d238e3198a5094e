"""How attributes of modules come by their types: edits that declare them in the class."""

from __future__ import annotations

import re
from typing import Final

from ...frontend.diagnostics.diagnostics import Edit, Help
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.names import nodes_in
from ...frontend.syntax.places import BEGINNING, Place
from ..definitions.class_types import ClassType
from ..scopes.dispatch import expression
from ..scopes.scope import Scope
from ..types.types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    TENSOR,
    UNKNOWN,
    DictType,
    ListType,
    OptionalType,
    Type,
)

__all__ = ["declare_container", "declare_optional", "set_in_init", "written"]

_EMPTY: Final[dict[Type, str]] = {INT: "0", FLOAT: "0.0", BOOL: "False", STRING: '""'}


def declare_container(scope: Scope, name: str, place: Place | None, kind: str) -> tuple[Help, ...]:
    """`self.seen = []` -> `seen: list[torch.Tensor]` in the class, by what is put into it."""
    key, value = _put_into(scope, name)
    type = ListType(value) if kind == "list" else DictType(key, value)
    return _declare(scope, name, place, type, f"say what the {kind} holds, in the class body")


def declare_optional(scope: Scope, name: str, place: Place | None, type: Type) -> tuple[Help, ...]:
    """`self.hidden = None` -> `hidden: torch.Tensor | None` in the class."""
    return _declare(scope, name, place, OptionalType(type), "declare what it may be, in the class")


def _declare(
    scope: Scope, name: str, place: Place | None, type: Type, text: str
) -> tuple[Help, ...]:
    line = f"{name}: {written(scope, type)}"
    edits = () if place is None else _in_body(place.statement, line)
    return (Help(f"{text}: `{line}`", edits),)


def _in_body(constructor: Span, line: str) -> tuple[Edit, ...]:
    """Put a declaration before the constructor that holds a statement."""
    source = constructor.source
    found = re.search(r"^([ \t]+)def __init__\b", source.text, re.MULTILINE)
    if found is None or found.start() > constructor.start:
        return ()
    return (Edit(Span(source, found.start(), found.start()), f"{found[1]}{line}\n\n"),)


def set_in_init(scope: Scope, cls: ClassType, name: str, type: Type) -> tuple[Help, ...]:
    """`self.last = x` in `forward` -> `self.last = None` in `__init__`, and `last: T | None`."""
    first = _EMPTY.get(type, "None")
    line = f"self.{name} = {first}"
    text = f"set it first in `__init__`: `{line}`"
    begun = cls.place(BEGINNING)
    declared: tuple[Edit, ...] = ()
    if first == "None" and type is not UNKNOWN:
        type = type if type.optional_of is not None else OptionalType(type)
        declaration = f"{name}: {written(scope, type)}"
        text = f"{text}, and declare it in the class: `{declaration}`"
        declared = () if begun is None else _in_body(begun.statement, declaration)
    if begun is None or (first == "None" and not declared):
        return (Help(text),)
    source, start, end = begun.statement.source, begun.statement.start, begun.statement.whole.end
    indent = source.text[source.line_starts[source.line_index(start)] : start]
    return (Help(text, (*declared, Edit(Span(source, end, end), f"\n{indent}{line}"))),)


def written(scope: Scope, type: Type) -> str:
    """A type in the words of the program that is checked."""
    text = type.python
    if scope.resolver.lookup("torch", scope.tree.span) is not None:
        text = re.sub(r"(?<![\w.])Tensor\b", "torch.Tensor", text)
    return text


def _put_into(scope: Scope, name: str) -> tuple[Type, Type]:
    """The types of keys and values that the function puts into an attribute: a text and a tensor
    where that cannot be seen."""
    key: Type = STRING
    value: Type = TENSOR
    attribute = f"self.{name}"
    for part in nodes_in(scope.tree.body):
        match part:
            case tree.Call(function=tree.Attribute(name="append", value=owner), arguments=given):
                if owner.dotted == attribute and given:
                    value = _type_of(scope, given[0], value)
            case tree.Assign(targets=(tree.Subscript(value=owner, indices=indices),)):
                if owner.dotted == attribute:
                    key = _type_of(scope, indices[0], key)
                    value = _type_of(scope, part.value, value)
    return key, value


def _type_of(scope: Scope, node: tree.Expr, otherwise: Type) -> Type:
    """The type of an expression, if it can be told where the error is."""
    if node.variable is not None and scope.frame.find(node.variable) is None:
        return otherwise
    forget = scope.collector.forgetting()
    found = expression(scope, node).type
    forget()
    return otherwise if found is UNKNOWN else found
