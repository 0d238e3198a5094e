"""Comprehensions over lists and dicts, and `list(...)` and `dict(...)`, which are the same."""

from __future__ import annotations

from dataclasses import replace

from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..expressions.displays import check_key, held_as, hinted_container, refuses_hint
from ..expressions.iteration import (
    as_iterated,
    item_value,
    loop_control,
    tuple_elements,
    turn_number,
    unrolled_rows,
)
from ..expressions.narrowing import check_condition, is_repeatable
from ..expressions.operators import call_operator
from ..relations.matching import Given
from ..relations.relations import is_subtype
from ..scopes.dispatch import checks, expression, sugared
from ..scopes.environment import Variable
from ..scopes.scope import Scope
from ..trees import typed
from ..trees.sugar import Item, Sugar, type_of
from ..types.types import STRING, TENSOR, UNKNOWN, DictType, ListType, Type
from .targets import assign_target

__all__ = ["comprehend", "dict_of", "set_item"]


@checks(tree.ListComprehension)
def check_list_comprehension(
    scope: Scope, node: tree.ListComprehension, hint: Type | None
) -> typed.Expr:
    """`[element for target in iterable]`."""
    generator = node.generators[0]
    sugar = sugared(scope, generator.iterable)
    return _comprehension(scope, generator, node.element, sugar, node.span, hint)


def comprehend(scope: Scope, sugar: Sugar, span: Span, hint: Type | None) -> typed.Expr:
    """`list(iterable)`, which is `[item for item in iterable]`."""
    return _comprehension(scope, None, None, sugar, span, hint)


def _comprehension(
    scope: Scope,
    generator: tree.Generator | None,
    element: tree.Expr | None,
    sugar: Sugar,
    span: Span,
    hint: Type | None,
) -> typed.Expr:
    if refuses_hint(scope, span, hint, ListType):
        return scope.unknown(span)
    wanted = hinted_container(hint, ListType)
    iterated = as_iterated(scope, sugar, span)
    statements: list[typed.Statement] = []
    with scope.new_frame():
        rows = unrolled_rows(scope, iterated, statements, span)
        if rows is not None:
            return _unrolled_list(scope, rows, generator, element, span, wanted, statements)
        control, item = loop_control(scope, iterated, span)
        prelude: list[typed.Statement] = []
        value = _turn(scope, item, generator, element, span, prelude)
        if generator is None:
            value = typed.Numbered(span, value.type, value)
        condition = _filter(scope, generator)
    type = wanted or held_as(scope, span, hint, ListType(value.type))
    if type is None:
        return scope.unknown(span)
    assert isinstance(type, ListType)
    if not is_subtype(value.type, type.element):
        _report_element(scope, value, type, span)
    before = int(generator is None and not isinstance(iterated, typed.Expr))
    return typed.ListComprehension(span, type, control, tuple(prelude), condition, value, before)


def _filter(scope: Scope, generator: tree.Generator | None) -> typed.Expr | None:
    if generator is None or not generator.conditions:
        return None
    node = generator.conditions[0]
    if len(generator.conditions) > 1:
        node = tree.Boolean(node.span, "and", generator.conditions)
    return check_condition(scope, node).value


def _turn(
    scope: Scope,
    item: Item,
    generator: tree.Generator | None,
    element: tree.Expr | None,
    span: Span,
    into: list[typed.Statement],
) -> typed.Expr:
    """One turn of a comprehension: bind the target, check the element."""
    if generator is None or element is None:
        return item_value(scope, item, span)
    assign_target(scope, generator.target, item, span, into)
    return expression(scope, element)


def _unrolled_list(
    scope: Scope,
    rows: list[Item],
    generator: tree.Generator | None,
    element: tree.Expr | None,
    span: Span,
    wanted: ListType | None,
    unpacking: list[typed.Statement],
) -> typed.Expr:
    """A comprehension over a tuple: its turns one after the other, appending to a list."""
    turns: list[typed.Statement] = []
    index = scope.temporary()
    outer = {n: v for n in _names(generator) if (v := scope.frame.find_outside(n)) is not None}
    kept = [(v, scope.let(_read(v, span), turns)) for v in outer.values()]
    type = wanted
    for number, row in enumerate(rows):
        turns.append(turn_number(number, span))
        value = _turn(scope, row, generator, element, span, turns)
        if generator is None and not isinstance(row, tuple):
            value = typed.Numbered(span, value.type, value)
        type = type or ListType(value.type)
        target = typed.Temporary(span, type, index)
        append = call_operator(
            scope, "aten::append", Given([value], {}, target), span, written="append"
        )
        turns.append(typed.Evaluate(span, append))
    for variable, value in kept:
        turns.append(typed.Assign(span, variable.name, value.type, value))
    type = type or ListType(TENSOR)
    start = typed.Let(span, index, typed.ListLiteral(NOWHERE, type, ()))
    statements = (*_begun(start, unpacking, generator, rows), *turns)
    return typed.Sequenced(span, type, statements, typed.Temporary(span, type, index))


