"""Statements: branches, loops, exceptions."""

from __future__ import annotations

import builtins
from dataclasses import replace

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..binding.targets import assign_target
from ..calls.calls import make_exception
from ..definitions.names import ExceptionClass
from ..expressions.arguments import check_arguments
from ..expressions.iteration import as_iterated, loop_control, turn_number, unrolled_rows
from ..expressions.narrowing import Condition, check_condition, evaluated, refine
from ..expressions.operators import call_operator
from ..relations.matching import Given
from ..scopes.dispatch import block, checks_statement, expression, sugared
from ..scopes.environment import Variable
from ..scopes.joins import carried_variables, join_branches
from ..scopes.lint import warn_unused
from ..scopes.scope import Scope
from ..scopes.values import value_of
from ..trees import typed
from ..trees.sugar import Closure, ExceptionValue, Item, type_of
from ..types.types import STRING, UNKNOWN, Type
from .bodies import local_function


@checks_statement(tree.ExpressionStatement)
def check_expression_statement(
    scope: Scope, node: tree.ExpressionStatement, into: list[typed.Statement]
) -> None:
    """An expression for what it does; a text or number does nothing but take a number."""
    if isinstance(node.value, tree.Literal) and node.value.value is ...:
        scope.report(
            "unsupported-syntax",
            "`...` is no statement in script",
            node.span,
            "write `pass`",
            torch="Cannot emit expr for: (dots)\n",
        )
        return
    scope.discarded = node.value
    value = sugared(scope, node.value)
    if isinstance(value, typed.Expr):
        warn_unused(scope, node, value)
        into.append(typed.Evaluate(node.span, value))
    elif getattr(value, "torch_message", None) is not None:
        value_of(scope, value, node.value.span)


# ------------------------------------------------------------------------------ branches


@checks_statement(tree.If)
def check_if(scope: Scope, node: tree.If, into: list[typed.Statement]) -> None:
    """`if`; only one branch is checked if the condition is decided now."""
    scope.direct = node.test, node.span
    condition = check_condition(scope, node.test)
    if condition.static is not None:
        _static_if(scope, node, condition, into)
        return
    with scope.new_frame() as true:
        refined = refine(scope, condition.if_true, node.span)
        body = refined + block(scope, node.body)
    with scope.new_frame() as false:
        refined = refine(scope, condition.if_false, node.span)
        orelse = refined + block(scope, node.orelse)
    has_else = bool(node.orelse)
    joins = join_branches(scope, node.span, node.test.span, true, false, has_else=has_else)
    into.append(typed.If(node.span, condition.value, body, orelse, joins))


def _static_if(
    scope: Scope, node: tree.If, condition: Condition, into: list[typed.Statement]
) -> None:
    into.append(evaluated(condition.value))
    facts = condition.if_true if condition.static else condition.if_false
    into.extend(refine(scope, facts, node.span))
    into.extend(block(scope, node.body if condition.static else node.orelse))


@checks_statement(tree.Assert)
def check_assert(scope: Scope, node: tree.Assert, into: list[typed.Statement]) -> None:
    """`assert test, message` is `if test: pass` with an `else` that raises."""
    scope.direct = node.test, node.span
    condition = check_condition(scope, node.test)
    if condition.static:  # the message is not looked at
        into.append(evaluated(condition.value))
        into.extend(refine(scope, condition.if_true, node.span))
        return
    with scope.new_frame() as true:
        body: tuple[typed.Statement, ...] = ()
        if condition.static is None:
            body = refine(scope, condition.if_true, node.span)
    with scope.new_frame() as false:
        refined = refine(scope, condition.if_false, node.span)
        orelse = (*refined, _failure(scope, node))
        false.exits = True
    if condition.static is None:
        joins = join_branches(scope, node.span, node.test.span, true, false)
        into.append(typed.If(node.span, condition.value, body, orelse, joins))
    else:
        into.append(evaluated(condition.value))
        into.extend(orelse)
        scope.frame.exits = True


