"""The whole pipeline for live code, one line a stage.

    live function  --function_tree-->  tree
    tree           --check_function--> typed tree      (define_function runs these three)
    typed tree     --lower, exits-->   graph
    graph          --cleanup passes--> graph           `Function.graph`, what `.graph` prints

Nothing is compiled before its signature or graph is needed: `Function.define` waits until then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .._C.settings import SWITCHES
from ..frontend.diagnostics.diagnostics import Collector
from ..frontend.foundations.kept import KeptWith
from ..frontend.foundations.locks import DEFINING
from ..frontend.syntax import tree
from ..frontend.syntax.from_python import function_tree
from ..interpreter.running.evaluating import CONTEXT, evaluate
from ..ir.functions.define import define_function
from ..ir.functions.inline import inline_in_place
from ..ir.graphs.graph import Graph
from ..ir.passes import clean
from ..ops.table.table import TABLE
from ..typecheck.definitions.class_types import ClassType
from ..typecheck.definitions.functions import Function
from ._state import _jit_caching_layer
from .decorators import SCRIPTED_IF_TRACING
from .overloads import tree_of_overload
from .qualified_names import mangled, qualified_name
from .resolver import OVERLOADS, LiveResolver
from .session import Compilation, compiling, gather

__all__ = [
    "compile_function",
    "define_with",
    "method_function",
    "overloaded_functions",
    "overloaded_methods",
]

Python = Callable[..., object]
"""A function or method as Python has it."""

_overloaded: KeptWith[Python, tuple[Function, ...]] = KeptWith()
_failed: KeptWith[Python, Compilation] = KeptWith()
"""The functions that could not be compiled, and the compilation that found out."""


def compile_function(python: Python) -> Function:
    """The `Function` of a Python function, made once; its body is compiled when first needed."""
    python = getattr(python, SCRIPTED_IF_TRACING, python)
    with DEFINING, compiling() as compilation:
        return _known_function(python, compilation)


def _known_function(python: Python, compilation: Compilation) -> Function:
    known = _jit_caching_layer.get(python)
    if _failed.get(python, compilation) is not compilation:
        known = None  # so that another attempt reports the errors again
    elif python in _failed:
        compilation.needs_failed()
    if known is None:
        known = Function(mangled(qualified_name(python)), define=_define, python=python)
        _jit_caching_layer[python] = known
    return known


def method_function(cls: ClassType, name: str, python: Python) -> Function:
    """A method of a module's class, from the Python method's function."""
    return Function(f"{cls.qualified_name}.{name}", define=_define, python=python, owner=cls)


@OVERLOADS.install
def overloaded_functions(python: Python, declared: Sequence[Python]) -> tuple[Function, ...]:
    """A function once for each of its declared signatures."""
    known = _overloaded.get(python)
    if known is None:
        known = tuple(
            _overload(mangled(qualified_name(python)), python, one, None) for one in declared
        )
        _overloaded[python] = known
    return known


def overloaded_methods(
    cls: ClassType, name: str, python: Python, declared: Sequence[Python]
) -> tuple[Function, ...]:
    """A method once for each of its declared signatures: `name__0`, `name__1` and so on."""
    found = []
    for number, one in enumerate(declared):
        numbered = f"{name}__{number}"
        if numbered not in cls.methods:
            qualified = f"{cls.qualified_name}.{numbered}"
            cls.methods[numbered] = _overload(qualified, python, one, cls)
        found.append(cls.methods[numbered])
    return tuple(found)


def _overload(name: str, python: Python, declared: Python, owner: ClassType | None) -> Function:
    def define(function: Function) -> None:
        define_with(
            function, python, lambda c: tree_of_overload(python, declared, c, function.name)
        )

    return Function(name, define=define, python=python, owner=owner)


def define_with(
    function: Function,
    python: Python,
    read: Callable[[Collector], tree.Function | None],
) -> None:
    """Compile a function from the tree that `read` gives; it sees the names that `python` sees."""
    with compiling() as collector:
        function.tree = read(collector)
        if function.tree is not None:
            resolver = LiveResolver(python, compile_function)
            define_function(function, resolver, collector, TABLE, evaluate)
    gather(function)


def _define(function: Function) -> None:
    """Fill in tree, signature, typed tree and graph; faults go to the session's collector."""
    python = function.python
    assert callable(python)
    with compiling() as compilation:
        before = len(compilation.errors)
        depth = len(compilation.being_defined)
        try:
            compilation.being_defined.append(function)
            _fill_in(function, python, compilation)
        finally:
            del compilation.being_defined[depth:]
        called_failed = function in compilation.needed_failed
        compilation.needed_failed.discard(function)
        if function.graph is None or called_failed or len(compilation.errors) > before:
            _failed[python] = compilation
            compilation.needs_failed()
        else:
            _failed.pop(python, None)


def _fill_in(function: Function, python: Python, collector: Collector) -> None:
    owner = function.owner.name if function.owner is not None else None
    function.tree = function_tree(python, collector, self_name=owner)
    if function.tree is not None:
        resolver = LiveResolver(python, compile_function)
        define_function(function, resolver, collector, TABLE, evaluate)
        gather(function)
        if SWITCHES["_jit_get_inline_everything_mode"]() and isinstance(function.graph, Graph):
            inline_in_place(function.graph, function.name, CONTEXT)
            clean(function.graph, CONTEXT)
