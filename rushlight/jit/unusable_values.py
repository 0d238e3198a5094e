"""Values of live Python that script cannot use, and why."""

from __future__ import annotations

import inspect
from typing import Final

from ..interpreter.values.objects import ScriptObject
from ..nn.modules.module import Module
from ..ops.memory.dtype import Device, DType, Layout, MemoryFormat
from ..typecheck.definitions.names import PythonName, Unusable
from ..typecheck.trees.sugar import PERHAPS
from . import decorators

__all__ = ["is_compiled", "unusable"]

_TORCH_NAMES: dict[type, str] = {
    Device: "device",
    DType: "dtype",
    Layout: "layout",
    MemoryFormat: "memory_format",
}


def is_compiled(module: Module) -> bool:
    """Whether a module is a scripted one."""
    return isinstance(getattr(module, "_c", None), ScriptObject)


def unusable(value: object, called: PythonName | None = None) -> Unusable:
    """A value that script cannot use; `called` is what a call of it is left to."""
    if value is None:
        shown = "`{name}` is a module-level variable, whose value scripted code cannot read"
        return Unusable("undefined value {name}", message=shown, is_unnamed=True)
    kind = _TORCH_NAMES.get(type(value)) or type(value).__name__
    message = f"python value of type '{kind}' cannot be used as a value{PERHAPS}"
    if isinstance(value, type):
        shown = "the class `{name}` cannot be used in script"
        if decorators.modifier(value) in (decorators.IGNORE, decorators.UNUSED):
            message = f"Cannot instantiate class '{value.__name__}' in a script function"
            shown = "the class `{name}` is marked to be left to Python"
            return Unusable(message, "not-scriptable", shown, value, exception="FrontendError")
        return Unusable(message, "not-scriptable", shown, value)
    if callable(value) and not hasattr(value, "__dict__"):
        is_builtin = inspect.isbuiltin(value)
        if is_builtin:
            message = f"Python builtin {value} is currently not supported in Torchscript"
        shown = "`{name}` is a function without Python source, which script cannot call"
        if value is breakpoint:
            shown = "`{name}` stops only scripts that are debugged: call `rushlight.debug()` before"
        return Unusable(message, "not-scriptable", shown, value, is_unnamed=is_builtin)
    if isinstance(value, Module) and is_compiled(value):
        message = "Cannot call a ScriptModule that is not a submodule of the caller"
    library = type(value).__module__.partition(".")[0]
    method_of = getattr(value, "__self__", None)
    if method_of is not None and not isinstance(method_of, Module):
        library = type(method_of).__module__.partition(".")[0]
    if callable(value) and called is None and library in _LIBRARIES:
        shown = f"`{{name}}` is a function of the library `{library}`, which script cannot call"
        return Unusable(message, "not-scriptable", shown, value)
    shown = "`{name}` is a module-level variable, whose value scripted code cannot read"
    return Unusable(message, message=shown, value=value, called=called)


_LIBRARIES: Final = frozenset({"numpy", "scipy", "functools", "builtins", "random"})
"""Whose callable objects are functions."""
