"""Functions of several signatures: `_overload` and `_overload_method`.

@torch.jit._overload
def twice(x: int) -> int: ...
@torch.jit._overload
def twice(x: str) -> str: ...
def twice(x):
    return x + x
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from ..frontend import tree
from ..frontend.diagnostics import Collector
from ..frontend.from_python import function_tree

__all__ = ["overload", "overload_method", "overloads_of", "tree_of_overload"]

Function = TypeVar("Function", bound=Callable[..., Any])

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


def _declare(function: Any) -> None:
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
    return same if function not in same else []


def tree_of_overload(
    body: Any, declaration: Any, collector: Collector, name: str
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
                shared_default=found.default is None,
            )
        )
    return replace(written, parameters=tuple(parameters), returns=declared.returns)
