"""Functions of several signatures: `_overload` and `_overload_method`.

@torch.jit._overload
def twice(x: int) -> int: ...
@torch.jit._overload
def twice(x: str) -> str: ...
def twice(x):
    return x + x
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import replace
from textwrap import dedent
from typing import Any, TypeVar

from ..frontend.diagnostics.diagnostics import Collector
from ..frontend.syntax import tree
from ..frontend.syntax.from_python import function_tree
from .qualified_names import qualified_name

__all__ = ["overload", "overload_method", "overloads_of", "tree_of_overload"]

Function = TypeVar("Function", bound=Callable[..., object])

_declared: dict[tuple[str, str], list[Callable[..., object]]] = {}


def _key(function: Any) -> tuple[str, str]:
    """Where a function is written: ours may be called torch's in between (`as_torch`)."""
    root, dot, rest = function.__module__.partition(".")
    return f"{'rushlight' if root == 'torch' else root}{dot}{rest}", function.__qualname__


def overload(function: Function) -> Function:
    """Declare one signature of a function; the one without decorator that follows has the body."""
    _declare(function)
    return function


def overload_method(function: Function) -> Function:
    """Declare one signature of a method; the one without decorator that follows has the body."""
    _declare(function)
    return function


def _declare(function: Callable[..., object]) -> None:
    _check_body(function)
    known = _declared.setdefault(_key(function), [])
    line = function.__code__.co_firstlineno
    if known and known[-1].__code__.co_firstlineno >= line:
        known.clear()  # the file is read again
    known.append(function)


def overloads_of(function: object) -> list[Callable[..., object]]:
    """The declared signatures of a function, in order; none for a usual function."""
    given = getattr(function, "_signatures", ())
    if given:
        return list(given)
    found = _declared.get(_key(function), ()) if hasattr(function, "__qualname__") else ()
    same = [f for f in found if f.__globals__ is getattr(function, "__globals__", None)]
    if function in same:
        raise RuntimeError(_missing(function))
    return same


def _nothing() -> None:
    pass


def _check_body(function: Callable[..., object]) -> None:
    """See that a declaration has no body.

    Raises:
        RuntimeError: it has one.
    """
    if function.__code__.co_code == _nothing.__code__.co_code:
        return
    try:
        text = inspect.getsource(function)
        (statement, *more) = ast.parse(dedent(text)).body[0].body  # type: ignore[attr-defined]
    except (OSError, SyntaxError, IndexError):
        return  # it cannot be compiled either, which says more
    literal = isinstance(statement, ast.Expr) and getattr(statement.value, "value", None)
    if more or not (isinstance(statement, ast.Pass) or literal is ...):
        shown = "\n".join(text.split("\n")[:3])
        raise RuntimeError(
            "Only `pass` statement or `...` can be the body of overload declaration:\n"
            f"{shown} <- Expecting `pass` or `...` here!\n{_EXAMPLE}"
        )


def _missing(function: Any) -> str:
    kind = "method" if "self" in function.__code__.co_varnames[:1] else "function"
    lines, number = inspect.getsourcelines(function)
    return (
        f'Implementation for the {kind} "{qualified_name(function)}" is missing. Please make sure '
        "a definition is provided and defined after all overload declarations.\n"
        f'File "{function.__code__.co_filename}", line {number}:\n{"".join(lines)}\n{_EXAMPLE}'
    )


_EXAMPLE = """
Example usage of overload function:
@torch.jit._overload
def my_function(x: type0) -> type0: # decl 1
    pass

@torch.jit._overload
def my_function(x: type1) -> type1: # decl 2
    pass

def my_function(x):                 # implementation
    if isinstance(x, type0):
        return x
    elif isinstance(x, type1):
        return x
"""
"""The end of torch's sentences on declarations."""


def tree_of_overload(
    body: Callable[..., object],
    declaration: Callable[..., object],
    collector: Collector,
    name: str,
) -> tree.Function | None:
    """The tree of a function with the annotations of one of its declarations."""
    written = function_tree(body, collector, name=name)
    declared = function_tree(declaration, collector, name=name)
    if written is None or declared is None:
        return None
    annotations = {p.name: p for p in declared.parameters}
    parameters = []
    for parameter in written.parameters:
        found = annotations.get(parameter.name, parameter)
        default = parameter.default if parameter.default is not None else found.default
        if isinstance(default, tree.Literal) and default.value is ...:
            default = None
        parameters.append(
            replace(
                parameter,
                annotation=found.annotation,
                default=default,
                shared_default=True,
            )
        )
    return replace(written, parameters=tuple(parameters), returns=declared.returns)
