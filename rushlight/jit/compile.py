"""The whole pipeline for live code, one line a stage.

    live function  --function_tree-->  tree
    tree           --check_function--> typed tree      (define_function runs these three)
    typed tree     --lower, exits-->   graph
    graph          --cleanup passes--> graph           `Function.graph`, what `.graph` prints

Nothing is compiled before its signature or graph is needed: `Function.define` waits until then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from ..frontend.from_python import function_tree
from ..interpreter.run import evaluate
from ..ir.define import define_function
from ..ops.table import TABLE
from ..typecheck.functions import Function
from ..typecheck.types import ClassType
from .qualified_names import mangled, qualified_name
from .resolver import LiveResolver
from .session import compiling

__all__ = ["compile_function", "method_function"]

_functions: WeakKeyDictionary[Callable[..., Any], Function] = WeakKeyDictionary()


def compile_function(python: Callable[..., Any]) -> Function:
    """The `Function` of a Python function, made once; its body is compiled when first needed."""
    known = _functions.get(python)
    if known is None:
        known = Function(mangled(qualified_name(python)), define=_define, python=python)
        _functions[python] = known
    return known


def method_function(cls: ClassType, name: str, python: Callable[..., Any]) -> Function:
    """A method of a module's class, from the Python method's function."""
    return Function(f"{cls.qualified_name}.{name}", define=_define, python=python, owner=cls)


def _define(function: Function) -> None:
    """Fill in tree, signature, typed tree and graph; faults go to the session's collector."""
    python = function.python
    assert callable(python)
    with compiling() as collector:
        before = len(collector.errors)
        owner = function.owner.name if function.owner is not None else None
        function.tree = function_tree(python, collector, self_name=owner)
        if function.tree is not None:
            resolver = LiveResolver(python, compile_function)
            define_function(function, resolver, collector, TABLE, evaluate)
        if function.graph is None or len(collector.errors) > before:
            _functions.pop(python, None)  # so that another attempt reports the errors again
