"""A function's parameters, its body, and what it returns at its end."""

from __future__ import annotations

from dataclasses import replace

from ...frontend.diagnostics.diagnostics import Help, Label
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.names import names_in
from ..definitions.functions import Function
from ..definitions.schema import Argument, Signature
from ..reports.corrections import is_left_out
from ..scopes.dispatch import block
from ..scopes.joins import insert_line
from ..scopes.scope import Scope
from ..trees import typed
from ..types.types import NONE, UNKNOWN, Type
from .parameters import argument_of, check_parameter
from .returns import returning

__all__ = ["function_body", "local_function"]


def function_body(scope: Scope) -> typed.TypedFunction:
    """Check the function of a scope; its signature is set before its body if it is annotated."""
    parameters = [check_parameter(scope, p, i) for i, p in enumerate(scope.tree.parameters)]
    taken_back = scope.collector.taking_back()
    arguments = tuple(argument_of(scope, p, t) for p, t in parameters)
    defaults = taken_back()
    if scope.tree.returns is not None:
        scope.declared_return = scope.annotations.read(scope.tree.returns)
        _declare(scope, arguments, scope.declared_return)
    body = block(scope, scope.tree.body)
    body = (*body, *_end(scope))
    returns = scope.declared_return
    if returns is None:
        returns = scope.returned if scope.returned is not None else NONE
        _declare(scope, arguments, returns)
    for diagnostic in defaults:  # torch looks at defaults when it has compiled the body
        scope.collector.add(diagnostic)
    named = tuple(typed.Parameter(p.span, p.name, t) for p, t in parameters)
    return typed.TypedFunction(scope.tree.span, scope.tree.name, named, returns, body)


def local_function(scope: Scope, node: tree.LocalFunction) -> typed.TypedFunction:
    """Check a function inside this one; what it reads from around it are its parameters."""
    made = tree.Function(node.span, node.name, node.span, (), None, node.body)
    function = Function(node.name, made, is_text=True)
    inner = Scope(function, scope.resolver, scope.table, scope.collector, scope.self_type)
    inner.temporaries = scope.temporaries
    read = (scope.frame.find(name) for name in names_in(node))
    around = [variable for variable in read if variable is not None]
    for variable in around:
        inner.frame.define(variable)
    body = function_body(inner)
    scope.temporaries = inner.temporaries
    parameters = tuple(
        typed.Parameter(node.span, v.name, v.type) for v in around if v.type is not None
    )
    return replace(body, parameters=parameters)


def _declare(scope: Scope, arguments: tuple[Argument, ...], returns: Type) -> None:
    name = scope.tree.name
    scope.function.declared = Signature(name, "", arguments, (Argument("", returns),))


def _end(scope: Scope) -> list[typed.Statement]:
    """What a body that reaches its end returns: None, if it may."""
    if scope.frame.exits:
        return []
    declared = scope.declared_return
    if declared is not None and declared is not NONE and declared is not UNKNOWN:
        if not is_left_out(scope):
            _report_missing_return(scope, declared)
        return []
    node = tree.Return(scope.tree.span, None)
    return [returning(scope, scope.none(scope.tree.span), node)]


def _report_missing_return(scope: Scope, declared: Type) -> None:
    name = scope.tree.name
    place, label, helps = _falling_off(scope)
    secondary: tuple[Label, ...] = ()
    if scope.tree.returns is not None:
        secondary = (Label(scope.tree.returns.span.whole, "return type declared here"),)
    scope.report(
        "missing-return",
        f"`{name}` returns `{declared.python}`, but can reach its end without a `return`",
        place,
        label,
        torch="Function was not annotated as having type None, but does not return along all paths",
        torch_span=scope.tree.span,
        secondary=secondary,
        helps=helps,
    )


def _falling_off(scope: Scope) -> tuple[Span, str, tuple[Help, ...]]:
    """The place of the path without a return: the last `if` that has no `else`."""
    last = scope.tree.body[-1] if scope.tree.body else None
    while isinstance(last, tree.If):
        if not last.orelse:
            return (
                _if_header(last),
                "when this is false, nothing is returned",
                (_raise_help(last),),
            )
        inner = last.orelse[-1]
        if not isinstance(inner, tree.If):
            break
        last = inner
    span = last.span if last is not None else scope.tree.name_span
    text = span.source.text
    end = text.find("\n", span.whole.start)
    end = min(span.end, end if end >= 0 else span.end)
    return Span(span.source, span.whole.start, end), "nothing is returned after this", ()


def _if_header(node: tree.If) -> Span:
    """`if test:` as written."""
    text = node.span.source.text
    colon = text.find(":", node.test.span.end)
    end = colon + 1 if colon >= 0 else node.test.span.end
    return Span(node.span.source, node.span.whole.start, end)


def _raise_help(node: tree.If) -> Help:
    source = node.span.source
    begin = source.line_starts[source.line_index(node.span.whole.start)]
    indent = " " * (node.span.whole.start - begin)
    message = '"no case applies"'
    match node.test:
        case tree.Compare(
            left=tree.Name(id=name), operators=("==",), rights=(tree.Literal(value=str()),)
        ):
            message = f'"unknown {name}: " + {name}'
    added = f"{indent}else:\n{indent}    raise ValueError({message})\n"
    return Help("return or raise on the remaining path", (insert_line(node.span, added),))
