"""What a parameter, buffer or module may be called, and what messages call a value's type."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TYPE_CHECKING

from ..ops.tensor import Tensor

if TYPE_CHECKING:
    from .modules.module import Module

__all__ = ["check_name", "type_name"]


def type_name(value: object) -> str:
    """The type of a value as torch's messages spell it: `int`, `torch.FloatTensor`, `pkg.Class`."""
    if isinstance(value, Tensor):
        return f"torch.{value.dtype.scalar_name}Tensor"
    kind = value if isinstance(value, type) else type(value)
    module = re.sub(r"^rushlight\b", "torch", kind.__module__)
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def check_name(module: Module, name: object, what: str, own: Container[str]) -> None:
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
