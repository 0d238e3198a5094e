"""Expressions of the typed tree as nodes, in order of evaluation; calls are in `lower_calls`."""

from __future__ import annotations

from collections.abc import Sequence

from ...typecheck.trees import typed
from ...typecheck.types.types import BOOL
from ..graphs.constants import MISSING, constant_value, type_of
from ..graphs.graph import Block, Value
from .emitter import Emitter
from .lowering import all_lowered, lower_block, lowered, lowers, lowers_statement

_SIGNS = frozenset({"aten::neg", "aten::bitwise_not"})

_STATEMENTS = frozenset({"prim::Print", "aten::Delete"})
"""What stands for a statement of its own: torch makes no empty tuple of what it gives."""


# -- variables, literals and operators


@lowers(typed.Local)
def _local(emitter: Emitter, expr: typed.Local) -> Value:
    return emitter.load(expr.name, expr.type)


@lowers(typed.Temporary)
def _temporary(emitter: Emitter, expr: typed.Temporary) -> Value:
    return emitter.temporaries[expr.index]


@lowers(typed.Literal)
def _literal(emitter: Emitter, expr: typed.Literal) -> Value:
    value = expr.value
    numeric = isinstance(value, (int, float, complex)) and not isinstance(value, bool)
    if numeric and expr.span.text[:1] in set("0123456789."):
        return emitter.number(value, expr.type, expr.span)  # type: ignore[arg-type]
    return emitter.constant(value, expr.type, expr.span)


@lowers(typed.PlaceNumber)
def _place_number(emitter: Emitter, expr: typed.PlaceNumber) -> Value:
    return emitter.number(expr.number, expr.type, expr.span)


@lowers_statement(typed.Evaluate)
def _evaluate(emitter: Emitter, statement: typed.Evaluate) -> None:
    call = statement.value
    if isinstance(call, typed.OperatorCall) and call.signature.name in _STATEMENTS:
        emitter.operator_node(call.signature, _arguments(emitter, call), call.type, call.span)
    else:
        lowered(emitter, call)


def _arguments(emitter: Emitter, expr: typed.OperatorCall) -> list[Value]:
    inputs = all_lowered(emitter, expr.inputs)
    emitter.drop(expr.discarded)
    return emitter.arguments(inputs, expr.bindings, expr.span)


@lowers(typed.OperatorCall)
def _operator_call(emitter: Emitter, expr: typed.OperatorCall) -> Value:
    arguments = _arguments(emitter, expr)
    if expr.signature.name in _SIGNS and expr.span.text[:1] in ("-", "~"):
        folded = _signed(emitter, expr, arguments)
        if folded is not None:
            return folded
    return emitter.operator(expr.signature, arguments, expr.type, expr.span)


def _signed(emitter: Emitter, expr: typed.OperatorCall, arguments: Sequence[Value]) -> Value | None:
    """`-1` is a constant of the program, with its place."""
    value = constant_value(arguments[0])
    if value is MISSING or not isinstance(value, (int, float, complex)):
        return None
    result = emitter.evaluate(expr.signature, [value])
    emitter.drop(1)  # torch makes the operator's result first
    return emitter.constant(result, type_of(result, expr.type), expr.span)


@lowers(typed.GetAttribute)
def _attribute(emitter: Emitter, expr: typed.GetAttribute) -> Value:
    return emitter.attribute(lowered(emitter, expr.object), expr.name, expr.type)


# -- tuples, lists and dicts


@lowers(typed.TupleLiteral)
def _tuple(emitter: Emitter, expr: typed.TupleLiteral) -> Value:
    made = emitter.make_tuple(all_lowered(emitter, expr.elements), expr.type)
    if expr.type.tuple_name is not None:
        made.node.span = expr.span
    return made


@lowers(typed.TupleIndex)
def _tuple_index(emitter: Emitter, expr: typed.TupleIndex) -> Value:
    value = lowered(emitter, expr.value)
    if expr.written is None:
        return emitter.index(value, expr.index, expr.type)
    index = lowered(emitter, expr.written)
    return emitter.emit("prim::TupleIndex", (value, index), (expr.type,)).output


