"""What a parameter, buffer or module may be called, and the hooks called when one is registered."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Container
from typing import Final, TypeVar

from ..ops.tensors.tensor import Tensor
from .handles import Hook, RemovableHandle, add_hook
from .members import Members

__all__ = [
    "REGISTRATION_HOOKS",
    "check_name",
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
    "replaced",
    "type_name",
]

Member = TypeVar("Member")

REGISTRATION_HOOKS: Final[dict[str, OrderedDict[int, Hook]]] = {
    "buffer": OrderedDict(),
    "module": OrderedDict(),
    "parameter": OrderedDict(),
}


def type_name(value: object) -> str:
    """The type of a value as torch's messages spell it: `int`, `torch.FloatTensor`, `pkg.Class`."""
    if isinstance(value, Tensor):
        return f"torch.{value.dtype.scalar_name}Tensor"
    kind = value if isinstance(value, type) else type(value)
    module = re.sub(r"^rushlight\b", "torch", kind.__module__)
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def check_name(module: Members, name: object, what: str, own: Container[str]) -> None:
    """See that a new member may have this name.

    Raises:
        TypeError: it is not a string.
        KeyError: it is empty, holds a dot, or is an attribute outside the table `own`.
    """
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {type_name(name)}")
    if hasattr(module, name) and name not in own:
        raise KeyError(f"attribute '{name}' already exists")
    if "." in name:
        got = f", got: {name}" if what == "module" else ""
        raise KeyError(f'{what} name can\'t contain "."{got}')
    if not name:
        raise KeyError(f'{what} name can\'t be empty string ""')


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, buffer)` for every buffer; what it returns is registered instead."""
    return add_hook(REGISTRATION_HOOKS["buffer"], hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, child)` for every child; what it returns is registered instead."""
    return add_hook(REGISTRATION_HOOKS["module"], hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, parameter)` for every parameter; what it returns is registered
    instead."""
    return add_hook(REGISTRATION_HOOKS["parameter"], hook)


def replaced(what: str, module: Members, name: str, value: Member) -> Member:
    """What to register for `value`: what the hooks for a `parameter`, `buffer` or `module` say."""
    for hook in REGISTRATION_HOOKS[what].values():
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value
