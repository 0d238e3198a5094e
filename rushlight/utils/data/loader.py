"""DataLoader: samples in batches, loaded by the process that asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...ops.eager.namespace import public_names
from ...ops.random_numbers.random import Generator
from ...ops.tensors.tensor import Tensor
from .datasets import IterableDataset
from .samplers import BatchSampler, RandomSampler, SequentialSampler, drawn_seed

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]


def get_worker_info() -> None:
    """What a worker process knows of itself: None, as there are none."""
    return


def default_convert(data: Any) -> Any:
    """Arrays as tensors, also inside of containers."""
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind not in "SaUO":
        return public_names()["as_tensor"](data)
    return _inside(data, default_convert)


def _inside(data: Any, convert: Callable[[Any], Any]) -> Any:
    if isinstance(data, Mapping):
        return {key: convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(convert, data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return [convert(value) for value in data]
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """One batch of samples: tensors are stacked, numbers become a tensor, containers are entered.

    Raises:
        RuntimeError: sequences of different lengths.
        TypeError: a sample of another type.
    """
    first, names = batch[0], public_names()
    if isinstance(first, Tensor):
        return names["stack"](list(batch), 0)
    if isinstance(first, (np.ndarray, np.generic)) and first.dtype.kind not in "SaUO":
        return default_collate([names["as_tensor"](each) for each in batch])
    if isinstance(first, float):
        return names["tensor"](batch, dtype=names["float64"])
    if isinstance(first, int):
        return names["tensor"](batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([each[key] for each in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}"
    )


class DataLoader:
    """Iterates over a set in batches.

    Args:
        batch_size: samples in a batch; None gives single samples.
        shuffle: a new random order each time, the one that torch draws.
        sampler, batch_sampler: the order, instead of `shuffle` and `batch_size`.
        collate_fn: makes a batch of a list of samples.
        drop_last: leave out a last batch that is not full.
        num_workers, pin_memory, ...: taken; all samples are loaded by this process.

    Raises:
        ValueError: arguments that exclude each other.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], object] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        **_: Any,
    ) -> None:
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        self.worker_init_fn, self.generator = worker_init_fn, generator
        self.multiprocessing_context = multiprocessing_context
        self.sampler = self._order(bool(shuffle)) if sampler is None else sampler
        if batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        batching = batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batching else default_convert)

    def _order(self, shuffle: bool) -> Any:
        if isinstance(self.dataset, IterableDataset):
            if shuffle:
                raise ValueError(
                    "DataLoader with IterableDataset: expected unspecified shuffle option, "
                    "but got shuffle=True"
                )
            return _Endless()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __iter__(self) -> Iterator[Any]:
        drawn_seed(self.generator)  # torch draws the seed of its workers here, also without any
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if isinstance(self.dataset, IterableDataset):
            yield from self._of_stream(iter(self.dataset))
            return
        numbers = self.sampler if self.batch_sampler is None else self.batch_sampler
        for number in numbers:
            if self.batch_sampler is None:
                samples = self.dataset[number]
            elif hasattr(self.dataset, "__getitems__"):
                samples = self.dataset.__getitems__(number)
            else:
                samples = [self.dataset[i] for i in number]
            yield self.collate_fn(samples)

    def _of_stream(self, samples: Iterator[Any]) -> Iterator[Any]:
        if self.batch_sampler is None:
            yield from map(self.collate_fn, samples)
            return
        for numbers in self.batch_sampler:
            batch = [sample for _, sample in zip(numbers, samples, strict=False)]
            if not batch or (self.drop_last and len(batch) < len(numbers)):
                return
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


class _Endless:
    """The order of samples that have no numbers."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None
