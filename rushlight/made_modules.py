"""Modules of torch that are nothing but names (see `module_names`): made when they are imported.

They stand apart from the names, since `importlib.abc` takes longer to be imported than they do.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import abc, import_module, machinery
from types import ModuleType
from typing import Any

from .module_names import is_listed, names_in, names_of, torch_name, value_of

__all__ = ["spec_of"]


class _Called(ModuleType):
    """A module that takes the place of a function of its name in the package (`spawn.spawn`)."""

    _function: Callable[..., object]

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self._function(*args, **kwargs)


class _Loader(abc.Loader):
    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names."""
        name = module.__name__
        package, _, own = name.rpartition(".")
        function = vars(import_module(package)).get(own)
        if own in names_in(package):
            function = value_of(package, own)
        if callable(function):
            module.__class__ = _Called
            vars(module)["_function"] = function
            if own in names_in(name):  # which the module itself has replaced in the package
                vars(module)[own] = function
        vars(module).update(
            __doc__=f"`{torch_name(name)}`: names that stand elsewhere, or that are refused.",
            __all__=sorted(names_in(name)),
            __getattr__=names_of(name),
        )


def spec_of(module: str) -> machinery.ModuleSpec | None:
    """How a module that is nothing but names in the list is made; None for others."""
    return machinery.ModuleSpec(module, _Loader(), is_package=True) if is_listed(module) else None
