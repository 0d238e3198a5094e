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

__all__ = ["article", "operand_types", "origin", "origin_text"]


def article(type: Type) -> str:
    """`a `float``, `an `int``."""
    return "`None`" if type == NONE else with_article(type.python)


def origin(scope: Scope, given: typed.Expr) -> list[Label]:
    """Where the type of a variable or an attribute comes from."""
    if isinstance(given, typed.GetAttribute):
        return _attribute_origin(given)
    variable = scope.frame.read_by(given)
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


def operand_types(node: tree.Expr | None, value: typed.Expr | None) -> str:
    """`int / float` for what was computed of two operands by an operator; "" for all else."""
    if isinstance(node, tree.Binary) and isinstance(value, typed.OperatorCall):
        kinds = [e.type.python for e in value.inputs]
        if len(kinds) == 2:
            return f"`{f' {node.operator} '.join(kinds)}`"
    return ""


def origin_text(variable: Variable) -> str:
    """Why a variable has its type, in a few words."""
    assert variable.type is not None
    type = f"`{variable.type.python}`"
    if variable.inferred:
        return f"no annotation, so {type}"
    node, value = variable.tree, variable.value
    kinds = operand_types(node, value)
    if node is not None and kinds:
        return f"{type}, because `{node.span.text}` is {kinds}"
    if isinstance(node, tree.ListDisplay) and not node.elements and not variable.declared:
        return f"{type}, because an empty list has no other type"
    return type
