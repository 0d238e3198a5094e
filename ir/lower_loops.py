"""Loops of the typed tree, and the comprehensions, which are loops too.

A loop under construction has two blocks, the body and one that computes the condition; `ssa` puts
copies of the second before the loop and at the end of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..frontend.source import Span
from ..typecheck import typed
from ..typecheck.types import BOOL, INT, DictType, ListType
from .graph import Node, Value
from .lower_expressions import ExpressionLowering

__all__ = ["MAX_TRIPS", "LoopLowering"]

MAX_TRIPS = 2**63 - 1
"""The trip count of a loop that only its condition ends."""


@dataclass
class Walk:
    """An iterable, evaluated: its length, and how an element is read at an index."""

    lengths: list[Value]
    bind: Callable[[Value], None]


class LoopLowering(ExpressionLowering):
    """`for`, `while` and comprehensions."""

    def while_loop(self, statement: typed.While) -> None:
        trips = self.number(MAX_TRIPS, INT, statement.span)
        node = self.emit("prim::Loop", (trips,), (), statement.span)
        body, condition = node.add_block(), node.add_block()
        with self.in_block(condition):
            condition.add_output(self.expression(statement.test))
        self.graph.skip_ids(1)  # so that values are numbered as torch numbers them
        body.add_input(INT)
        with self.in_block(body):
            self.statements(statement.body)

    def for_loop(self, statement: typed.For) -> None:
        def body() -> None:
            self.statements(statement.body)

        self._counted(statement.iterable, statement.span, body)

    def _counted(self, iterable: typed.Iterable, span: Span, emit_body: Callable[[], None]) -> Node:
        walk = self._walk(self._evaluated(iterable))
        trips = self._trips(walk.lengths, span)
        condition_value = self.constant(True, BOOL, span)
        node = self.emit("prim::Loop", (trips,), (), span)
        body, condition = node.add_block(), node.add_block()
        condition.add_output(condition_value)
        index = body.add_input(INT)
        with self.in_block(body):
            walk.bind(index)
            emit_body()
        return node

    def _trips(self, lengths: Sequence[Value], span: Span) -> Value:
        if len(lengths) == 1:
            return lengths[0]
        values = self.make_list(lengths, INT)
        return self.builtin("prim::min", "self_int", (values,), INT, span)

    # -- iterables

    def _evaluated(self, iterable: typed.Iterable) -> _Evaluated:
        """Emit the expressions of an iterable, in order."""
        match iterable:
            case typed.Range():
                return self._evaluated_range(iterable)
            case typed.Sequence():
                return _EvaluatedSequence(iterable, self.expression(iterable.value))
            case typed.Zip():
                return [self._evaluated(child) for child in iterable.children]

    def _evaluated_range(self, range: typed.Range) -> _EvaluatedRange:
        def value(expr: typed.Expr | None, otherwise: int) -> Value:
            if expr is None:
                return self.constant(otherwise, INT, range.span)
            return self.expression(expr)

        if range.stop is None:
            start = None if range.start is None else self.expression(range.start)
            stop = self.number(MAX_TRIPS, INT, range.span)
        elif range.start is None:
            self.graph.skip_ids(2)  # torch makes a start and a step first
            return _EvaluatedRange(range, self.expression(range.stop), None, None)
        else:
            start, stop = self.expression(range.start), self.expression(range.stop)
        step = None if start is None else value(range.step, 1)
        return _EvaluatedRange(range, stop, start, step)

    def _walk(self, evaluated: _Evaluated) -> Walk:
        if isinstance(evaluated, _EvaluatedRange):
            return self._walk_range(evaluated)
        if isinstance(evaluated, _EvaluatedSequence):
            return self._walk_sequence(evaluated)
        children = [self._walk(child) for child in evaluated]

        def bind(index: Value) -> None:
            for child in children:
                child.bind(index)

        return Walk([length for child in children for length in child.lengths], bind)

    def _walk_range(self, range: _EvaluatedRange) -> Walk:
        span, item = range.form.span, range.form.item
        start, step = range.start, range.step
        if start is None or step is None:
            return Walk([range.stop], lambda index: self._bind(item, index))
        inputs = (start, range.stop, step)
        length = self.builtin("aten::__range_length", "", inputs, INT, span)

        def bind(index: Value) -> None:
            value = self.builtin("aten::__derive_index", "", (index, start, step), INT, span)
            self._bind(item, value)

        return Walk([length], bind)

    def _walk_sequence(self, sequence: _EvaluatedSequence) -> Walk:
        form, value = sequence.form, sequence.value
        length = self.operator(form.length, (value,), INT, form.span)

        def bind(index: Value) -> None:
            arguments = self.arguments((value, index), form.item_bindings, form.span)
            item = self.operator(form.item_signature, arguments, form.item_type, form.span)
            self._bind(form.item, item)

        return Walk([length], bind)

    def _bind(self, temporary: int, value: Value) -> None:
        self.temporaries[temporary] = value

    # -- comprehensions

    def comprehension(self, expr: typed.ListComprehension | typed.DictComprehension) -> Value:
        is_list = isinstance(expr, typed.ListComprehension)
        kind = "prim::ListConstruct" if is_list else "prim::DictConstruct"
        result = self.emit(kind, (), (expr.type,)).output
        scope = self.emit("prim::Scope")
        with self.in_block(scope.add_block()):
            self._counted(expr.iterable, expr.span, lambda: self._round(expr, result))
        return result

    def _round(
        self, expr: typed.ListComprehension | typed.DictComprehension, result: Value
    ) -> None:
        self.statements(expr.prelude)
        if expr.condition is None:
            self._add(expr, result)
            return
        node = self.branch(self.expression(expr.condition), expr.span)
        with self.in_block(node.blocks[0]):
            self._add(expr, result)

    def _add(self, expr: typed.ListComprehension | typed.DictComprehension, result: Value) -> None:
        if isinstance(expr, typed.ListComprehension):
            element = self.expression(expr.element)
            self.builtin("aten::append", "t", (result, element), ListType(element.type), expr.span)
            return
        key, value = self.expression(expr.key), self.expression(expr.value)
        if not isinstance(expr.type, DictType):
            raise TypeError(f"{expr.type} is not a dict type")
        overload = str(expr.type.key).split("(")[0]
        inputs = (result, key, value)
        self.builtin("aten::_set_item", overload, inputs, expr.type, expr.span)


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
