"""What a live module has besides slots and methods: properties, functions, calls of Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

from ..frontend.diagnostics.diagnostics import Collector
from ..frontend.syntax import tree
from ..frontend.syntax.from_text import function_trees
from ..nn.modules.container import ModuleDict, ModuleList, Sequential
from ..nn.modules.module import Module
from ..typecheck.definitions.class_types import ClassType
from ..typecheck.definitions.functions import Function
from ..typecheck.definitions.names import FunctionName, Meaning, OverloadedFunction
from . import decorators
from .compile import (
    compile_function,
    define_with,
    method_function,
    overloaded_methods,
)
from .overloads import overloads_of
from .resolver import meaning_of, python_name

__all__ = [
    *("Contents", "add_properties", "container_method", "contents_of", "find_other", "is_function"),
]

_LEFT_TO_PYTHON = (decorators.IGNORE, decorators.UNUSED)


def is_function(value: object) -> bool:
    """Whether an attribute of a module is a function that script can call by its name."""
    return (
        inspect.isfunction(value)
        or hasattr(value, "_rushlight_function")
        or isinstance(getattr(value, "operator_name", None), str)
        or (inspect.ismethod(value) and decorators.modifier(value) in _LEFT_TO_PYTHON)
    )


def find_other(
    cls: ClassType, python: type, functions: dict[str, object], name: str
) -> Meaning | None:
    """What an attribute that is neither a slot nor a method of a module stands for."""
    if name in functions:
        if inspect.ismethod(functions[name]):  # bound to this module
            return _python_method(cls, functions[name])
        meaning = meaning_of(functions[name], compile_function, constant=True)
        if isinstance(meaning, FunctionName):
            return replace(meaning, holder=python.__name__, attribute=name)
        return meaning
    found = inspect.getattr_static(python, name, None)
    if isinstance(found, staticmethod):
        return FunctionName(compile_function(found.__func__))
    if not inspect.isfunction(found) or getattr(Module, name, None) is found:
        return None
    if decorators.modifier(found) in _LEFT_TO_PYTHON:
        return _python_method(cls, found)
    declared = overloads_of(found)
    if declared:
        return OverloadedFunction(overloaded_methods(cls, name, found, declared))
    return None


def _python_method(cls: ClassType, method: object) -> Meaning:
    dropped = decorators.modifier(method) == decorators.UNUSED
    return python_name(method, receiver=cls, dropped=dropped)


def add_properties(cls: ClassType, python: type) -> None:
    """The properties of a module's Python class as calls of their functions."""
    unused = getattr(python, "__jit_unused_properties__", ())
    for name, member in inspect.getmembers(python, lambda m: isinstance(m, property)):
        if name in unused or member.fget is None:
            continue
        if decorators.modifier(member.fget) in _LEFT_TO_PYTHON:
            continue
        getter = method_function(cls, f"__{name}_getter", member.fget)
        setter = None
        if member.fset is not None:
            setter = method_function(cls, f"__{name}_setter", member.fset)
        cls.properties[name] = getter, setter
        for function in (getter, setter):
            if function is not None:
                cls.methods[function.name] = function


Contents = tuple[int | None, list[str] | None]
"""How many modules a container holds, and their names if it is asked by name."""


def contents_of(module: Module) -> Contents:
    """What the methods of a container tell of it; Nones for other modules."""
    length = len(module) if isinstance(module, ModuleList | Sequential | ModuleDict) else None
    return length, list(module.keys()) if isinstance(module, ModuleDict) else None


def container_method(cls: ClassType, contents: Contents, name: str) -> Function | None:
    """`__len__` and `__contains__` of containers, whose answers are known now."""
    length, keys = contents
    if name == "__len__" and length is not None:
        text = f"def __len__(self):\n   return {length}\n"
    elif name == "__contains__" and keys is not None:
        test = f"key in {keys!r}" if keys else "False"
        text = f"def __contains__(self, key: str):\n   return {test}\n"
    else:
        return None
    return method_from_text(cls, text)


def method_from_text(
    cls: ClassType, text: str, resolve: Callable[..., object] | None = None
) -> Function:
    """A method written as text; `resolve` is a function whose names it sees."""

    def define(function: Function) -> None:
        define_with(function, resolve or method_from_text, lambda c: _first(text, c))

    name = text.split("(")[0].removeprefix("def ").strip()
    return Function(f"{cls.qualified_name}.{name}", define=define, owner=cls)


def _first(text: str, collector: Collector) -> tree.Function | None:
    found = function_trees(text, collector, "<string>", are_methods=True)
    return found[0] if found else None
