"""Attributes of modules by dotted names."""

from __future__ import annotations

from typing import Any

from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..ops.tensors.tensor import Tensor

__all__ = ["assign_attr", "copy_attr", "del_attr", "get_attr", "has_attr"]


def _way_down(module: Module, target: str) -> tuple[Module, str]:
    """The module that a name's last part belongs to, made on the way, and that part."""
    *path, last = target.split(".")
    for part in path:
        below = getattr(module, part, None)
        if below is None:
            below = Module()
            setattr(module, part, below)
        module = below
    return module, last


def copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Give a module what another one has under a name; a tensor becomes a buffer."""
    source: object = from_module
    *path, last = target.split(".")
    for part in path:
        below = getattr(source, part)
        if below is getattr(to_module, part, None):  # both have it already
            return
        source = below
    holder, _ = _way_down(to_module, target)
    _put(holder, last, getattr(source, last))


def assign_attr(from_obj: object, to_module: Module, target: str) -> None:
    """Give a module an object under a name; a tensor becomes a buffer."""
    holder, last = _way_down(to_module, target)
    _put(holder, last, from_obj)


def _put(holder: Module, name: str, value: object) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        holder.register_buffer(name, value)
    else:
        setattr(holder, name, value)


def get_attr(module: Module, target: str) -> Any:
    """What a module has under a dotted name.

    Raises:
        AttributeError: nothing.
    """
    found: object = module
    for part in target.split("."):
        found = getattr(found, part)
    return found


def has_attr(module: Module, target: str) -> bool:
    """Whether it has something there."""
    found: object = module
    for part in target.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def del_attr(module: Module, target: str) -> None:
    """Take it away."""
    *path, last = target.split(".")
    delattr(get_attr(module, ".".join(path)) if path else module, last)
