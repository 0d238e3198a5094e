"""`torch.utils.swap_tensors`, and other small functions of `torch.utils` itself."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..nn.replacement import swap_tensors

__all__ = ["cmake_prefix_path", "set_module", "swap_tensors"]

cmake_prefix_path: Final = str(Path(__file__).parent.parent / "share" / "cmake")
"""Where torch's files for CMake would lie; there are none."""


def set_module(obj: object, mod: str) -> None:
    """Have a class or function say that it belongs to a module.

    Raises:
        TypeError: the name is no str.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
