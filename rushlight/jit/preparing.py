"""`__prepare_scriptable__`: what an object wants to be compiled in its place."""

from __future__ import annotations

from ..nn.modules.module import Module
from .module import ScriptModule

__all__ = ["prepared"]


def prepared(value: object) -> object:
    """What is compiled for a value: what its `__prepare_scriptable__` returns, or itself.

    As in torch, the modules inside a module are exchanged in the module itself.
    """
    if isinstance(value, Module):
        return _prepared_module(value, {})
    prepare = getattr(value, "__prepare_scriptable__", None)
    return value if prepare is None else prepare()


def _prepared_module(module: Module, known: dict[int, Module]) -> Module:
    """`known` holds the modules met before: they may stand in several places, or in a circle."""
    if isinstance(module, ScriptModule):
        return module
    if id(module) in known:
        return known[id(module)]
    prepare = getattr(module, "__prepare_scriptable__", None)
    found = module if prepare is None else prepare()
    known[id(module)] = found
    if isinstance(found, Module) and not isinstance(found, ScriptModule):
        children = found.__dict__.get("_modules", {})
        for name, child in children.items():
            if child is not None:
                children[name] = _prepared_module(child, known)
    return found
