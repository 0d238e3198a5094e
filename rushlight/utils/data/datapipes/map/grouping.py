"""Batches of samples, by number."""

from __future__ import annotations

from ..batches import Batches
from ..datapipe import DataChunk, MapDataPipe, Sample
from ..decorators import functional_datapipe

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(Batches, MapDataPipe[DataChunk[Sample]]):
    """So many samples of consecutive keys together (functional name: ``batch``). See `Batches`."""

    def __getitem__(self, index: int) -> DataChunk[Sample]:
        batch: list[Sample] = []
        first = index * self.batch_size
        try:
            batch.extend(self.datapipe[key] for key in range(first, first + self.batch_size))
        except IndexError as error:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from error
        made: DataChunk[Sample] = self.wrapper_class(batch)
        return made
