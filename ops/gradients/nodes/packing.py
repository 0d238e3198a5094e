"""Hooks that tensors kept for the way back go through."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from ...memory.versions import version_of
from ...tensors.tensor import Tensor

__all__ = ["PACKED", "PACKING", "Packed", "Packing"]

Packed = tuple[object, Callable[[object], Tensor]]
"""What a hook made of a tensor, and what makes the tensor of it again."""


class Packing(threading.local):
    """The hooks that tensors kept for the way back go through, the innermost last."""

    used = False
    """Whether there are any."""
    refusal = ""

    def __init__(self) -> None:
        self.hooks: list[tuple[Callable[[Tensor], object], Callable[[Any], Tensor]]] = []

    def packed(self, tensor: Tensor) -> Packed | None:
        """What the innermost hook makes of a tensor."""
        if not self.hooks:
            return None
        return self.packed_by(*self.hooks[-1], tensor)

    def packed_by(
        self, pack: Callable[[Tensor], object], unpack: Callable[[object], Tensor], tensor: Tensor
    ) -> Packed:
        """What a hook makes of a tensor, which it must not write."""
        before = version_of(tensor._array)
        made = pack(tensor)
        if version_of(tensor._array) != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook cannot be modified by in-place operations as this can lead to "
                "unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )
        return made, unpack

    def put(
        self, hooks: list[tuple[Callable[[Tensor], object], Callable[[object], Tensor]]]
    ) -> None:
        """Have these hooks and no others from now on."""
        PACKED[0] = PACKED[0] or bool(hooks)
        self.used = True  # so that an interrupt leaves no hooks that are not asked
        self.hooks = hooks
        self.used = bool(hooks)

    def refuse(self, message: str) -> None:
        """Refuse hooks with an error of that text.

        Raises:
            RuntimeError: some are there already.
        """
        if self.hooks:
            raise RuntimeError(message)
        self.refusal = message


PACKED: Final = [False]
"""Whether there were ever any, in whatever thread."""

PACKING: Final = Packing()
