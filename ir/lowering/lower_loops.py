"""Loops of the typed tree, and the comprehensions, which are loops too.

A loop under construction has two blocks, the body and one that computes the condition; `ssa` puts
copies of the second before the loop and at the end of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...frontend.sources.source import Span
from ...typecheck.trees import typed
from ...typecheck.types.types import BOOL, INT
from ..graphs.graph import Node, Value
from .emitter import Emitter
from .lowering import lower_block, lowered, lowers, lowers_statement

MAX_TRIPS = 2**63 - 1


"""The trip count of a loop that only its condition ends."""


@dataclass
class Walk:
    """An iterable, evaluated: its length, and how an element is read at an index."""

    lengths: list[Value]
    bind: Callable[[Value], None]


@lowers_statement(typed.While)
def _while(emitter: Emitter, statement: typed.While) -> None:
    trips = emitter.number(MAX_TRIPS, INT, statement.span)
    node = emitter.emit("prim::Loop", (trips,), (), statement.span)
    body, condition = node.add_block(), node.add_block()
    with emitter.in_block(condition):
        condition.add_output(lowered(emitter, statement.test))
    body.add_input(INT)
    with emitter.in_block(body):
        lower_block(emitter, statement.body)


@lowers_statement(typed.For)
def _for(emitter: Emitter, statement: typed.For) -> None:
    def body() -> None:
        lower_block(emitter, statement.body)

    _counted(emitter, _evaluated(emitter, statement.iterable), statement.span, body)


def _counted(
    emitter: Emitter,
    evaluated: _Evaluated,
    span: Span,
    emit_body: Callable[[], None],
    makes_tuple: bool = True,
) -> Node:
    walk = _walk(emitter, evaluated, makes_tuple)
    trips = _trips(emitter, walk.lengths, span)
    condition_value = emitter.constant(True, BOOL, span)
    node = emitter.emit("prim::Loop", (trips,), (), span)
    body, condition = node.add_block(), node.add_block()
    condition.add_output(condition_value)
    index = body.add_input(INT)
    with emitter.in_block(body):
        walk.bind(index)
        emit_body()
    return node


def _trips(emitter: Emitter, lengths: Sequence[Value], span: Span) -> Value:
    if len(lengths) == 1:
        return lengths[0]
    values = emitter.make_list(lengths, INT)
    return emitter.builtin("prim::min", "self_int", (values,), INT, span)


def _evaluated(emitter: Emitter, iterable: typed.Iterable) -> _Evaluated:
    """Emit the expressions of an iterable, in order."""
    match iterable:
        case typed.Range():
            return _evaluated_range(emitter, iterable)
        case typed.Sequence():
            return _EvaluatedSequence(iterable, lowered(emitter, iterable.value))
        case typed.Zip():
            made = [_evaluated(emitter, child) for child in iterable.children]
            for child in made:
                _add_step(emitter, child)
            return made


def _add_step(emitter: Emitter, child: _Evaluated) -> None:
    """torch makes a start and a step of `enumerate` behind what it walks."""
    if not isinstance(child, _EvaluatedRange):
        return
    if _is_counting(child.form):
        emitter.drop(2)
    elif child.step is None and child.form.step is not None:
        child.step = lowered(emitter, child.form.step)


def _is_counting(range: typed.Range) -> bool:
    """Whether it counts from 0 on, for `enumerate`."""
    return range.start is None and range.stop is None


def _evaluated_range(emitter: Emitter, range: typed.Range) -> _EvaluatedRange:
    def value(expr: typed.Expr | None, otherwise: int) -> Value:
        if expr is None:
            return emitter.constant(otherwise, INT, range.span)
        return lowered(emitter, expr)

    if range.stop is None:
        start = None if range.start is None else lowered(emitter, range.start)
        stop = emitter.number(MAX_TRIPS, INT, range.span)
    elif range.start is None:
        stop = lowered(emitter, range.stop)
        emitter.drop(2)  # torch makes a start and a step
        return _EvaluatedRange(range, stop, None, None)
    else:
        start, stop = lowered(emitter, range.start), lowered(emitter, range.stop)
        if isinstance(range.stop, typed.PlaceNumber):
            return _EvaluatedRange(range, stop, start, None)
    step = None if start is None else value(range.step, 1)
    return _EvaluatedRange(range, stop, start, step)


def _walk(emitter: Emitter, evaluated: _Evaluated, makes_tuple: bool = True) -> Walk:
    if isinstance(evaluated, _EvaluatedRange):
        return _walk_range(emitter, evaluated)
    if isinstance(evaluated, _EvaluatedSequence):
        return _walk_sequence(emitter, evaluated)
    children = [_walk(emitter, child) for child in evaluated]

    def bind(index: Value) -> None:
        for child in children:
            child.bind(index)
        if makes_tuple:
            emitter.drop(1)  # which torch makes of them

    return Walk([length for child in children for length in child.lengths], bind)


def _walk_range(emitter: Emitter, range: _EvaluatedRange) -> Walk:
    span, item = range.form.span, range.form.item
    start, step = range.start, range.step
    if start is None or step is None:
        return Walk([range.stop], lambda index: _bind(emitter, item, index))
    inputs = (start, range.stop, step)
    length = emitter.builtin("aten::__range_length", "", inputs, INT, span)

    def bind(index: Value) -> None:
        value = emitter.builtin("aten::__derive_index", "", (index, start, step), INT, span)
        _bind(emitter, item, value)

    return Walk([length], bind)


def _walk_sequence(emitter: Emitter, sequence: _EvaluatedSequence) -> Walk:
    form, value = sequence.form, sequence.value
    length = emitter.operator(form.length, (value,), INT, form.span)

    def bind(index: Value) -> None:
        arguments = emitter.arguments((value, index), form.item_bindings, form.span)
        item = emitter.operator(form.item_signature, arguments, form.item_type, form.span)
        _bind(emitter, form.item, item)

    return Walk([length], bind)


def _bind(emitter: Emitter, temporary: int, value: Value) -> None:
    emitter.temporaries[temporary] = value


@lowers(typed.ListComprehension)
def _list_comprehension(emitter: Emitter, expr: typed.ListComprehension) -> Value:
    return _comprehension(emitter, expr, "prim::ListConstruct")


@lowers(typed.DictComprehension)
def _dict_comprehension(emitter: Emitter, expr: typed.DictComprehension) -> Value:
    return _comprehension(emitter, expr, "prim::DictConstruct")


def _comprehension(
    emitter: Emitter, expr: typed.ListComprehension | typed.DictComprehension, kind: str
) -> Value:
    evaluated = None
    for _ in range(expr.before):
        evaluated = _evaluated(emitter, expr.iterable)
    result = emitter.emit(kind, (), (expr.type,)).output
    scope = emitter.emit("prim::Scope")
    with emitter.in_block(scope.add_block()):
        walked = evaluated if evaluated is not None else _evaluated(emitter, expr.iterable)
        is_list = isinstance(expr, typed.ListComprehension)
        _counted(
            emitter,
            walked,
            expr.span,
            lambda: _round(emitter, expr, result),
            makes_tuple=not (is_list and expr.before),
        )
    return result


def _round(
    emitter: Emitter, expr: typed.ListComprehension | typed.DictComprehension, result: Value
) -> None:
    lower_block(emitter, expr.prelude)
    if expr.condition is None:
        _add(emitter, expr, result)
        return
    node = emitter.branch(lowered(emitter, expr.condition), expr.span)
    with emitter.in_block(node.blocks[0]):
        _add(emitter, expr, result)


def _add(
    emitter: Emitter, expr: typed.ListComprehension | typed.DictComprehension, result: Value
) -> None:
    if isinstance(expr, typed.ListComprehension):
        element = lowered(emitter, expr.element)
        emitter.builtin("aten::append", "t", (result, element), expr.type, expr.span)
        return
    key, value = lowered(emitter, expr.key), lowered(emitter, expr.value)
    if expr.type.dict_of is None:
        raise TypeError(f"{expr.type} is not a dict type")
    overload = str(expr.type.dict_of[0]).split("(")[0]
    inputs = (result, key, value)
    emitter.builtin("aten::_set_item", overload, inputs, expr.type, expr.span)


@dataclass
class _EvaluatedRange:
    form: typed.Range
    stop: Value
    start: Value | None
    step: Value | None


@dataclass
class _EvaluatedSequence:
    form: typed.Sequence
    value: Value


_Evaluated = _EvaluatedRange | _EvaluatedSequence | list["_Evaluated"]
