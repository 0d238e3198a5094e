"""Calls of script functions and of methods of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ...frontend.diagnostics.diagnostics import Demand, Label
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.torch_ranges import whole_range
from ..definitions.class_types import ClassType
from ..definitions.functions import Function, RecursiveDefinition
from ..definitions.names import FunctionName
from ..definitions.schema import Signature
from ..relations.matching import Given, match_signature
from ..reports.mismatches import report_mismatch
from ..scopes.scope import Scope
from ..trees import typed
from ..trees.sugar import BoundMethod

__all__ = ["call_bound", "call_function", "call_method", "placed", "shifted", "signature_of"]


@contextmanager
def _demanding(
    scope: Scope, function: Function, node: tree.Expr, named: FunctionName | None
) -> Iterator[None]:
    """While the callee is compiled, its diagnostics say why it is."""
    direct = scope.direct
    span = direct[1] if direct is not None and direct[0] is node else whole_range(node)
    written = node.function.span.whole if isinstance(node, tree.Call) else None
    holder, attribute = ("", "") if named is None else (named.holder, named.attribute)
    scope.collector.demands.append(
        Demand(_title(function), _title(scope.function), span, written, holder, attribute)
    )
    try:
        yield
    finally:
        scope.collector.demands.pop()


def signature_of(
    scope: Scope,
    function: Function,
    node: tree.Expr,
    place: Span,
    named: FunctionName | None = None,
) -> Signature | None:
    """The callee's signature, its body checked now if that has not happened."""
    if not function.is_being_defined:
        try:
            with _demanding(scope, function, node, named):
                return function.signature
        except RecursiveDefinition:
            # Its own error was reported while it was being defined, or it is a recursion.
            if not function.is_being_defined:
                return None
    kind = "method" if function.owner is not None else "function"
    secondary: tuple[Label, ...] = ()
    if function.tree is not None:
        secondary = (Label(function.tree.name_span, "still being compiled"),)
    scope.report(
        "recursion",
        f"`{function.name}` calls itself, which script cannot do",
        place,
        "a recursive call",
        torch=f" {kind} '{function.name}' is called recursively. Recursive calls are not supported",
        secondary=secondary,
    )
    return None


def call_function(scope: Scope, function: Function, given: Given, node: tree.Call) -> typed.Expr:
    """A call of a script function."""
    place = node.function.span
    signature = signature_of(scope, function, node, place)
    if signature is None:
        return scope.unknown(node.span)
    found = match_signature(signature, given, scope.table, convert=True)
    if not found:
        report_mismatch(scope, found, given, node.span, function, place)
        return typed.Uninitialized(node.span, signature.returns[0].type)
    return typed.FunctionCall(node.span, found.result(), function, found.inputs, found.bindings)


def call_bound(scope: Scope, callee: BoundMethod, given: Given, node: tree.Call) -> typed.Expr:
    """`object.method(...)`."""
    place = node.function.span
    signature = signature_of(scope, callee.function, node, place)
    if signature is None:
        return scope.unknown(node.span)
    whole = Given([callee.receiver, *given.positional], given.keywords, None, given.spans)
    found = match_signature(signature, whole, scope.table, convert=True)
    if not found:
        report_mismatch(scope, found, whole, node.span, callee.function, place)
        return typed.Uninitialized(node.span, signature.returns[0].type)
    bindings = tuple(shifted(b) for b in found.bindings[1:])
    return typed.MethodCall(
        node.span,
        found.result(),
        callee.receiver,
        callee.name,
        signature,
        found.inputs[1:],
        bindings,
    )


def call_method(
    scope: Scope, value: typed.Expr, name: str, arguments: list[typed.Expr], span: Span
) -> typed.Expr:
    """A call, of the language's own making, of a method such as `__getitem__`."""
    type = value.type
    method = type.magic(name) if isinstance(type, ClassType) else None
    function = tree.Name(span, name)
    node = tree.Call(span, function, (), ())
    if method is None:
        scope.report(
            "missing-attribute",
            f"`{type.python}` has no method `{name}`",
            span,
            f"needs `{name}`",
            torch=f"'{type}' object has no attribute or method '{name}'. "
            "Did you forget to initialize an attribute in __init__()?",
        )
        return scope.unknown(span)
    return call_bound(scope, BoundMethod(value, name, method), Given(arguments), node)


def _title(function: Function) -> str:
    """How torch names a function in the chain of those that are compiled."""
    if function.owner is not None:
        return f"{function.owner.name}.{function.name}"
    return function.name


def shifted(binding: typed.Binding) -> typed.Binding:
    """The binding, for inputs without the first."""
    return placed(binding, lambda index: index - 1)


def placed(binding: typed.Binding, place: Callable[[int], int]) -> typed.Binding:
    """The binding, for inputs in other places."""
    match binding:
        case typed.Given() | typed.FromTuple() | typed.Rebuilt():
            return replace(binding, index=place(binding.index))
        case typed.Gathered(elements):
            moved = [replace(each, index=place(each.index)) for each in elements]
            return replace(binding, elements=tuple(moved))
        case typed.Repeated(typed.Given() as element):
            return replace(binding, element=replace(element, index=place(element.index)))
    return binding
