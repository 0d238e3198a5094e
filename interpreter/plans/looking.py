"""Calls that are looked at to find out which kernels they run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ...ops.kernels import family
from ...ops.memory.dtype import Array
from ...ops.memory.storage import address, root_of
from ...ops.table.noticing import Unforeseen
from ...ops.table.record import Operator
from ..code.calls import Calls

if TYPE_CHECKING:
    from ...ops.kernels.code.calls.watching import Seen

__all__ = ["MOST_RUNS", "Looking", "bytes_of", "owns_all", "seen_class"]

MOST_RUNS: Final = 4000
"""Kernels of one call: Python's handlers of signals wait as long as it takes."""


class Looking(Calls, ABC):
    """How operators over tensors are called while they are looked at."""

    def forward(self, entry: Operator) -> Callable[..., object]:
        """What is called in the place of an operator."""
        if "Tensor" not in entry.schema:
            return entry.forward
        return lambda *values: self.look(entry, values)

    @abstractmethod
    def look(self, entry: Operator, values: Sequence[object]) -> object:
        """The result of an operator, of which is noted what it ran.

        Raises:
            Unforeseen: it is more than runs of kernels.
        """


def seen_class() -> type[Seen]:
    """The class of what a look at a call gives; calls are looked at where there is native code."""
    found: type[Seen] = family("calls.prepared").Seen
    return found


def bytes_of(array: Array) -> Array:
    """The memory of an array, not to be written to.

    Raises:
        Unforeseen: it does not lie in one piece.
    """
    flat = array.ravel("K")
    if not array.size or address(flat) != address(array):
        raise Unforeseen("a constant does not lie in one piece")
    found = flat.view(np.uint8)
    found.flags.writeable = False
    return found


def owns_all(array: Array) -> bool:
    """Whether an array has its memory for itself."""
    root = root_of(array)
    return root.nbytes == array.nbytes and address(root) == address(array)
