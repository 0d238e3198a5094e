"""What pipes of batches share: so many samples of another pipe together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .datapipe import DataChunk
from .utils.common import length_of

__all__ = ["Batches"]


class Batches:
    """So many samples together.

    Args:
        batch_size: how many.
        drop_last: leave out a last batch of fewer.
        wrapper_class: what a batch is made of its list.

    Raises:
        AssertionError: batches of no samples.
    """

    def __init__(
        self,
        datapipe: Any,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: Callable[[list[Any]], Any] = DataChunk,
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        super().__init__()
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __len__(self) -> int:
        samples = length_of(self, [self.datapipe])[0]
        return (samples if self.drop_last else samples + self.batch_size - 1) // self.batch_size
