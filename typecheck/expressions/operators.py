"""Calls of operators: overload choice, and the few operators torch writes in its own language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from ...frontend.diagnostics.near_miss import distance
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.sources.source import Source, Span
from ..definitions.schema import Argument, Signature
from ..relations.matching import Given, Match, choose
from ..reports.mismatches import report_mismatches
from ..scopes.lint import warn_copied
from ..scopes.scope import Scope
from ..trees import typed
from ..types.types import BOOL, COMPLEX, FLOAT, INT, NUMBER, STRING, TENSOR, UNKNOWN, ListType, Type

__all__ = ["call_operator", "has_operator"]


def _place(line: int, column: int) -> Span:
    """A place in torch's own definitions, which graphs print as `<string>:line:column`."""
    source = Source("\n" * (line - 1) + " " * (column + 1), "<string>")
    return Span(source, line - 1 + column, line + column)


Expansion = Callable[[Scope, Sequence[typed.Expr], Span], typed.Expr]


@dataclass(frozen=True)
class _Definition:
    """An operator defined by others: its parameters, and what a call of it becomes."""

    parameters: tuple[tuple[str, Type], ...]
    returns: Type
    span: Span
    expand: Expansion

    def signature(self, name: str) -> Signature:
        arguments = tuple(Argument(n, t) for n, t in self.parameters)
        return Signature(name.rpartition("::")[2], "", arguments, (Argument("", self.returns),))


def _swapped(name: str) -> Expansion:
    return lambda scope, args, span: call_operator(scope, name, Given([args[1], args[0]]), span)


def _subtract(scope: Scope, args: Sequence[typed.Expr], span: Span) -> typed.Expr:
    constants: list[typed.Statement] = []
    alpha = scope.let(typed.Literal(NOWHERE, INT, 1), constants)
    negative = call_operator(scope, "aten::neg", Given([args[1]]), span)
    given = Given([negative, args[0]], {"alpha": alpha})
    return _behind(constants, call_operator(scope, "aten::add", given, span))


def _behind(constants: list[typed.Statement], value: typed.Expr) -> typed.Expr:
    """What a definition gives, behind its constants, as in torch."""
    return typed.Sequenced(value.span, value.type, tuple(constants), value)


def _divide(scope: Scope, args: Sequence[typed.Expr], span: Span) -> typed.Expr:
    inverse = call_operator(scope, "aten::reciprocal", Given([args[1]]), span)
    return call_operator(scope, "aten::mul", Given([inverse, args[0]]), span)


def _floor_divide(scope: Scope, args: Sequence[typed.Expr], span: Span) -> typed.Expr:
    return call_operator(scope, "aten::floor_divide", Given(list(args)), span)


def _contains(scope: Scope, args: Sequence[typed.Expr], span: Span) -> typed.Expr:
    text, part = args
    constants: list[typed.Statement] = []
    start = scope.let(typed.Literal(_place(5, 26), INT, 0), constants)
    nothing = scope.let(typed.Literal(_place(5, 44), INT, -1), constants)
    end = call_operator(scope, "aten::len", Given([text]), _place(5, 29))
    found = call_operator(scope, "aten::find", Given([text, part, start, end]), span)
    return _behind(constants, call_operator(scope, "aten::ne", Given([found, nothing]), span))


def _unary(name: str) -> Expansion:
    return lambda scope, args, span: call_operator(scope, name, Given([args[0]]), span)


_TENSOR_PROPERTIES: list[tuple[str, int, Type, str]] = [
    ("prim::ndim", 3, INT, "aten::dim"),
    ("prim::T", 5, TENSOR, "aten::numpy_T"),
    ("prim::H", 7, TENSOR, "aten::matrix_H"),
    ("prim::shape", 13, ListType(INT), "aten::size"),
]


def _definitions() -> dict[str, list[_Definition]]:
    """What torch defines in its own language, with the places it prints for them."""
    found: dict[str, list[_Definition]] = {}
    scalar: list[tuple[str, int, Expansion]] = [
        ("aten::mul", 3, _swapped("aten::mul")),
        ("aten::add", 5, _swapped("aten::add")),
        ("aten::ne", 7, _swapped("aten::ne")),
        ("aten::eq", 9, _swapped("aten::eq")),
        ("aten::sub", 11, _subtract),
        ("aten::div", 13, _divide),
    ]
    ordered: list[tuple[str, int, Expansion]] = [
        ("aten::lt", 3, _swapped("aten::gt")),
        ("aten::le", 5, _swapped("aten::ge")),
        ("aten::gt", 7, _swapped("aten::lt")),
        ("aten::ge", 9, _swapped("aten::le")),
    ]
    for types, rows in (((FLOAT, INT, COMPLEX), scalar), ((FLOAT, INT), ordered)):
        for name, line, expand in rows:
            for left in types:
                parameters = (("a", left), ("b", TENSOR))
                entry = _Definition(parameters, TENSOR, _place(line, 9), expand)
                found.setdefault(name, []).append(entry)
    for right in (NUMBER, TENSOR):
        parameters = (("self", TENSOR), ("other", right))
        entry = _Definition(parameters, TENSOR, _place(3, 9), _floor_divide)
        found.setdefault("aten::floordiv", []).append(entry)
    text = (("self", STRING), ("key", STRING))
    found["aten::__contains__"] = [_Definition(text, BOOL, _place(5, 11), _contains)]
    for name, line, result, operator in _TENSOR_PROPERTIES:
        found[name] = [_Definition((("a", TENSOR),), result, _place(line, 9), _unary(operator))]
    return found


