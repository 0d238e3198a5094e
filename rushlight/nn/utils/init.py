"""Modules without the work of filling their parameters."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from ..modules.module import Module

__all__ = ["skip_init"]

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: object, **kwargs: Any) -> M:
    """A module whose parameters are yet to be filled; no random numbers are drawn for them.

    Raises:
        RuntimeError: no module, or one that takes no `device`.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    place = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=place)
