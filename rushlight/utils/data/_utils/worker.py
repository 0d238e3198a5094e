"""`torch.utils.data._utils.worker`: processes that load samples for the program."""

from __future__ import annotations

import os
import queue
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...._utils import ExceptionWrapper
from ....multiprocessing.sent_tensors import ForkingPickler
from ....ops.eager.namespace import public_names
from .fetch import _BaseDatasetFetcher, _IterableDatasetFetcher

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

__all__ = [
    *("END", "MP_STATUS_CHECK_INTERVAL", "ManagerWatchdog", "WorkerInfo"),
    *("_IterableDatasetStopIteration", "_ResumeIteration", "_generate_state", "get_worker_info"),
    "run_worker",
]

MP_STATUS_CHECK_INTERVAL: Final = 5.0
"""Seconds after which who waits for another process looks whether it still lives."""


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker process knows of itself.

    Args:
        id: its number, from 0.
        num_workers: how many there are.
        seed: what its random numbers begin from.
        dataset: its copy of the set.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: object = None
    worker_method: str | None = "multiprocessing"


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """A worker has no more samples of its stream."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """The word to a worker that stays, and its answer, at the beginning of another pass.

    Args:
        seed: what all workers' pipes begin from.
    """

    seed: int | None = None


class ManagerWatchdog:
    """Knows whether the program that a worker works for is still there."""

    def __init__(self) -> None:
        self._program = os.getppid()

    def is_alive(self) -> bool:
        return os.getppid() == self._program


END: Final = None
"""The word to a worker that nothing more is wanted."""

_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What a worker process knows of itself; None in the program."""
    return _worker_info


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four words of 32 bits to seed NumPy's generator of one worker with.

    Args:
        base_seed: what all workers share, of 64 bits.
        worker_id: the worker's number.
    """
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return [int(word) for word in np.random.SeedSequence(words).generate_state(4)]


def run_worker(
    make_fetcher: Callable[[int | None], _BaseDatasetFetcher],
    dataset: object,
    wanted: Queue[Any],
    made: Queue[object],
    init: Callable[[int], object] | None,
    base_seed: int,
    number: int,
    count: int,
    shared_seed: int | None,
) -> None:
    """Load batches that are asked for in the queue `wanted`, until there is the word to end.

    What goes into the queue `made` is, pickled, the batch's number and the batch, an
    `ExceptionWrapper` in its place, or `_IterableDatasetStopIteration` where a stream has no more.

    Args:
        make_fetcher: given the seed that workers share, makes what loads a batch.
        dataset: the set.
        init: what the program wants called first.
        base_seed: what the workers' random numbers begin from.
        number, count: of the worker, and of workers.
        shared_seed: what all workers' pipes begin from.
    """
    global _worker_info
    try:
        names = public_names()
        names["set_num_threads"](1)
        seed = base_seed + number
        random.seed(seed)
        names["manual_seed"](seed)
        np.random.seed(_generate_state(base_seed, number))
        _worker_info = WorkerInfo(number, count, seed, dataset)
        failed = _begun(init, number)
        fetcher = None if failed else make_fetcher(shared_seed)
    except Exception:
        failed, fetcher = _failure(number), None
    program, has_ended = ManagerWatchdog(), False
    while program.is_alive():
        try:
            asked = wanted.get(timeout=MP_STATUS_CHECK_INTERVAL)
        except queue.Empty:
            continue
        if asked is END:
            made.cancel_join_thread()  # nobody may be left who reads
            return
        if isinstance(asked, _ResumeIteration):
            has_ended = False
            if fetcher is not None:
                fetcher = make_fetcher(asked.seed)
            made.put(_pickled(-1, asked, number))
        elif not has_ended:
            index, keys = asked
            result = failed if fetcher is None else _fetched(fetcher, keys, number)
            has_ended = isinstance(result, _IterableDatasetStopIteration)
            made.put(_pickled(index, result, number))


def _pickled(index: int, result: object, number: int) -> bytes:
    """Pickled here, where it can still be told that it cannot be."""
    try:
        return bytes(ForkingPickler.dumps((index, result)))
    except Exception:
        return bytes(ForkingPickler.dumps((index, _failure(number))))


def _begun(init: Callable[[int], object] | None, number: int) -> ExceptionWrapper | None:
    try:
        if init is not None:
            init(number)
    except Exception:
        return _failure(number)
    return None


def _fetched(fetcher: _BaseDatasetFetcher, keys: object, number: int) -> object:
    try:
        return fetcher.fetch(keys)
    except StopIteration:
        if isinstance(fetcher, _IterableDatasetFetcher):
            return _IterableDatasetStopIteration(number)
        return _failure(number)
    except Exception:
        return _failure(number)


def _failure(number: int) -> ExceptionWrapper:
    return ExceptionWrapper(where=f"in DataLoader worker process {number}")
