"""What the kernels of convolutions have in common: their arguments, and who works on what.

A kernel works for a range of slots, pieces of memory of `slot` numbers; with each it takes items of
the work until none is left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from .target import Target
from .text import FLOAT, INT64, POINTER, Code, Value

__all__ = ["Convolving"]

_ARRAYS: Final = ("turn", "sizes", "offsets", "x", "weight", "bias", "out", "slots")


class Convolving(ABC):
    """The parts of a kernel that is given arrays, and numbers by the names `sizes`."""

    def __init__(self, target: Target, sizes: Sequence[str]) -> None:
        self.code = code = Code(target)
        self.at = {name: code.argument(POINTER, name) for name in _ARRAYS}
        self.size = {
            name: code.load(INT64, code.at(self.at["sizes"], place, INT64))
            for place, name in enumerate(sizes)
        }
        self.zero = code.constant(INT64, 0)

    @abstractmethod
    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""

    def text(self, name: str) -> str:
        """The module of the kernel."""
        code = self.code
        with code.counted(code.argument(INT64, "start"), code.argument(INT64, "stop")) as slot:
            self.work(code.at(self.at["slots"], slot * self.size["slot"], FLOAT))
        return code.kernel(name, [(POINTER, each) for each in _ARRAYS])
