"""`CompilationUnit`: functions written as text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .._C.handles import Graph
from ..frontend.diagnostics.exceptions import trimmed
from ..frontend.foundations.locks import DEFINING
from ..frontend.sources.source import Span
from ..frontend.syntax.from_text import function_trees
from ..interpreter.running.defaults import result_of
from ..interpreter.running.evaluating import evaluate
from ..ir.functions.define import define_function
from ..ir.functions.graph_functions import function_of_graph
from ..ops.table.table import TABLE
from ..typecheck.definitions.class_types import ClassType
from ..typecheck.definitions.functions import Function
from ..typecheck.definitions.names import Constant, FunctionName, Meaning
from .compile import compile_function
from .function import ScriptFunction
from .qualified_names import mangled
from .resolver import builtin_names, meaning_of
from .session import compiling

__all__ = ["CompilationUnit", "define_methods"]


@dataclass
class TextResolver:
    """The names that functions in a text see: each other, then those of whoever wrote the text."""

    functions: Mapping[str, Function]
    scope: Mapping[str, object]

    def lookup(self, name: str, span: Span) -> Meaning | None:
        """See `typecheck.names.Resolver`."""
        if name in self.functions:
            return FunctionName(self.functions[name])
        for names in (self.scope, builtin_names()):
            if name in names:
                return meaning_of(names[name], compile_function, constant=False)
        return None

    def names(self) -> Iterable[str]:
        """See `typecheck.names.Resolver`."""
        return {**dict.fromkeys(self.functions), **dict.fromkeys(self.scope)}

    def define(self, function: Function) -> None:
        """Compile a function of the text; what is wrong is raised."""
        with compiling() as collector:
            define_function(function, self, collector, TABLE, evaluate)

    def result_of(self, function: Function) -> Constant | None:
        """See `typecheck.names.TextDefaults`."""
        function.define = self.define
        return result_of(function)


def _at_margin(text: str) -> str:
    """A text whose first statement has no indentation, which the others lose as well.

    Lines that go on inside brackets may have less, as tables of numbers in them often do.
    """
    lines = text.split("\n")
    code = (line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    first = next(code, "")
    indent = first[: len(first) - len(first.lstrip())]
    return "\n".join(line.removeprefix(indent) for line in lines)


class CompilationUnit:
    """Compiled functions, made from their text: `CompilationUnit("def f(x): ...").f(3)`."""

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        self._functions: dict[str, Function] = {}
        if lang is not None:
            self.define(lang, _frames_up=_frames_up + 1)

    def define(self, lang: str, rcb: object = None, _frames_up: int = 0) -> None:
        """Add the functions of a text; they see each other and the names of the caller.

        Raises:
            RuntimeError: the code cannot be compiled.
        """
        scope = names_of_frame(_frames_up + 1)
        with trimmed(), DEFINING, compiling() as collector:
            trees = function_trees(_at_margin(lang), collector, "<string>")
            resolver = TextResolver(self._functions, scope)
            made = [Function(tree.name, tree, resolver.define) for tree in trees]
            self._functions.update({function.name: function for function in made})
            for function in made:
                if not function.is_being_defined:
                    function.ensure_defined()

    def __getattr__(self, name: str) -> ScriptFunction:
        function = self.__dict__.get("_functions", {}).get(name)
        if function is None:
            raise AttributeError(f"'CompilationUnit' has no attribute '{name}'")
        return ScriptFunction(function)

    def create_function(
        self, qualified_name: str, graph: Graph, should_mangle: bool = False
    ) -> ScriptFunction:
        """Add a function that a copy of a graph makes.

        Raises:
            RuntimeError: there is one of that name, and `should_mangle` gives it no other.
        """
        name = qualified_name
        while should_mangle and name in self._functions:
            name = mangled(qualified_name)
        if name in self._functions:
            raise RuntimeError(f"method '{name}' already defined.")
        self._functions[name] = function_of_graph(name, graph._inner)
        return ScriptFunction(self._functions[name])

    def find_function(self, name: str) -> ScriptFunction | None:
        """The function of a name; None if there is none."""
        function = self._functions.get(name)
        return None if function is None else ScriptFunction(function)

    def get_functions(self) -> list[ScriptFunction]:
        """All functions, in the order they were defined."""
        return [ScriptFunction(function) for function in self._functions.values()]


def names_of_frame(frames_up: int) -> dict[str, object]:
    """The names that the code which calls the caller, or one further up, sees."""
    frame = sys._getframe(frames_up + 1)
    return {**frame.f_globals, **frame.f_locals}


def define_methods(cls: ClassType, text: str, scope: Mapping[str, object]) -> None:
    """Add the methods of a text to a class.

    Raises:
        RuntimeError: the code cannot be compiled.
    """
    with DEFINING, compiling() as collector:
        resolver = TextResolver({}, scope)
        trees = function_trees(_at_margin(text), collector, "<string>", are_methods=True)
        for tree in trees:
            if tree.name in cls.methods:
                raise RuntimeError(f"Can't redefine method: {tree.name} on class: {cls.in_unit}")
        for tree in trees:
            name = f"{cls.qualified_name}.{tree.name}"
            cls.methods[tree.name] = Function(name, tree, resolver.define, owner=cls)
        for method in list(cls.methods.values()):
            if not method.is_being_defined:
                method.ensure_defined()
