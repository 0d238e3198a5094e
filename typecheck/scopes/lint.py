"""Warnings: what compiles, but is probably not meant."""

from __future__ import annotations

from ...frontend.diagnostics.diagnostics import Diagnostic, Label
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..trees import typed
from .scope import Scope

__all__ = ["warn_copied", "warn_unreachable", "warn_unused"]


def warn_unreachable(scope: Scope, statement: tree.Statement, after: tree.Statement) -> None:
    """A statement that follows one which leaves the block."""
    _warn(
        scope,
        "unreachable-code",
        "this code is never reached",
        Label(statement.span.whole, "never runs, and is not checked"),
        (Label(after.span.whole, "this always leaves"),),
    )


def warn_unused(scope: Scope, node: tree.ExpressionStatement, value: typed.Expr) -> None:
    """The result of an operator that does nothing else is dropped."""
    while isinstance(value, typed.Sequenced):
        value = value.value
    if not isinstance(value, typed.OperatorCall):
        return
    signature = value.signature
    changes = any(a.alias is not None and a.alias.is_write for a in signature.arguments)
    is_pure = signature.name.startswith("aten::") and signature.name != "aten::wait"
    if changes or not is_pure or not signature.returns:
        return
    name = signature.name.removeprefix("aten::")
    _warn(
        scope,
        "unused-result",
        f"the result of `{name}` is not used",
        Label(node.value.span.whole, "this changes nothing and its result is dropped"),
        (),
    )


def warn_copied(scope: Scope, target: typed.Expr, span: Span) -> None:
    """A list or dict of a live module is changed: Python's own does not see it."""
    if not isinstance(target, typed.GetAttribute):
        return
    owner = target.object.type
    if not owner.is_live or not owner.is_module:
        return
    if not target.type.is_collection:
        return
    if ("changed", target.name) in scope.told:
        return
    scope.told.add(("changed", target.name))
    place = owner.place(target.name)
    labels = (Label(place.target, "set here"),) if place is not None else ()
    kind = "dict" if target.type.list_of is None else "list"
    _warn(
        scope,
        "captured-mutation",
        f"`{target.name}` is a copy: the Python module's own {kind} will not change",
        Label(span.whole, "changed here, in the scripted module only"),
        labels,
    )


def _warn(
    scope: Scope, code: str, message: str, label: Label, secondary: tuple[Label, ...]
) -> None:
    scope.collector.add(
        Diagnostic(code, message, label, scope.where, secondary=secondary, severity="warning")
    )
