"""Batches of samples, by number."""

from __future__ import annotations

from typing import Any

from ..batches import Batches
from ..datapipe import MapDataPipe
from ..decorators import functional_datapipe

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(Batches, MapDataPipe[Any]):
    """So many samples of consecutive keys together (functional name: ``batch``). See `Batches`."""

    def __getitem__(self, index: Any) -> Any:
        batch: list[Any] = []
        first = index * self.batch_size
        try:
            batch.extend(self.datapipe[key] for key in range(first, first + self.batch_size))
        except IndexError as error:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(batch)