def _failure(scope: Scope, node: tree.Assert) -> typed.Raise:
    """The message is joined from "AssertionError: " and the text, as torch does."""
    span = node.span
    message: typed.Expr = typed.Literal(span, STRING, "")
    if node.message is not None:
        message = expression(scope, node.message)
    return typed.Raise(span, _assertion_text(scope, message, span), None)


def _assertion_text(scope: Scope, message: typed.Expr, span: Span) -> typed.Expr:
    before: list[typed.Statement] = []
    message = scope.let(message, before)  # torch, too, makes the message before what leads it
    start = scope.let(typed.Literal(span, STRING, "AssertionError: "), before)
    if message.type not in (STRING, UNKNOWN):
        message = call_operator(scope, "aten::str", Given([message]), span, written="str")
    text = call_operator(scope, "aten::add", Given([start, message]), span, written="+")
    return typed.Sequenced(span, text.type, tuple(before), text)


# --------------------------------------------------------------------------------- loops


@checks_statement(tree.While)
def check_while(scope: Scope, node: tree.While, into: list[typed.Statement]) -> None:
    """`while`; what the condition says of variables does not hold in the body, as in torch."""
    with scope.new_frame():
        condition = check_condition(scope, node.test, of_while=True)
    test = condition.value
    if not condition.cast:
        test = typed.Numbered(test.span, test.type, test)
    with scope.loop_body() as frame:
        body = block(scope, node.body)
    carried = carried_variables(scope, frame, node.span)
    into.append(typed.While(node.span, test, body, carried))


@checks_statement(tree.For)
def check_for(scope: Scope, node: tree.For, into: list[typed.Statement]) -> None:
    """`for`; a loop over a tuple is unrolled."""
    scope.direct = node.iterable, node.span
    iterated = as_iterated(scope, sugared(scope, node.iterable), node.span)
    known = type_of(iterated)
    if known is UNKNOWN:
        _check_body_only(scope, node)
        return
    rows = unrolled_rows(scope, iterated, into, node.span)
    if rows is not None:
        _unrolled_for(scope, node, rows, into)
        return
    control, item = loop_control(scope, iterated, node.span)
    with scope.loop_body() as frame:
        prelude: list[typed.Statement] = []
        told = len(scope.collector.found)
        assign_target(scope, node.target, item, node.span, prelude)
        if known is not None and known.dict_of is not None:
            _tell_of_keys(scope, node, known.dict_of[0], told)
        body = (*prelude, *block(scope, node.body))
    into.append(typed.For(node.span, control, body, carried_variables(scope, frame, node.span)))


def _tell_of_keys(scope: Scope, node: tree.For, key: Type, told: int) -> None:
    """Say of keys of a dict that cannot be unpacked that they are keys."""
    found, end = scope.collector.found, node.iterable.span.whole.end
    for at, error in enumerate(found[told:], told):
        items = Edit(Span(node.iterable.span.source, end, end), ".items()")
        found[at] = replace(
            error,
            message=f"a loop over a dict gives its keys, and `{key.python}` cannot be unpacked",
            primary=Label(node.target.span.whole, "one value in each turn"),
            helps=(Help("loop over keys and values", (items,)),),
        )


def _check_body_only(scope: Scope, node: tree.For) -> None:
    """The iterable is wrong; the body is checked for errors of its own."""
    with scope.loop_body() as frame:
        assign_target(scope, node.target, scope.unknown(node.span), node.span, [])
        block(scope, node.body)
    carried_variables(scope, frame, node.span)


def _unrolled_for(
    scope: Scope, node: tree.For, rows: list[Item], into: list[typed.Statement]
) -> None:
    scope.unrolled_depth += 1
    for number, row in enumerate(rows):
        if scope.frame.exits:
            break
        into.append(turn_number(number, node.span))
        assign_target(scope, node.target, row, node.span, into)
        into.extend(block(scope, node.body))
    scope.unrolled_depth -= 1


