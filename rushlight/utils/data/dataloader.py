"""DataLoader: samples in batches, loaded by the process that asks for them, or by workers."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import cycle
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from ..._utils import ExceptionWrapper
from ...module_names import names_of
from ...ops.memory.warned import warn_caller
from ...ops.random_numbers.random import Generator
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import _BaseDatasetFetcher, _IterableDatasetFetcher, _MapDatasetFetcher
from ._utils.worker import (
    END,
    MP_STATUS_CHECK_INTERVAL,
    _IterableDatasetStopIteration,
    _ResumeIteration,
    get_worker_info,
    run_worker,
)
from .datapipes.datapipe import (
    IterDataPipe,
    MapDataPipe,
    _IterDataPipeSerializationWrapper,
    _MapDataPipeSerializationWrapper,
)
from .dataset import Indexed, IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, drawn_seed

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from multiprocessing.queues import Queue

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_collate_fn_t = Callable[[list[Any]], Any]
_worker_init_fn_t = Callable[[int], None]


_T_co = TypeVar("_T_co", covariant=True)

_FIXED: Final = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)
"""Attributes that say what others were made of."""


class DataLoader(Generic[_T_co]):
    """Iterates over a set in batches.

    Args:
        batch_size: samples in a batch; None gives single samples.
        shuffle: a new random order each time, the one that torch draws.
        sampler, batch_sampler: the order, instead of `shuffle` and `batch_size`.
        collate_fn: makes a batch of a list of samples.
        drop_last: leave out a last batch that is not full.
        num_workers: processes that load batches, each with its copy of the set; 0 for none. Each
            calls `worker_init_fn` with its number and then has `prefetch_factor` batches ready;
            with `persistent_workers` they stay for the next pass, and with `in_order=False` batches
            come as they are ready.
        timeout: seconds to wait for a batch of a worker; 0 for as long as they live.
        pin_memory, pin_memory_device: taken; there is no card to copy to.

    Raises:
        ValueError: arguments that exclude each other.
    """

    __initialized = False
    _iterator: _BaseDataLoaderIter | None = None
    _IterableDataset_len_called: int | None = None
    """The length that a set without keys was said to have, once that was asked for."""

    def __init__(
        self,
        dataset: Indexed[_T_co] | Iterable[_T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: object = None,
        num_workers: int = 0,
        collate_fn: _collate_fn_t | None = None,
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
        prefetch_factor = _checked_workers(
            num_workers, timeout, prefetch_factor, persistent_workers
        )
        _check_context(multiprocessing_context, num_workers)
        _check_stream(dataset, shuffle, sampler, batch_sampler)
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
        is_stream = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if is_stream else _DatasetKind.Map
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
        self.__initialized = True
        self.check_worker_number_rationality()

    def __setattr__(self, name: str, value: object) -> None:
        if self.__initialized and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def check_worker_number_rationality(self) -> None:
        """Warn of more workers than processors."""
        most = _processors()
        if self.num_workers > (most or 0):
            warn_caller(
                f"This DataLoader will create {self.num_workers} worker processes in total. "
                f"{_suggested(most)}Please be aware that excessive worker creation might get "
                "DataLoader running slow or even freeze, lower the worker number to avoid "
                "potential slowness/freeze if necessary."
            )

    def _order(self, shuffle: bool) -> Any:
        if isinstance(self.dataset, IterableDataset):
            return _InfiniteConstantSampler()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __iter__(self) -> _BaseDataLoaderIter:
        kept = self._iterator if self.persistent_workers else None
        if kept is not None:
            kept._reset(self)
            return kept
        begun = self._get_iterator()
        if self.persistent_workers:
            self._iterator = begun
        return begun

    def _get_iterator(self) -> _BaseDataLoaderIter:
        """One pass over the set; classes derived from this one may give another."""
        several = self.num_workers > 0
        kind = _MultiProcessingDataLoaderIter if several else _SingleProcessDataLoaderIter
        return kind(self)

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


def _arranged(dataset: object, shuffle: bool | None) -> Any:
    """The set; of a pipe what can be pickled, after its parts were told whether to shuffle."""
    if isinstance(dataset, MapDataPipe):
        return _MapDataPipeSerializationWrapper(dataset)
    if not isinstance(dataset, IterDataPipe):
        return dataset
    # Like torch's it drops a pipe that shuffles, where that had to be added.
    _settings().apply_shuffle_settings(dataset, shuffle)
    return _IterDataPipeSerializationWrapper(dataset)


def _settings() -> ModuleType:
    """What is set for pipes; with it come all kinds of them, which loaders of other sets spare."""
    return import_module(".graph_settings", __package__)


def _checked_workers(count: int, timeout: float, prefetch: int | None, stay: bool) -> int | None:
    """How many batches each worker has ready.

    Raises:
        ValueError: what is said of workers makes no sense.
    """
    if count < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if count == 0 and prefetch is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 "
            "to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch is not None and prefetch < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if stay and count == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    return 2 if count and prefetch is None else prefetch


def _check_context(context: object, count: int) -> None:
    """See that a way to start workers is one, and wanted.

    Raises:
        TypeError: it is neither a name nor a context.
        ValueError: there are no workers, or no such way.
    """
    if context is None:
        return
    if count == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > "
            f"0), but got num_workers={count}"
        )
    ways = multiprocessing.get_all_start_methods()
    if isinstance(context, str):
        if context not in ways:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {ways!r}, "
                f"but got multiprocessing_context={context!r}"
            )
    elif not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}"
        )


def _check_stream(
    dataset: object, shuffle: bool | None, sampler: object, batch_sampler: object
) -> None:
    """See that nobody orders samples that come one after the other.

    Raises:
        ValueError: an order is given.
    """
    if not isinstance(dataset, IterableDataset):
        return
    if shuffle and not isinstance(dataset, IterDataPipe):
        given = f"shuffle option, but got shuffle={shuffle}"
    elif sampler is not None:
        given = f"sampler option, but got sampler={sampler}"
    elif batch_sampler is not None:
        given = f"batch_sampler option, but got batch_sampler={batch_sampler}"
    else:
        return
    raise ValueError(f"DataLoader with IterableDataset: expected unspecified {given}")


def _processors() -> int | None:
    """How many processors this process may use; None where the system does not say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _suggested(most: int | None) -> str:
    if most is None:
        return (
            "DataLoader is not able to compute a suggested max number of worker in current system. "
        )
    return (
        f"Our suggested max number of worker in current system is {most}, which is smaller than "
        "what this DataLoader is going to create. "
    )


