"""Assignment statements, and whatever can stand on their left."""

from __future__ import annotations

from dataclasses import replace

from ...frontend.diagnostics.diagnostics import Edit, Help
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.torch_ranges import whole_range
from ..expressions.iteration import item_value, tuple_elements
from ..reports.reasons import origin
from ..scopes.dispatch import checks_statement, expression, sugared
from ..scopes.idioms import rest_of_list
from ..scopes.scope import Scope
from ..scopes.values import value_of
from ..trees import typed
from ..trees.sugar import Item, Sugar
from ..types.types import ANY_TUPLE, TENSOR, UNKNOWN, TupleType, Type
from .assignments import assign_attribute, assign_name
from .elements import assign_element

__all__ = ["assign_target"]

Value = Item | Sugar


# ---------------------------------------------------------------------------- statements


@checks_statement(tree.Assign)
def check_assign(scope: Scope, node: tree.Assign, into: list[typed.Statement]) -> None:
    """`a = b = value`."""
    hint = scope.annotations.read(node.type_comment) if node.type_comment else None
    if len(node.targets) == 1:
        _assign_one(scope, node.targets[0], node.value, node.span, hint, into)
        return
    # torch, too, keeps the value in a variable, so that no target names it.
    shared = tree.Name(node.value.span, f"$assigned_{scope.temporary()}")
    _assign_one(scope, shared, node.value, node.span, hint, into)
    for target in node.targets:
        _assign_one(scope, target, shared, node.span, None, into)


def _assign_one(
    scope: Scope,
    target: tree.Expr,
    value_node: tree.Expr,
    span: Span,
    annotated: Type | None,
    into: list[typed.Statement],
) -> None:
    match target:
        case tree.Name():
            scope.direct = value_node, span
            value = sugared(scope, value_node, annotated)
            assign_name(scope, target, value, into, annotated, value_node)
        case tree.Subscript():
            shared = scope.let(expression(scope, value_node), into)
            assign_element(scope, target, shared, span, into)
        case tree.Attribute():
            owner = expression(scope, target.value)
            assigned = expression(scope, value_node, annotated)
            assign_attribute(scope, owner, target, assigned, span, into)
        case _:  # torch places what an unpacking does to elements at the value
            place = whole_range(value_node)
            assign_target(scope, target, sugared(scope, value_node), place, into, value_node)


@checks_statement(tree.AnnotatedAssign)
def check_annotated_assign(
    scope: Scope, node: tree.AnnotatedAssign, into: list[typed.Statement]
) -> None:
    """`target: annotation = value`."""
    type = scope.annotations.read(node.annotation)
    if node.value is not None:
        _assign_one(scope, node.target, node.value, node.span, type, into)


# ------------------------------------------------------------------------------- targets


def assign_target(
    scope: Scope,
    target: tree.Expr,
    item: Value,
    span: Span,
    into: list[typed.Statement],
    value_node: tree.Expr | None = None,
) -> None:
    """Bind any target to something already checked."""
    match target:
        case tree.Name():
            value = item_value(scope, item, span) if isinstance(item, tuple) else item
            assign_name(scope, target, value, into, None, value_node)
        case tree.TupleDisplay():
            _unpack(scope, target, item, span, into)
        case tree.ListDisplay():
            _report_list_target(scope, target)
            _unpack(scope, target, item, span, into)
        case tree.Subscript():
            value = item_value(scope, item, span)
            assign_element(scope, target, scope.let(value, into), span, into)
        case tree.Attribute():
            owner = expression(scope, target.value)
            assign_attribute(scope, owner, target, item_value(scope, item, span), span, into)
        case tree.Starred():
            _report_lone_star(scope, target)
        case _:
            scope.report(
                "unsupported-syntax",
                "this cannot be assigned to",
                target.span,
                "not a target",
                torch="left-hand side of assignment must be a variable",
            )


def _unpack(
    scope: Scope,
    target: tree.TupleDisplay | tree.ListDisplay,
    item: Value,
    span: Span,
    into: list[typed.Statement],
) -> None:
    parts = target.elements
    stars = sum(part.is_starred for part in parts)
    if stars > 1:
        _report_stars(scope, target)
    elif stars == len(parts) == 1:
        _report_lone_star(scope, parts[0])
    fixed = len(parts) - stars
    values = _values(scope, target, item, fixed, stars, span, into)
    if values is None:
        values = [scope.unknown(span) for _ in parts]
        stars = 0 if stars == 0 else stars
        fixed = len(parts) - stars
    extra = len(values) - fixed
    place = 0
    for part in parts:
        if isinstance(part, tree.Starred):
            taken = tuple(item_value(scope, v, span) for v in values[place : place + extra])
            place += extra
            type = TupleType(tuple(t.type for t in taken))
            rest = typed.TupleLiteral(NOWHERE, type, taken)
            assign_target(scope, part.value, rest, span, into)
        else:
            assign_target(scope, part, values[place], span, into)
            place += 1


