"""`torch._awaits`: the class that annotations name."""

from __future__ import annotations

from typing import Generic, TypeVar

from .interpreter.values import awaits

__all__ = ["_Await"]

W = TypeVar("W")


class _Await(awaits._Await, Generic[W]):
    """`_Await[W]`: what `torch.jit._awaitable` gives of a function that returns a `W`."""

    __module__ = "rushlight.jit"  # its public place
