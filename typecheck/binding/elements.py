"""Assignment to elements, in-place operators, and `del`."""

from __future__ import annotations

from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.signs import BETWEEN
from ..expressions.attributes import Access, attribute_of, of_property
from ..expressions.function_calls import call_method
from ..expressions.operators import call_operator
from ..expressions.subscripts import index_list, locate
from ..relations.matching import Given
from ..scopes.dispatch import checks_statement, expression
from ..scopes.scope import Scope
from ..scopes.values import value_of
from ..trees import typed
from ..trees.sugar import Sugar
from ..types.types import BOOL, COMPLEX, FLOAT, INT, NUMBER, TENSOR, UNKNOWN, Type
from .assignments import assign_attribute, assign_name

__all__ = ["assign_element"]

_OF_CLASSES = ("+", "-", "*", "/", "%", "**")
"""The signs by which objects of script classes are changed in place."""


# ------------------------------------------------------------------------------ elements


def assign_element(
    scope: Scope, target: tree.Subscript, value: typed.Expr, span: Span, into: list[typed.Statement]
) -> None:
    """`container[index] = value`; `value` was evaluated before."""
    owner = expression(scope, target.value)
    if UNKNOWN in (owner.type, value.type):
        return
    if owner.type == TENSOR:
        _assign_tensor(scope, target, owner, value, span, into)
        return
    index = _single_index(scope, target, owner)
    if index is None:
        return
    if owner.type.is_class:
        call = call_method(scope, owner, "__setitem__", [index, value], span)
    else:
        call = call_operator(
            scope, "aten::_set_item", Given([owner, index, value]), span, written="[] ="
        )
    into.append(typed.Evaluate(span, call))


def _single_index(scope: Scope, target: tree.Subscript, owner: typed.Expr) -> typed.Expr | None:
    """The index of an element to set; slices and tuples have none."""
    if target.single is None:
        message = "a slice of a list cannot be assigned to"
        torch = (
            "Sliced expression not yet supported for subscripted assignment. "
            "File a bug if you want this"
        )
    elif owner.type.tuple_of is not None:
        message = "a tuple cannot be changed"
        torch = f"{owner.type.annotation_str} does not support subscripted assignment"
    else:
        index = expression(scope, target.single)
        return None if index.type is UNKNOWN else index
    at = target.span
    scope.report(
        "unsupported-syntax", message, at, "assigned here", torch=torch, torch_span=_shown(target)
    )
    return None


def _shown(target: tree.Subscript) -> Span:
    """What torch underlines: a slice without the bracket behind it."""
    part = target.indices[0]
    if len(target.indices) != 1 or not isinstance(part, tree.Slice):
        return target.span
    shown = [each for each in (part.lower, part.upper, part.step) if each is not None]
    end = (shown[-1] if shown else target.value).span.whole.end
    return Span(target.span.source, target.span.whole.start, end)


def _assign_tensor(
    scope: Scope,
    target: tree.Subscript,
    owner: typed.Expr,
    value: typed.Expr,
    span: Span,
    into: list[typed.Statement],
) -> None:
    located = locate(scope, owner, target.indices, target.span, into)
    if located.value.type is UNKNOWN:
        return
    place = scope.let(located.value, into)
    located.tensors = _settled(scope, located.tensors, into)
    value = _as_tensor(scope, value, place)
    if not located.tensors:
        call = call_operator(scope, "aten::copy_", Given([place, value]), span, written="[] =")
    else:
        value = scope.let(value, into)
        indices = index_list(scope, located.tensors)
        given = Given([place, indices, value])
        call = call_operator(scope, "aten::index_put_", given, span, written="[] =")
    into.append(typed.Evaluate(span, call))


def _settled(
    scope: Scope, tensors: list[typed.Expr | None], into: list[typed.Statement]
) -> list[typed.Expr | None]:
    """Tensor indices, evaluated now."""
    return [scope.let(t, into) if t is not None else None for t in tensors]


def _as_tensor(scope: Scope, value: typed.Expr, like: typed.Expr) -> typed.Expr:
    """A number becomes a tensor of the dtype and device of where it goes."""
    if value.type not in (INT, FLOAT, BOOL, COMPLEX, NUMBER):
        return value
    dtype = call_operator(scope, "prim::dtype", Given([like]), NOWHERE)
    device = call_operator(scope, "prim::device", Given([like]), NOWHERE)
    given = Given([value], {"dtype": dtype, "device": device})
    return call_operator(scope, "aten::tensor", given, NOWHERE)


# ------------------------------------------------------------------------------ in place


@checks_statement(tree.AugmentedAssign)
def check_augmented_assign(
    scope: Scope, node: tree.AugmentedAssign, into: list[typed.Statement]
) -> None:
    """`target += value`: tensors and lists change in place, anything else is rebound."""
    target = node.target
    match target:
        case tree.Name():
            left = expression(scope, target)
            result = _augmented(scope, node, left, expression(scope, node.value))
            assign_name(scope, target, result, into, None, None)
        case tree.Attribute():
            owner = scope.let(expression(scope, target.value), into)
            left = value_of(scope, _slot_value(scope, owner, target), target.span)
            result = _augmented(scope, node, left, expression(scope, node.value))
            assign_attribute(scope, owner, target, result, node.span, into)
        case tree.Subscript():
            _augment_element(scope, node, target, into)
        case _:
            scope.report(
                "unsupported-syntax",
                "this cannot be assigned to",
                target.span,
                "not a target",
                torch="left-hand side of augmented assignment must be a variable",
            )


def _slot_value(scope: Scope, owner: typed.Expr, target: tree.Attribute) -> Sugar:
    access = Access(target.span, target.name, target.name_span)
    return of_property(scope, attribute_of(scope, owner, access), target)