def _get_distributed_settings() -> tuple[int, int]:
    """How many processes there are, and which this is."""
    groups = import_module("...distributed", __package__)
    if not groups.is_initialized():
        return 1, 0
    return groups.get_world_size(), groups.get_rank()


def _sharding_worker_init_fn(
    worker_init_fn: Callable[[int], object] | None, world_size: int, rank_id: int, worker_id: int
) -> None:
    """What a worker begins with: its share of a pipe, then what the program wants.

    Args:
        world_size, rank_id: how many processes there are with workers, and which this one's is.
    """
    info = get_worker_info()
    assert info is not None
    count, number = info.num_workers * world_size, worker_id * world_size + rank_id
    _settings().apply_sharding(info.dataset, count, number)
    if worker_init_fn is not None:
        worker_init_fn(worker_id)


def _fetcher(
    kind: int,
    dataset: object,
    is_batched: bool,
    collate: _collate_fn_t,
    drop_last: bool,
    shared_seed: int | None,
) -> _BaseDatasetFetcher:
    """What loads batches, once a pipe has its seed."""
    if isinstance(dataset, IterDataPipe):
        assert shared_seed is not None
        _settings().apply_random_seed(dataset, Generator().manual_seed(shared_seed))
    return _DatasetKind.create_fetcher(kind, dataset, is_batched, collate, drop_last)


