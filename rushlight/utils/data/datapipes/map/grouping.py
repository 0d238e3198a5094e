"""Batches of samples, by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..datapipe import DataChunk, MapDataPipe
from ..decorators import functional_datapipe
from ..utils.common import length_of

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe[Any]):
    """So many samples of consecutive keys together (functional name: ``batch``).

    Args:
        batch_size: how many.
        drop_last: leave out a last batch of fewer.
        wrapper_class: what a batch is made of its list.

    Raises:
        AssertionError: batches of no samples.
    """

    def __init__(
        self,
        datapipe: MapDataPipe[Any],
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: Callable[[list[Any]], Any] = DataChunk,
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        super().__init__()
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index: Any) -> Any:
        batch: list[Any] = []
        first = index * self.batch_size
        try:
            batch.extend(self.datapipe[key] for key in range(first, first + self.batch_size))
        except IndexError as error:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(batch)

    def __len__(self) -> int:
        samples = length_of(self, [self.datapipe])[0]
        return (samples if self.drop_last else samples + self.batch_size - 1) // self.batch_size
