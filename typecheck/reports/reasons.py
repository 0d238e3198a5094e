"""Why values have their types: what labels beside a fault say."""

from __future__ import annotations

from ...frontend.diagnostics.diagnostics import Label
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..scopes.environment import Variable
from ..scopes.globals import with_article
from ..scopes.scope import Scope
from ..trees import typed
from ..types.types import NONE, Type

__all__ = ["article", "origin", "origin_text"]


def article(type: Type) -> str:
    """`a `float``, `an `int``."""
    return "`None`" if type == NONE else with_article(type.python)


def origin(scope: Scope, given: typed.Expr) -> list[Label]:
    """Where the type of a variable or an attribute comes from."""
    if isinstance(given, typed.GetAttribute):
        return _attribute_origin(given)
    if not isinstance(given, typed.Local):
        return []
    variable = scope.frame.find(given.name)
    if variable is None or variable.span is None or variable.type is None:
        return []
    return [Label(variable.span.whole, origin_text(variable))]


def _attribute_origin(given: typed.GetAttribute) -> list[Label]:
    owner = given.object.type
    place = owner.place(given.name)
    if place is None:
        return []
    type = f"`{given.type.python}`"
    if place.annotation is not None:
        head = Span(place.statement.source, place.statement.start, place.annotation.end)
        return [Label(head, f"declared {type}")]
    return [Label(place.statement, f"{type}, because of this value")]


def origin_text(variable: Variable) -> str:
    """Why a variable has its type, in a few words."""
    assert variable.type is not None
    type = f"`{variable.type.python}`"
    if variable.inferred:
        return f"no annotation, so {type}"
    node, value = variable.tree, variable.value
    if isinstance(node, tree.Binary) and isinstance(value, typed.OperatorCall):
        kinds = [e.type.python for e in value.inputs]
        if len(kinds) == 2:
            return f"{type}, because `{node.span.text}` is `{f' {node.operator} '.join(kinds)}`"
    if isinstance(node, tree.ListDisplay) and not node.elements and not variable.declared:
        return f"{type}, because an empty list has no other type"
    return type