def _begun(
    start: typed.Statement,
    unpacking: list[typed.Statement],
    generator: tree.Generator | None,
    rows: list[Item],
) -> list[typed.Statement]:
    """The container and the tuples taken apart: those of `list(zip(a, b))` come first."""
    of_zip = generator is None and bool(rows) and isinstance(rows[0], tuple)
    return [*unpacking, start] if of_zip else [start, *unpacking]


def _read(variable: Variable, span: Span) -> typed.Expr:
    return typed.Local(span, variable.type or UNKNOWN, variable.name)


def _report_element(scope: Scope, value: typed.Expr, type: ListType, span: Span) -> None:
    scope.report(
        "annotation-conflict",
        f"a `{type.python}` cannot hold `{value.type.python}`",
        value.span,
        f"this is `{value.type.python}`",
        torch=f"List type annotation `{type.annotation_str}` did not match the types of the "
        f"given list elements, which were unified to {value.type.annotation_str}",
        torch_span=span,
    )


@checks(tree.DictComprehension)
def check_dict_comprehension(
    scope: Scope, node: tree.DictComprehension, hint: Type | None
) -> typed.Expr:
    """`{key: value for target in iterable}`."""
    generator = node.generators[0]
    sugar = sugared(scope, generator.iterable)
    return _dict_comprehension(scope, generator, node, sugar, node.span, hint)


def dict_of(
    scope: Scope, sugar: Sugar, span: Span, hint: Type | None, *, twice: bool = True
) -> typed.Expr:
    """`dict(iterable)`, which is `{key: value for key, value in iterable}`.

    Other than for a comprehension, the dict is made after what is iterated over, which is
    evaluated `twice`, as in torch, unless that would show.
    """
    before: list[typed.Statement] = []
    twice = twice and is_repeatable(scope, sugar)
    if isinstance(sugar, typed.Expr):
        if twice:
            before.append(typed.Evaluate(sugar.span, sugar))
        sugar = typed.Numbered(sugar.span, sugar.type, scope.let(sugar, before))
    made = _dict_comprehension(scope, None, None, sugar, span, hint)
    if isinstance(made, typed.DictComprehension) and not before:
        return replace(made, before=2 if twice else 1)
    return typed.Sequenced(span, made.type, tuple(before), made) if before else made


def _dict_comprehension(
    scope: Scope,
    generator: tree.Generator | None,
    node: tree.DictComprehension | None,
    sugar: Sugar,
    span: Span,
    hint: Type | None,
) -> typed.Expr:
    if refuses_hint(scope, span, hint, DictType):
        return scope.unknown(span)
    wanted = hinted_container(hint, DictType)
    iterated = as_iterated(scope, sugar, span)
    if type_of(iterated) is UNKNOWN:
        return scope.unknown(span)
    statements: list[typed.Statement] = []
    with scope.new_frame():
        rows = unrolled_rows(scope, iterated, statements, span)
        if rows is not None:
            return _unrolled_dict(scope, rows, generator, node, span, wanted, statements)
        control, item = loop_control(scope, iterated, span)
        prelude: list[typed.Statement] = []
        key, value = _pair(scope, item, generator, node, span, prelude)
        condition = _filter(scope, generator)
    type = wanted or DictType(key.type, value.type)
    _check_pair(scope, key, value, type, span)
    return typed.DictComprehension(span, type, control, tuple(prelude), condition, key, value)