_DEFINED = _definitions()


@cache
def _signatures_of(name: str) -> list[Signature]:
    """Those of an operator that is defined by others."""
    return [each.signature(name) for each in _DEFINED[name]]


def has_operator(scope: Scope, name: str) -> bool:
    """Whether there is an operator of the name, or torch defines one by others."""
    return name in _DEFINED or bool(scope.table.overloads(name))


def call_operator(
    scope: Scope,
    name: str,
    given: Given,
    span: Span,
    *,
    written: str = "",
    torch_span: Span | None = None,
) -> typed.Expr:
    """A call of `aten::name`; `written` is how the user wrote the function.

    The first overload that fits is taken; what fits none is reported.
    """
    operators = scope.table.overloads(name)
    defined = _DEFINED.get(name, [])
    if not operators and not defined:
        return _unknown_operator(scope, name, span, torch_span)
    if any(e.type is UNKNOWN for e in given.all):
        return _call_unknown(scope, operators, given, span)
    signatures = [*operators, *_signatures_of(name)] if defined else operators
    found = choose(signatures, given, scope.table)
    if not isinstance(found, Match):
        report_mismatches(scope, found, given, span, written or name, torch_span)
        return scope.unknown(span)
    place = next((i for i, s in enumerate(signatures) if s is found.signature), 0)
    if place >= len(operators):
        return _expand(scope, defined[place - len(operators)], found, span)
    arguments = found.signature.arguments
    if arguments and arguments[0].alias is not None and arguments[0].alias.is_write:
        warn_copied(scope, found.inputs[0], span)
    return typed.OperatorCall(
        span, found.result(), found.signature, found.inputs, found.bindings, found.discarded
    )


def _call_unknown(
    scope: Scope, operators: Sequence[Signature], given: Given, span: Span
) -> typed.Expr:
    """A call with an argument in error: its type, if all overloads that fit agree on one."""
    found = choose(operators, given, scope.table) if len(operators) == 1 else None
    if isinstance(found, Match):
        return typed.Uninitialized(span, found.result())
    return scope.unknown(span)


def _expand(scope: Scope, definition: _Definition, found: Match, span: Span) -> typed.Expr:
    statements: list[typed.Statement] = []
    named = [scope.let(e, statements) for e in found.inputs]
    arguments: list[typed.Expr] = []
    for binding, (_, type) in zip(found.bindings, definition.parameters, strict=True):
        assert isinstance(binding, typed.Given)
        value = named[binding.index]
        for conversion in binding.conversions:
            value = typed.OperatorCall(span, type, conversion, (value,), (typed.Given(0),))
        arguments.append(value)
    result = definition.expand(scope, arguments, definition.span)
    if not statements:
        return result
    return typed.Sequenced(span, result.type, tuple(statements), result)


def _unknown_operator(scope: Scope, name: str, span: Span, torch_span: Span | None) -> typed.Expr:
    """Report a function of torch that is no operator."""
    short = name.rpartition("::")[2]
    names = [n.rpartition("::")[2] for n in scope.table.names() if n.startswith("aten::")]
    scope.report(
        "unknown-op",
        f"there is no operator `{short}`",
        torch_span or span,
        "called here",
        torch=f"Unknown builtin op: {name}.\n{_similar(name, names)}",
        torch_span=torch_span or span,
        helps=scope.near(short, names, _last_name(torch_span or span)),
    )
    return scope.unknown(span)


def _similar(name: str, names: Sequence[str]) -> str:
    """Torch's sentence about operators of nearly that name, the nearest first."""
    short = name.removeprefix("aten::")
    near = sorted({(apart, n) for n in names if (apart := distance(short, n)) <= 2})
    if near:
        rows = "".join(f"\taten::{n}\n" for _, n in near)
        return f"Here are some suggestions: \n{rows}\nThe original call is"
    return (
        f"Could not find any similar ops to {name}. This op may not exist or may not be "
        "currently supported in TorchScript.\n"
    )


def _last_name(span: Span) -> Span:
    """The name after the last dot of a dotted name."""
    text = span.text
    dot = text.rfind(".")
    return Span(span.source, span.whole.start + dot + 1, span.end)
