"""`return`, and what a function's returns have in common."""

from __future__ import annotations

import re

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..expressions.conversions import convert
from ..relations.relations import is_subtype, join
from ..reports.other_types import whole_division
from ..reports.reasons import origin
from ..scopes.dispatch import checks_statement, expression
from ..scopes.scope import Scope
from ..scopes.values import as_any
from ..trees import typed
from ..types.types import ANY, FLOAT, INT, NONE, TENSOR, UNKNOWN, Type

__all__ = ["returning"]


@checks_statement(tree.Return)
def check_return(scope: Scope, node: tree.Return, into: list[typed.Statement]) -> None:
    """`return value`, converted to the declared type."""
    if node.value is None:
        value = scope.none(node.span)
    else:
        value = expression(scope, node.value, scope.declared_return)
    into.append(returning(scope, value, node))


def returning(scope: Scope, value: typed.Expr, node: tree.Return) -> typed.Return:
    """A return statement of a value already checked."""
    scope.frame.exits = True
    declared = scope.declared_return
    if declared is not None:
        value = convert(scope, value, declared, node.span)
        if not is_subtype(value.type, declared):
            _report_return(scope, value, declared, node)
        scope.returned = declared
    else:
        merged = value.type if scope.returned is None else join(scope.returned, value.type)
        if merged is None:
            _report_returns(scope, value, node)
            merged = UNKNOWN
        if scope.returned is None:
            scope.returned_inferred = scope.torch_type(value) == "Tensor (inferred)"
            scope.returned_at = node.span
        scope.returned = merged
    if scope.returned is ANY:
        value = as_any(value, ANY)
    return typed.Return(node.span, value)


def _report_return(scope: Scope, value: typed.Expr, declared: Type, node: tree.Return) -> None:
    place = node.value.span if node.value is not None else node.span
    secondary: list[Label] = []
    if scope.tree.returns is not None:
        secondary.append(Label(scope.tree.returns.span.whole, "declared here"))
    secondary.extend(origin(scope, value))
    scope.report(
        "return-type",
        f"`{scope.tree.name}` returns `{declared.python}`, not `{value.type.python}`",
        place,
        f"`{value.type.python}`",
        torch=f"Return value was annotated as having type {declared.annotation_str} but is "
        f"actually of type {scope.torch_type(value)}",
        torch_span=node.span,
        secondary=tuple(secondary),
        helps=_other_return(scope, value, declared, place),
    )


def _other_return(scope: Scope, value: typed.Expr, declared: Type, place: Span) -> tuple[Help, ...]:
    """Convert what is returned, or declare it."""
    if declared == INT and value.type == FLOAT:
        return whole_division(scope.frame, value)
    if declared == FLOAT and value.type == INT:
        edit = Edit(place.whole, f"float({place.whole.text})")
        return (Help("an `int` does not become a `float` by itself: convert it", (edit,)),)
    returns = scope.tree.returns
    if returns is None or not (declared is NONE or value.type.tuple_of is not None):
        return ()
    text = value.type.python
    if scope.resolver.lookup("Tensor", returns.span) is None:
        text = re.sub(r"\bTensor\b", "torch.Tensor", text)
    return (Help("declare what is returned", (Edit(returns.span.whole, text),)),)


def _report_returns(scope: Scope, value: typed.Expr, node: tree.Return) -> None:
    assert scope.returned is not None
    place = node.value.span if node.value is not None else node.span
    inferred = scope.returned_inferred and scope.returned == TENSOR
    before = "Tensor (inferred)" if inferred else scope.returned.annotation_str
    first: list[Label] = []
    if scope.returned_at is not None:
        first = [Label(scope.returned_at.whole, f"returns `{scope.returned.python}`")]
    scope.report(
        "return-type",
        f"`{scope.tree.name}` returned `{scope.returned.python}` before, "
        f"but here `{value.type.python}`",
        place,
        f"`{value.type.python}`",
        torch=f"Previous return statement returned a value of type {before} but this return "
        f"statement returns a value of type {scope.torch_type(value)}",
        torch_span=node.span,
        secondary=(*first, *origin(scope, value)),
    )
