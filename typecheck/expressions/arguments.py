"""The arguments of a call as written, checked in order."""

from __future__ import annotations

from ...frontend.diagnostics.diagnostics import Help
from ...frontend.syntax import tree
from ..relations.matching import Given
from ..scopes.dispatch import expression
from ..scopes.scope import Scope
from ..trees import typed
from ..types.types import UNKNOWN
from .iteration import tuple_elements

__all__ = ["check_arguments", "unpacked_argument"]


def check_arguments(scope: Scope, node: tree.Call, into: list[typed.Statement]) -> Given:
    """Check the arguments of a call, in order."""
    given = Given([])
    for argument in node.arguments:
        if isinstance(argument, tree.Starred):
            unpacked = unpacked_argument(scope, argument, into)
            given.is_incomplete |= unpacked is None
            given.positional.extend(unpacked or [])
        else:
            given.positional.append(expression(scope, argument))
    for keyword in node.keywords:
        value = expression(scope, keyword.value)
        if keyword.name is not None:
            given.keywords[keyword.name] = value
            given.spans[keyword.name] = keyword.span
        else:  # `**`, which was refused
            given.is_incomplete = True
    return given


def unpacked_argument(
    scope: Scope, node: tree.Starred, into: list[typed.Statement], helps: tuple[Help, ...] = ()
) -> list[typed.Expr] | None:
    """The elements of `*argument`; None after an error, which gets the helps."""
    value = expression(scope, node.value)
    if value.type.tuple_of is not None:
        return tuple_elements(scope, value, into)
    if value.type is not UNKNOWN:
        scope.report(
            "argument-type",
            f"`*` needs a tuple here, not `{value.type.python}`",
            node.value.span,
            "its length is not known now",
            torch="cannot statically infer the expected size of a list in this context"
            if value.type.list_of is not None
            else f"{scope.torch_type(value)} cannot be used as a tuple",
            torch_span=node.span,
            helps=helps,
        )
    return None