@checks_statement(tree.Break)
def check_break(scope: Scope, node: tree.Break, into: list[typed.Statement]) -> None:
    """`break`"""
    if _can_leave(scope, node, "break"):
        into.append(typed.Break(node.span))


@checks_statement(tree.Continue)
def check_continue(scope: Scope, node: tree.Continue, into: list[typed.Statement]) -> None:
    """`continue`"""
    if _can_leave(scope, node, "continue"):
        into.append(typed.Continue(node.span))


def _can_leave(scope: Scope, node: tree.Statement, word: str) -> bool:
    """Whether the loop around is one that a word can leave; a report if not."""
    if scope.unrolled_depth:
        scope.report(
            "unsupported-syntax",
            f"`{word}` cannot leave a loop over a tuple, which is unrolled",
            node.span,
            "not possible here",
            torch="Because we emit iteration over modulelists or tuples as unrolled loops, we "
            "do not support break or continue inside the body of these loops",
        )
    elif not scope.frame.is_inside_loop():
        scope.report(
            "unsupported-syntax",
            f"`{word}` outside of a loop",
            node.span,
            "no loop around it",
            torch=f"SyntaxError: '{word}' outside loop",
        )
    else:
        return True
    return False


@checks_statement(tree.LocalFunction)
def check_local_function(
    scope: Scope, node: tree.LocalFunction, into: list[typed.Statement]
) -> None:
    """A function inside this one."""
    body = local_function(scope, node)
    scope.define(Variable(node.name, None, node.span, sugar=Closure(body)))


@checks_statement(tree.Pass)
def check_pass(scope: Scope, node: tree.Pass, into: list[typed.Statement]) -> None:
    """`pass`"""


@checks_statement(tree.Raise)
def check_raise(scope: Scope, node: tree.Raise, into: list[typed.Statement]) -> None:
    """`raise Class(message)` or `raise Class`."""
    scope.frame.exits = True
    span = node.span
    made = _exception(scope, node)
    if made is None:
        into.append(typed.Raise(span, typed.Literal(span, STRING, ""), None))
        return
    message = made.message
    if made.qualified_name == "builtins.AssertionError":  # told as a failed assert is
        into.append(typed.Raise(span, _assertion_text(scope, message, span), None))
        return
    into.append(typed.Raise(span, message, made.qualified_name, made.span))


def _exception(scope: Scope, node: tree.Raise) -> ExceptionValue | None:
    """The exception that is raised; None for a bare class or after an error."""
    raised = node.exception
    if raised is None:
        _report_raise(scope, node, node.span, "nothing is raised here")
        return None
    function = raised.function if isinstance(raised, tree.Call) else raised
    name = _builtin_exception(function)
    if name is None:
        sugar = sugared(scope, raised)
        if isinstance(sugar, ExceptionValue):
            return sugar
        if not isinstance(sugar, ExceptionClass) and type_of(sugar) is not UNKNOWN:
            _report_raise(scope, node, raised.span, "not an exception")
        return None
    if not isinstance(raised, tree.Call):
        return None
    given = check_arguments(scope, raised, [])
    made = make_exception(ExceptionClass(f"builtins.{name}"), given, raised)
    return made if isinstance(made, ExceptionValue) else None


def _report_raise(scope: Scope, node: tree.Raise, span: Span, label: str) -> None:
    scope.report(
        "unsupported-syntax",
        "only an exception can be raised",
        span,
        label,
        torch="exceptions must derive from BaseException",
        torch_span=node.span,
    )


def _builtin_exception(node: tree.Expr) -> str | None:
    """The name of a builtin exception class, if that is what is written."""
    found = getattr(builtins, node.variable or "", None)
    return node.variable if isinstance(found, type) and issubclass(found, BaseException) else None