def _no_augmented(scope: Scope, type: Type, word: str, node: tree.AugmentedAssign) -> typed.Expr:
    scope.report(
        "missing-attribute",
        f"`{type.python}` has no method `__{word}__`",
        node.span,
        f"needs `__i{word}__` or `__{word}__`",
        torch=f"Cannot emit inplace op on {type} since it does not define an __i{word}__ or "
        f"__{word}__ method",
    )
    return scope.unknown(node.span)


def _augmented(
    scope: Scope, node: tree.AugmentedAssign, left: typed.Expr, right: typed.Expr
) -> typed.Expr:
    operator, span = node.operator, node.span
    if left.type.is_class:
        word = BETWEEN[operator].word if operator in _OF_CLASSES else ""
        name = f"__i{word}__" if left.type.method(f"__i{word}__") else f"__{word}__"
        if left.type.magic(name) is None:
            return _no_augmented(scope, left.type, word, node)
        return call_method(scope, left, name, [right], span)
    name = _augmented_operator(operator, left.type)
    return call_operator(scope, name, Given([left, right]), span, written=f"{operator}=")


def _augmented_operator(operator: str, type: Type) -> str:
    if type == TENSOR or type.list_of is not None:
        return f"aten::{BETWEEN[operator].on_elements}"
    return "aten::fmod" if operator == "%" else BETWEEN[operator].in_scripts


def _augment_element(
    scope: Scope, node: tree.AugmentedAssign, target: tree.Subscript, into: list[typed.Statement]
) -> None:
    owner = expression(scope, target.value)
    if owner.type is UNKNOWN:
        expression(scope, node.value)
        return
    if owner.type == TENSOR:
        _augment_tensor(scope, node, target, owner, into)
        return
    if not owner.type.is_collection:
        scope.report(
            "unsupported-syntax",
            f"an element of `{owner.type.python}` cannot be changed in place",
            target.span,
            f"`{target.value.span.text}` is `{owner.type.python}`",
            torch=f"{owner.type.annotation_str} does not support augmented assignment.",
        )
        return
    index = _single_index(scope, target, owner)
    if index is None:
        return
    span = node.span
    owner = scope.let(owner, into)
    index = scope.let(index, into)
    value = scope.let(expression(scope, node.value), into)
    item = call_operator(scope, "aten::__getitem__", Given([owner, index]), span, written="[]")
    kind = owner.type.contained[0]  # for a dict, the key: as in torch
    name = _augmented_operator(node.operator, kind)
    result = call_operator(scope, name, Given([item, value]), span, written=f"{node.operator}=")
    given = Given([owner, index, result])
    call = call_operator(scope, "aten::_set_item", given, span, written="[] =")
    into.append(typed.Evaluate(span, call))


def _augment_tensor(
    scope: Scope,
    node: tree.AugmentedAssign,
    target: tree.Subscript,
    owner: typed.Expr,
    into: list[typed.Statement],
) -> None:
    located = locate(scope, owner, target.indices, target.span, into)
    if located.tensors:
        located.value = scope.let(located.value, into)
        located.tensors = _settled(scope, located.tensors, into)
    value = expression(scope, node.value)
    if UNKNOWN in (located.value.type, value.type):
        return
    name, written = _augmented_operator(node.operator, TENSOR), f"{node.operator}="
    if not located.tensors:
        given = Given([located.value, value])
        call = call_operator(scope, name, given, node.span, written=written)
        into.append(typed.Evaluate(node.span, call))
        return
    place = located.value
    value = scope.let(value, into)
    indices = scope.let(index_list(scope, located.tensors), into)
    old = call_operator(scope, "aten::index", Given([place, indices]), node.span)
    new = call_operator(scope, name, Given([old, value]), node.span, written=written)
    given = Given([place, indices, new])
    call = call_operator(scope, "aten::index_put_", given, node.span, written="[] =")
    into.append(typed.Evaluate(node.span, call))


# --------------------------------------------------------------------------------- delete


@checks_statement(tree.Delete)
def check_delete(scope: Scope, node: tree.Delete, into: list[typed.Statement]) -> None:
    """`del name`, `del container[index]`."""
    for target in node.targets:
        match target:
            case tree.Name(id=name):
                if not scope.frame.remove(name):
                    expression(scope, target)
            case tree.Subscript():
                _delete_element(scope, target, node.span, into)
            case _:
                scope.report(
                    "unsupported-syntax",
                    "only variables and elements can be deleted",
                    target.span,
                    "deleted here",
                    torch="del statements are only supported for deleting list and dict items and "
                    "variables",
                )


def _delete_element(
    scope: Scope, target: tree.Subscript, span: Span, into: list[typed.Statement]
) -> None:
    if target.single is None:
        scope.report(
            "unsupported-syntax",
            "a slice cannot be deleted",
            target.span,
            "deleted here",
            torch="del statements only support deletion at a single index, slicing is not "
            "supported (see https://github.com/pytorch/pytorch/issues/31430)",
        )
        return
    owner, index = expression(scope, target.value), expression(scope, target.single)
    if owner.type.is_class and owner.type.magic("__delitem__") is None:
        scope.report(
            "missing-attribute",
            f"`{owner.type.python}` has no method `__delitem__`",
            target.span,
            "needs `__delitem__`",
            torch="Class does not define __delitem__",
        )
        return
    if owner.type.is_class:
        call = call_method(scope, owner, "__delitem__", [index], span)
    else:
        call = call_operator(
            scope, "aten::Delete", Given([owner, index]), target.span, written="del"
        )
    into.append(typed.Evaluate(span, call))
