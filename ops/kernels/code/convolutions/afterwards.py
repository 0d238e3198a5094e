"""Results whose elements get what comes after them in a second step, where they lie."""

from __future__ import annotations

from collections.abc import Sequence

from ....memory.dtype import Array
from .batch_norms import Elements
from .frame import PLAIN, After

__all__ = ["Afterwards"]


class Afterwards:
    """See `ops.table.record.Later`; `_compute` writes to `out` what others follow."""

    __slots__ = ("out",)

    out: Array

    def _compute(self) -> None:
        raise NotImplementedError

    is_alone_at_hand = True

    def is_at_hand(self, after: After, operands: Sequence[Array]) -> bool:
        """Whether the kernel of what comes after need not be compiled."""
        return Elements(self.out, self.out).is_at_hand(after, operands)

    def prepare(self, after: After, operands: Sequence[Array]) -> None:
        """Compile it if need be.

        Raises:
            OSError, RuntimeError: it cannot be.
        """
        Elements(self.out, self.out).prepare(after, operands)

    def fill(self, after: After = PLAIN, operands: Sequence[Array] = ()) -> None:
        """Compute."""
        self._compute()
        if after.expression.steps:
            Elements(self.out, self.out).fill(after, operands)
