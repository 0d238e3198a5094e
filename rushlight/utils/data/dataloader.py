"""DataLoader: samples in batches, loaded by the process that asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from ...module_names import names_of
from ...ops.random_numbers.random import Generator
from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .datapipes.datapipe import (
    IterDataPipe,
    MapDataPipe,
    _IterDataPipeSerializationWrapper,
    _MapDataPipeSerializationWrapper,
)
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, drawn_seed

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_collate_fn_t = Callable[[list[Any]], Any]
_worker_init_fn_t = Callable[[int], None]


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
        multiprocessing_context: object = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
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
        self.dataset = _arranged(dataset, shuffle)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        self.worker_init_fn, self.generator = worker_init_fn, generator
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor, self.persistent_workers = prefetch_factor, persistent_workers
        self.pin_memory_device, self.in_order = pin_memory_device, in_order
        self.sampler = self._order(bool(shuffle)) if sampler is None else sampler
        if batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        batching = batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batching else default_convert)

    def _order(self, shuffle: bool) -> Any:
        if isinstance(self.dataset, IterableDataset):
            if shuffle and not isinstance(self.dataset, IterDataPipe):
                raise ValueError(
                    "DataLoader with IterableDataset: expected unspecified shuffle option, "
                    "but got shuffle=True"
                )
            return _InfiniteConstantSampler()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __iter__(self) -> _BaseDataLoaderIter:
        return self._get_iterator()

    def _get_iterator(self) -> _BaseDataLoaderIter:
        """One pass over the set; classes derived from this one may give another."""
        return _SingleProcessDataLoaderIter(self)

    def _batches(self) -> Iterator[object]:
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


def _arranged(dataset: Any, shuffle: bool | None) -> Any:
    """The set; of a pipe what can be pickled, after its parts were told whether to shuffle."""
    if isinstance(dataset, MapDataPipe):
        return _MapDataPipeSerializationWrapper(dataset)
    if not isinstance(dataset, IterDataPipe):
        return dataset
    # Like torch's it drops a pipe that shuffles, where that had to be added.
    _settings().apply_shuffle_settings(dataset, shuffle)
    return _IterDataPipeSerializationWrapper(dataset)


def _settings() -> Any:
    """What is set for pipes; with it come all kinds of them, which loaders of other sets spare."""
    return import_module(".graph_settings", __package__)


class _BaseDataLoaderIter:
    """One pass over a set, in batches."""

    def __init__(self, loader: DataLoader) -> None:
        self._begin(loader)

    def _reset(self, loader: DataLoader, first_iter: bool = False) -> None:
        """Begin anew; others put something else in its place."""
        self._begin(loader)

    def _begin(self, loader: DataLoader) -> None:
        dataset = loader.dataset
        if isinstance(dataset, IterDataPipe):
            seeds = Generator().manual_seed(drawn_seed(loader.generator))
            _settings().apply_random_seed(dataset, seeds)
        if isinstance(dataset, IterDataPipe | MapDataPipe):
            _settings().apply_sharding(dataset, 1, 0)
        drawn_seed(loader.generator)  # torch draws the seed of its workers here, also without any
        self._loader, self._batches = loader, loader._batches()

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def __next__(self) -> Any:
        return next(self._batches)

    def __len__(self) -> int:
        return len(self._loader)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """The pass that this process makes."""


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """The pass that worker processes would make: none is one."""


class _DatasetKind:
    """Whether samples of a set are asked for by key, or come one after the other."""

    Map = 0
    Iterable = 1


class _InfiniteConstantSampler:
    """The order of samples that have no numbers."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


__getattr__ = names_of(__name__)