def _report_stars(scope: Scope, target: tree.TupleDisplay | tree.ListDisplay) -> None:
    second = [part for part in target.elements if part.is_starred][1]
    scope.report(
        "unsupported-syntax",
        "only one part of an assignment can take the rest",
        second.span,
        "a second one",
        torch="Only one starred expression is allowed on the lhs",
        torch_span=target.span,
    )


def _report_lone_star(scope: Scope, star: tree.Expr) -> None:
    scope.report(
        "unsupported-syntax",
        "`*` takes the rest, but nothing stands beside it that takes a first or last part",
        star.span,
        "leave out the `*`",
        torch="A Starred expression may only appear on the lhs within the presence of another "
        "non-starred expression",
    )


def _values(
    scope: Scope,
    target: tree.TupleDisplay | tree.ListDisplay,
    item: Value,
    fixed: int,
    stars: int,
    span: Span,
    into: list[typed.Statement],
) -> list[Value] | None:
    """What the parts of an unpacking get; None after an error."""
    values: list[Value]
    if isinstance(item, tuple):
        values = list(item)
    else:
        value = value_of(scope, item, span, "a tuple")
        if isinstance(value, typed.PythonCall) and not value.function.is_typed and not stars:
            several = TupleType((TENSOR,) * fixed)
            value = replace(value, type=several, function=value.function.giving(several))
        if value.type is UNKNOWN:
            return None
        if value.type.tuple_of is not None:
            values = list(tuple_elements(scope, value, into))
        elif value.type.list_of is not None and not stars:
            return list(_list_elements(scope, value, value.type.list_of, fixed, into))
        else:
            _report_not_unpackable(scope, value, span, target)
            return None
    if len(values) < fixed or (len(values) > fixed and not stars):
        _report_count(scope, target, len(values), fixed, stars)
        return None
    return values


def _list_elements(
    scope: Scope, value: typed.Expr, element: Type, count: int, into: list[typed.Statement]
) -> list[typed.Expr]:
    indices = tuple(scope.temporary() for _ in range(count))
    types = (element,) * count
    into.append(typed.Unpack(value.span, value, indices, types))
    return [typed.Temporary(value.span, element, i) for i in indices]


def _report_not_unpackable(
    scope: Scope, value: typed.Expr, span: Span, target: tree.TupleDisplay | tree.ListDisplay
) -> None:
    helps: tuple[Help, ...] = ()
    place = value.span if value.span.source is span.source else span  # that of `x.shape` is torch's
    if value.type.list_of is not None:
        helps = rest_of_list(target, place.whole)
        message = "`*` cannot take from a list, whose length is not known now"
        torch = "cannot statically infer the expected size of a list in this context"
    else:
        message = f"`{value.type.python}` cannot be unpacked"
        torch = f"{scope.torch_type(value)} cannot be used as a tuple"
    if value.type == ANY_TUPLE:
        torch = (
            "Provided tuple is not fully defined/refined including its element types, please "
            "provide a value of type like Tuple[int, int]"
        )
    scope.report(
        "argument-type",
        message,
        place,
        f"this is `{value.type.python}`",
        torch=torch,
        torch_span=span,
        secondary=tuple(origin(scope, value)),
        helps=helps,
    )


def _report_count(
    scope: Scope, target: tree.TupleDisplay | tree.ListDisplay, found: int, fixed: int, stars: int
) -> None:
    if found < fixed:
        least = "at least " if stars else ""
        torch = f"need {least}{fixed} values to unpack but found only {found}"
    else:
        torch = f"too many values to unpack: need {fixed} but found {found}"
    scope.report(
        "argument-type",
        f"{found} value{'' if found == 1 else 's'} cannot be unpacked into {fixed}",
        target.span,
        f"{fixed} target{'' if fixed == 1 else 's'}",
        torch=torch,
    )


def _report_list_target(scope: Scope, target: tree.ListDisplay) -> None:
    names = ", ".join(element.span.text for element in target.elements)
    scope.report(
        "unsupported-syntax",
        "a list cannot stand on the left of an assignment",
        target.span,
        "leave out the brackets",
        torch="unexpected expression on left-hand side of assignment",
        helps=(Help("leave out the brackets", (Edit(target.span.whole, names),)),),
    )
