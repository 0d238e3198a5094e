"""`torch.utils.data._utils.worker`: processes that load samples for the program."""

from __future__ import annotations

import os
import queue
import random
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final

import numpy as np

from ...._utils import ExceptionWrapper
from ....ops.eager.namespace import public_names
from ..dataset import IterableDataset

__all__ = [
    "END",
    "Ended",
    "Resume",
    "WorkerInfo",
    "_generate_state",
    "get_worker_info",
    "run_worker",
]


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
    worker_method: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A worker has no more samples of its stream."""

    worker: int


@dataclass(frozen=True, slots=True)
class Resume:
    """The word to a worker that stays, and its answer, at the beginning of another pass."""


END: Final = None
"""The word to a worker that nothing more is wanted."""

_worker_info: WorkerInfo | None = None
_LOOK_FOR_PARENT: Final = 5.0
"""Seconds after which a worker that waits looks whether the program is still there."""


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
    make_fetcher: Callable[[int, int], Callable[[Any], object]],
    dataset: object,
    wanted: Any,
    made: Any,
    init: Callable[[int], object] | None,
    base_seed: int,
    number: int,
    count: int,
) -> None:
    """Load batches that are asked for in the queue `wanted`, until there is the word to end.

    What goes into the queue `made` is, pickled, the batch's number and the batch, an
    `ExceptionWrapper` in its place, or `Ended` where a stream has no more.

    Args:
        make_fetcher: given the worker's number and how many there are, makes what loads a batch.
        dataset: the set.
        init: what the program wants called first.
        base_seed: what the workers' random numbers begin from.
        number, count: of the worker, and of workers.
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
        fetch = None if failed else make_fetcher(number, count)
    except Exception:
        failed, fetch = _failure(number), None
    parent, has_ended = os.getppid(), False
    while True:
        try:
            asked = wanted.get(timeout=_LOOK_FOR_PARENT)
        except queue.Empty:
            if os.getppid() != parent:
                return
            continue
        if asked is END:
            made.cancel_join_thread()  # nobody may be left who reads
            return
        if isinstance(asked, Resume):
            has_ended = False
            if fetch is not None:
                fetch = make_fetcher(number, count)
            made.put(_pickled(-1, asked, number))
        elif not has_ended:
            index, keys = asked
            result = _fetched(fetch, keys, number) if fetch is not None else failed
            has_ended = isinstance(result, Ended)
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


def _fetched(fetch: Callable[[Any], object], keys: object, number: int) -> object:
    try:
        return fetch(keys)
    except StopIteration:
        info = get_worker_info()
        assert info is not None
        return Ended(number) if isinstance(info.dataset, IterableDataset) else _failure(number)
    except Exception:
        return _failure(number)


def _failure(number: int) -> ExceptionWrapper:
    return ExceptionWrapper(where=f"in DataLoader worker process {number}")
