"""`torch.utils.swap_tensors`, and other small functions of `torch.utils` itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from ..ops.tensors.tensor import Tensor

__all__ = ["cmake_prefix_path", "set_module", "swap_tensors"]

cmake_prefix_path: Final = str(Path(__file__).parent.parent / "share" / "cmake")
"""Where torch's files for CMake would lie; there are none."""


def set_module(obj: Any, mod: str) -> None:
    """Have a class or function say that it belongs to a module.

    Raises:
        TypeError: the name is no str.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Let two tensors be each other: classes, values and attributes change places.

    Raises:
        RuntimeError: one has history that would be lost.
    """
    for tensor in (t1, t2):
        if tensor.grad_fn is not None:
            raise RuntimeError("Cannot swap a tensor whose history gradients need; detach it first")
    one, other = dict(vars(t1)), dict(vars(t2))
    slots = [(name, getattr(t1, name), getattr(t2, name)) for name in _slots(t1)]
    for tensor, members in ((t1, other), (t2, one)):
        vars(tensor).clear()
        vars(tensor).update(members)
    for name, first, second in slots:
        object.__setattr__(t1, name, second)
        object.__setattr__(t2, name, first)
    if type(t1) is not type(t2):
        t1.__class__, t2.__class__ = type(t2), type(t1)


def _slots(tensor: Tensor) -> list[str]:
    """The members that no dict holds."""
    names = {
        name
        for cls in type(tensor).__mro__
        for name in (getattr(cls, "__slots__", ()) or ())
        if name not in ("__dict__", "__weakref__")
    }
    return [name for name in names if hasattr(tensor, name)]
