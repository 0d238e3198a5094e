"""`torch.jit._recursive`: what packages touch of how modules are compiled."""

from __future__ import annotations

from typing import Any

from ..interpreter.values.objects import ScriptObject
from ..nn.modules.module import Module
from ..typecheck.definitions.class_types import ClassType
from .concrete import concrete_type
from .module import RecursiveScriptModule
from .script import entry_points, script
from .shared_types import SHARED, own_types

__all__ = [
    "ConcreteTypeStore",
    "concrete_type_store",
    "create_script_module",
    "infer_methods_to_compile",
    "wrap_cpp_module",
]


class ConcreteTypeStore:
    """The types of modules, by their Python class: `type_store`.

    All that is compiled in is compared, so that there is nothing to forget when a class changes;
    but whoever clears it has types made anew.
    """

    def __init__(self) -> None:
        self.type_store = SHARED
        self.methods_compiled: set[object] = set()

    def get_or_create_concrete_type(self, nn_module: Any) -> ClassType:
        """The type that a module is compiled under."""
        return concrete_type(nn_module)


concrete_type_store = ConcreteTypeStore()


def create_script_module(nn_module: object, stubs_fn: object, share_types: bool = True) -> Any:
    """The scripted module; unless types are shared, its modules' types are its own."""
    if share_types:
        return script(nn_module)
    with own_types():
        return script(nn_module)


def infer_methods_to_compile(nn_module: Module) -> list[str]:
    """The names of the methods that scripting a module compiles."""
    return entry_points(nn_module)


def wrap_cpp_module(cpp_module: Any) -> RecursiveScriptModule:
    """The module that stands for an inner one, such as passes over modules take and give."""
    made: RecursiveScriptModule = (
        RecursiveScriptModule(cpp_module) if isinstance(cpp_module, ScriptObject) else cpp_module
    )
    return made