class _BaseDataLoaderIter:
    """One pass over a set, in batches."""

    def __init__(self, loader: DataLoader[object]) -> None:
        self._dataset, self._dataset_kind = loader.dataset, loader._dataset_kind
        self._auto_collation, self._collate_fn = loader._auto_collation, loader.collate_fn
        self._drop_last, self._index_sampler = loader.drop_last, loader._index_sampler
        self._num_workers, self._timeout = loader.num_workers, loader.timeout
        self._persistent_workers = loader.persistent_workers
        self._pin_memory, self._pin_memory_device = False, None
        if loader.pin_memory:
            warn_caller(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used."
            )
        self._world_size, self._rank = _get_distributed_settings()
        self._begin(loader)
        self._base_seed = drawn_seed(loader.generator)  # drawn also where there are no workers

    def _reset(self, loader: DataLoader[object], first_iter: bool = False) -> None:
        """Begin anew."""
        self._begin(loader)

    def _begin(self, loader: DataLoader[object]) -> None:
        self._shared_seed: int | None = None
        if isinstance(self._dataset, IterDataPipe):
            self._shared_seed = drawn_seed(loader.generator)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._sampler_iter = iter(self._index_sampler)

    def _fetchers(self) -> Callable[[int | None], _BaseDatasetFetcher]:
        """Given the seed that workers share, makes what loads batches."""
        parts = (self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn)
        return partial(_fetcher, *parts, self._drop_last)

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def __next__(self) -> Any:
        made = self._next_data()
        self._num_yielded += 1
        told = self._IterableDataset_len_called
        if told is not None and self._num_yielded > told:
            self._warn_of_length(told)
        return made

    def _next_index(self) -> object:
        """The key of the next sample, or the keys of the next batch."""
        return next(self._sampler_iter)

    def _next_data(self) -> object:
        """The next batch."""
        raise NotImplementedError

    def _warn_of_length(self, told: int) -> None:
        where = (
            "For multiprocessing data-loading, this could be caused by not properly configuring "
            "the IterableDataset replica at each worker. Please see "
            "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for "
            "examples."
        )
        warn_caller(
            f"Length of IterableDataset {self._dataset} was reported to be {told}(when "
            f"accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
            f"{where if self._num_workers else ''}"
        )

    def __len__(self) -> int:
        return len(self._index_sampler)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """The pass that this process makes."""

    def __init__(self, loader: DataLoader[object]) -> None:
        super().__init__(loader)
        if isinstance(self._dataset, IterDataPipe | MapDataPipe):
            _settings().apply_sharding(self._dataset, self._world_size, self._rank)
        self._dataset_fetcher = self._fetchers()(self._shared_seed)

    def _next_data(self) -> object:
        return self._dataset_fetcher.fetch(self._next_index())


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """The pass that worker processes make, a batch each in turn."""

    def __init__(self, loader: DataLoader[object]) -> None:
        self._workers: list[BaseProcess] = []
        super().__init__(loader)
        self._owner_process = os.getpid()
        self._prefetch_factor, self._in_order = loader.prefetch_factor or 1, loader.in_order
        self._worker_init_fn: Callable[[int], object] | None = loader.worker_init_fn
        if isinstance(self._dataset, IterDataPipe | MapDataPipe):
            begun = (self._worker_init_fn, self._world_size, self._rank)
            self._worker_init_fn = partial(_sharding_worker_init_fn, *begun)
        context: Any = loader.multiprocessing_context or multiprocessing
        if isinstance(context, str):
            context = multiprocessing.get_context(context)
        self._made = context.Queue()
        self._wanted = [context.Queue() for _ in range(loader.num_workers)]
        ended = (self._owner_process, self._workers, self._wanted, self._made)
        # a `__del__` would find the queues closed where a circle of references is let go
        self._shutdown_workers = weakref.finalize(self, _end_workers, *ended)
        self._shutdown_workers.atexit = False  # when the program ends, `multiprocessing` ends them
        for number, wanted in enumerate(self._wanted):
            wanted.cancel_join_thread()
            given = (self._fetchers(), self._dataset, wanted, self._made, self._worker_init_fn)
            rest = (self._base_seed, number, self._num_workers, self._shared_seed)
            worker = context.Process(target=run_worker, args=(*given, *rest), daemon=True)
            worker.start()
            self._workers.append(worker)
        self._start_pass()

    def _reset(self, loader: DataLoader[object], first_iter: bool = False) -> None:
        """Another pass by the workers that stayed."""
        super()._reset(loader, first_iter)
        for wanted in self._wanted:
            wanted.put(_ResumeIteration(self._shared_seed))
        left = len(self._wanted)
        while left:  # batches that nobody took from the last pass are dropped
            left -= isinstance(self._received()[1], _ResumeIteration)
        self._start_pass()

    def _start_pass(self) -> None:
        self._asked: dict[int, int] = {}
        """Who loads a batch that was not given out yet, in the order of the batches."""
        self._arrived: dict[int, object] = {}
        self._live = set(range(len(self._wanted)))
        self._turn = cycle(range(len(self._wanted)))
        self._count = 0
        for _ in range(self._prefetch_factor * len(self._wanted)):
            self._ask()

    def _ask(self) -> None:
        """Have one more batch loaded, if there is one and a worker for it."""
        if not self._live:
            return
        try:
            keys = self._next_index()
        except StopIteration:
            return
        worker = next(each for each in self._turn if each in self._live)
        self._wanted[worker].put((self._count, keys))
        self._asked[self._count] = worker
        self._count += 1

    def _next_data(self) -> object:
        while True:
            self._asked = {
                index: worker
                for index, worker in self._asked.items()
                if worker in self._live or index in self._arrived
            }
            if not self._asked:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            index = next(iter(self._asked))
            if index in self._arrived:
                return self._given(index, self._arrived.pop(index))
            came, result = self._received()
            if isinstance(result, _IterableDatasetStopIteration):
                self._live.discard(result.worker_id)
                self._ask()
            elif came == index or not self._in_order:
                return self._given(came, result)
            else:
                self._arrived[came] = result

    def _given(self, index: int, result: object) -> object:
        del self._asked[index]
        self._ask()
        if isinstance(result, ExceptionWrapper):
            result.reraise()  # who catches it may go on with the next batch
        return result

    def _received(self) -> tuple[int, object]:
        """The next batch that some worker has ready, with its number.

        Raises:
            RuntimeError: a worker has ended, or none came in time.
        """
        limit = self._timeout
        while True:
            try:
                return pickle.loads(self._made.get(timeout=limit or MP_STATUS_CHECK_INTERVAL))  # type: ignore[no-any-return]
            except queue.Empty:
                dead = [str(each.pid) for each in self._workers if not each.is_alive()]
                if dead:
                    self._shutdown_workers()
                    raise RuntimeError(
                        f"DataLoader worker (pid(s) {', '.join(dead)}) exited unexpectedly"
                    ) from None
                if limit:
                    raise RuntimeError(f"DataLoader timed out after {limit} seconds") from None


def _end_workers(
    owner: int,
    workers: Sequence[BaseProcess],
    wanted: Sequence[Queue[object]],
    made: Queue[object],
) -> None:
    """Let the workers end; one that does not is ended.

    Args:
        owner: the process that began them; others have nothing to end.
        workers, wanted, made: the processes, and the queues to and from them.
    """
    if owner != os.getpid():
        return
    for queue_ in wanted:
        queue_.put(END)
    limit = time.monotonic() + MP_STATUS_CHECK_INTERVAL  # of all together
    for worker in workers:
        worker.join(max(0.0, limit - time.monotonic()))
        if worker.is_alive():
            worker.terminate()
    for each in (*wanted, made):
        each.cancel_join_thread()
        each.close()


class _DatasetKind:
    """Whether samples of a set are asked for by key, or come one after the other."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int,
        dataset: Any,
        auto_collation: bool,
        collate_fn: _collate_fn_t,
        drop_last: bool,
    ) -> _BaseDatasetFetcher:
        """What loads samples of a set of that kind."""
        made = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return made(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler:
    """The order of samples that have no numbers."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


__getattr__ = names_of(__name__)