@lowers(typed.TupleSlice)
def _tuple_slice(emitter: Emitter, expr: typed.TupleSlice) -> Value:
    value = lowered(emitter, expr.value)
    types = value.type.tuple_of
    if types is None:
        raise TypeError(f"{value.type} is not a tuple type")
    chosen = range(expr.start, expr.stop, expr.step)
    elements = [emitter.index(value, i, types[i]) for i in chosen]
    return emitter.make_tuple(elements, expr.type)


@lowers(typed.ListLiteral)
def _list(emitter: Emitter, expr: typed.ListLiteral) -> Value:
    inputs = all_lowered(emitter, expr.elements)
    kind = "prim::ListConstruct" if expr.hinted else "prim::EmptyListLiteral"
    return emitter.emit(kind, inputs, (expr.type,)).output


@lowers(typed.DictLiteral)
def _dict(emitter: Emitter, expr: typed.DictLiteral) -> Value:
    pairs = zip(expr.keys, expr.values, strict=True)
    inputs = [lowered(emitter, part) for pair in pairs for part in pair]
    return emitter.emit("prim::DictConstruct", inputs, (expr.type,)).output


# -- types


@lowers(typed.UncheckedCast)
def _cast(emitter: Emitter, expr: typed.UncheckedCast) -> Value:
    value = lowered(emitter, expr.value)
    return emitter.emit("prim::unchecked_cast", (value,), (expr.type,)).output


@lowers(typed.Numbered)
def _numbered(emitter: Emitter, expr: typed.Numbered) -> Value:
    value = lowered(emitter, expr.value)
    emitter.drop(1)
    return value


@lowers(typed.IsInstance)
def _is_instance(emitter: Emitter, expr: typed.IsInstance) -> Value:
    node = emitter.emit("prim::isinstance", (lowered(emitter, expr.value),), (BOOL,))
    node.attributes["types"] = list(expr.types)
    return node.output


@lowers(typed.Uninitialized)
def _uninitialized(emitter: Emitter, expr: typed.Uninitialized) -> Value:
    return emitter.uninitialized(expr.type, expr.span)


# -- order and choice


@lowers(typed.Sequenced)
def _sequenced(emitter: Emitter, expr: typed.Sequenced) -> Value:
    lower_block(emitter, expr.statements)
    return lowered(emitter, expr.value)


@lowers(typed.Conditional)
def _conditional(emitter: Emitter, expr: typed.Conditional) -> Value:
    test = lowered(emitter, expr.test)
    node = emitter.branch(test, expr.span)
    branches = (expr.body_refinements, expr.body), (expr.orelse_refinements, expr.orelse)
    for (refinements, value), block in zip(branches, node.blocks, strict=True):
        _branch_value(emitter, block, refinements, value)
    return node.add_output(expr.type)


@lowers(typed.ShortCircuit)
def _short_circuit(emitter: Emitter, expr: typed.ShortCircuit) -> Value:
    left = lowered(emitter, expr.left)
    node = emitter.branch(left, expr.span)
    is_or = expr.operator == "or"
    known, evaluated = node.blocks if is_or else reversed(node.blocks)
    if is_or:
        _branch_constant(emitter, known, expr)
    _branch_value(emitter, evaluated, expr.refinements, expr.right)
    if not is_or:
        _branch_constant(emitter, known, expr)
    return node.add_output(BOOL)


def _branch_value(
    emitter: Emitter, block: Block, refinements: Sequence[typed.Statement], value: typed.Expr
) -> None:
    with emitter.in_block(block):
        lower_block(emitter, refinements)
        block.add_output(lowered(emitter, value))


def _branch_constant(emitter: Emitter, block: Block, expr: typed.ShortCircuit) -> None:
    with emitter.in_block(block):
        lower_block(emitter, expr.skipped_refinements)
        block.add_output(emitter.constant(expr.operator == "or", BOOL, expr.span))