def _pair(
    scope: Scope,
    item: Item,
    generator: tree.Generator | None,
    node: tree.DictComprehension | None,
    span: Span,
    into: list[typed.Statement],
) -> tuple[typed.Expr, typed.Expr]:
    """One turn of a dict comprehension: key and value."""
    if generator is not None and node is not None:
        assign_target(scope, generator.target, item, span, into)
        return expression(scope, node.key), expression(scope, node.value)
    parts = item if isinstance(item, tuple) else (item,)
    if len(parts) == 1 and isinstance(item, typed.Expr):
        if item.type.tuple_of is None:
            if item.type is not UNKNOWN:
                _report_no_pair(scope, item, span)
            return scope.unknown(span), scope.unknown(span)
        parts = tuple(tuple_elements(scope, item, into))
    if len(parts) != 2:
        _report_no_pairs(scope, len(parts), span)
        return scope.unknown(span), scope.unknown(span)
    key, value = item_value(scope, parts[0], span), item_value(scope, parts[1], span)
    for _ in range(2):  # torch makes a pair of them, and takes it apart
        value = typed.Numbered(span, value.type, value)
    return key, value


def _check_pair(scope: Scope, key: typed.Expr, value: typed.Expr, type: Type, span: Span) -> None:
    """Report a key or value that the dict cannot hold."""
    assert type.dict_of is not None
    check_key(scope, type.dict_of[0], key.span)
    for what, part, wanted in zip(("key", "value"), (key, value), type.dict_of, strict=True):
        if not is_subtype(part.type, wanted):
            found = part.type.annotation_str
            said = f"Dict type annotation `{type.annotation_str}` did not match the type "
            said += f"of an actual {what} type `{found}`"
            if what == "key" and part.type.is_union:
                said = "Dicts may only contain homogeneous keys, but the type of the first "
                said += f"generated key was {found}"
            scope.report(
                "annotation-conflict",
                f"the {what}s of a `{type.python}` cannot be `{part.type.python}`",
                part.span,
                f"this is `{part.type.python}`",
                torch=said,
                torch_span=span,
            )
            return


def _report_no_pair(scope: Scope, item: typed.Expr, span: Span) -> None:
    scope.report(
        "argument-type",
        f"`dict` needs pairs of a key and a value, not `{item.type.python}`",
        span,
        f"goes over `{item.type.python}`",
        torch=f"{scope.torch_type(item)} cannot be used as a tuple",
    )


def _report_no_pairs(scope: Scope, count: int, span: Span) -> None:
    many = f"too many values to unpack: need 2 but found {count}"
    few = f"need 2 values to unpack but found only {count}"
    scope.report(
        "argument-type",
        f"`dict` needs pairs of a key and a value, not {count} values",
        span,
        f"{count} values in a turn",
        torch=many if count > 2 else few,
    )


def _unrolled_dict(
    scope: Scope,
    rows: list[Item],
    generator: tree.Generator | None,
    node: tree.DictComprehension | None,
    span: Span,
    wanted: Type | None,
    unpacking: list[typed.Statement],
) -> typed.Expr:
    """A dict comprehension over a tuple: its turns one after the other."""
    turns: list[typed.Statement] = []
    index = scope.temporary()
    type = wanted
    for number, row in enumerate(rows):
        turns.append(turn_number(number, span))
        key, value = _pair(scope, row, generator, node, span, turns)
        type = type or DictType(key.type, value.type)
        _check_pair(scope, key, value, type, span)
        target = typed.Temporary(span, type, index)
        turns.append(typed.Evaluate(span, set_item(scope, target, key, value, span)))
    type = type or DictType(STRING, TENSOR)
    start = typed.Let(span, index, typed.DictLiteral(NOWHERE, type, (), ()))
    statements = (*_begun(start, unpacking, generator, rows), *turns)
    return typed.Sequenced(span, type, statements, typed.Temporary(span, type, index))


def set_item(
    scope: Scope, target: typed.Expr, key: typed.Expr, value: typed.Expr, span: Span
) -> typed.Expr:
    """`target[key] = value` of a dict."""
    return call_operator(scope, "aten::_set_item", Given([target, key, value]), span)


def _names(generator: tree.Generator | None) -> list[str]:
    """The variables a comprehension binds."""
    found: list[str] = []
    targets = [generator.target] if generator is not None else []
    while targets:
        match targets.pop():
            case tree.Name(id=name):
                found.append(name)
            case tree.TupleDisplay(elements=elements) | tree.ListDisplay(elements=elements):
                targets.extend(elements)
    return found
