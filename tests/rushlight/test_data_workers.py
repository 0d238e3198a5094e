"""Processes that load data: who loads what, with which random numbers, and how they fail."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.utils.data import (
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    StackDataset,
    _utils,
    dataloader,
    get_worker_info,
)
from rushlight.utils.data.datapipes.iter import IterableWrapper

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes are not forked here"
)


@pytest.fixture(autouse=True)
def forked() -> Iterator[None]:
    """Datasets here close over what the program knows; newer Pythons fork no processes unasked."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("fork", force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


class Squares(Dataset[Any]):
    """Numbers, some of which fail, take long or end their process."""

    def __init__(self, count: int = 6, at: int = -1, failure: str = "") -> None:
        self.count, self.at, self.failure = count, at, failure

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        if index == self.at:
            if self.failure == "raise":
                raise KeyError("square")
            if self.failure == "unpicklable":
                return lambda: None
            if self.failure == "sleep":
                time.sleep(60)
            os._exit(1)
        return torch.tensor([index * index, os.getpid() != _PROGRAM])


_PROGRAM = os.getpid()


class Seeds(Dataset[Any]):
    """What random numbers begin from."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        assert info is not None
        assert info.dataset is self
        return [info.id, info.seed, torch.initial_seed(), random.random(), np.random.rand()]


class Stream(IterableDataset[Any]):
    """Numbers that workers share out."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        return iter(
            range(self.count) if info is None else range(info.id, self.count, info.num_workers)
        )


def test_batches_come_in_order_from_other_processes() -> None:
    batches = list(DataLoader(Squares(), batch_size=2, num_workers=2))
    assert torch.cat(batches).tolist() == [[n * n, 1] for n in range(6)]
    assert get_worker_info() is None


def test_random_numbers_of_workers_are_those_of_torch() -> None:
    torch.manual_seed(5)
    first = list(DataLoader(Seeds(), batch_size=None, num_workers=2))
    torch.manual_seed(5)
    base = int(torch.empty((), dtype=torch.int64).random_().item())
    assert [row[:3] for row in first] == [[i % 2, base + i % 2, base + i % 2] for i in range(4)]
    assert first[0][3] == random.Random(base).random()
    state = np.random.SeedSequence([1, base & 0xFFFFFFFF, base >> 32, 0]).generate_state(4)
    assert first[1][4] == np.random.RandomState(state).rand()


def test_streams_are_shared_out() -> None:
    batches = iter(DataLoader(Stream(7), batch_size=2, num_workers=2))
    assert [batch.tolist() for batch in batches] == [[0, 2], [1, 3], [4, 6], [5]]
    assert [each.exitcode for each in batches._workers] == [0, 0]  # who they were is known later
    short = DataLoader(Stream(7), batch_size=2, num_workers=2, drop_last=True)
    assert [batch.tolist() for batch in short] == [[0, 2], [1, 3], [4, 6]]


def seed_by_number(number: int) -> None:
    torch.manual_seed(number * 100 + 7)


def test_workers_begin_as_the_program_says_and_may_stay() -> None:
    loader = DataLoader(
        Seeds(),
        batch_size=None,
        num_workers=2,
        worker_init_fn=seed_by_number,
        persistent_workers=True,
    )
    assert [row[2] for row in loader] == [7, 107, 7, 107]
    workers = [each.pid for each in loader._iterator._workers]
    unfinished = iter(loader)
    next(unfinished)
    assert [row[0] for row in loader] == [0, 1, 0, 1]
    assert [each.pid for each in loader._iterator._workers] == workers


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        ("raise", r"Caught KeyError in DataLoader worker process 1\.\nOriginal Traceback"),
        ("unpicklable", r"Caught \w+ in DataLoader worker process 1\."),
        ("sleep", r"DataLoader timed out after 1 seconds"),
    ],
)
def test_failures_of_workers_reach_the_program(
    failure: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataloader, "MP_STATUS_CHECK_INTERVAL", 0.5)  # they have to end in it
    limit = 1 if failure == "sleep" else 0
    loader = DataLoader(
        Squares(4, 1, failure),
        batch_size=None,
        num_workers=2,
        timeout=limit,
        collate_fn=lambda x: x,
    )
    with pytest.raises(Exception, match=told):
        list(loader)


def test_workers_of_a_pass_in_a_circle_of_references_end_by_themselves() -> None:
    batches: Any = iter(DataLoader(Squares(4), num_workers=2))
    next(batches)
    workers = list(batches._workers)
    batches.circle = batches
    del batches
    gc.collect()
    assert [each.exitcode for each in workers] == [0, 0]  # nobody had to end them


@pytest.mark.parametrize("stay", [False, True])
def test_a_pass_goes_on_after_a_failure(stay: bool) -> None:
    batches = iter(
        DataLoader(Squares(4, 1, "raise"), batch_size=None, num_workers=2, persistent_workers=stay)
    )
    assert next(batches)[0] == 0
    with pytest.raises(KeyError, match="Caught KeyError in DataLoader worker process 1"):
        next(batches)
    assert [row[0].item() for row in batches] == [4, 9]


def fail(number: int) -> None:
    raise ValueError(f"worker {number}")


def test_workers_that_cannot_begin_say_so_each_time() -> None:
    batches = iter(
        DataLoader(Squares(4), num_workers=2, worker_init_fn=fail, persistent_workers=True)
    )
    for number in (0, 1, 0, 1):
        with pytest.raises(
            ValueError, match=f"Caught ValueError in DataLoader worker process {number}"
        ):
            next(batches)
    with pytest.raises(StopIteration):
        next(batches)


def test_a_worker_that_ends_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataloader, "MP_STATUS_CHECK_INTERVAL", 0.2)
    with pytest.raises(
        RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"
    ):
        list(DataLoader(Squares(4, 1), num_workers=2))


def test_batches_may_come_as_they_are_ready() -> None:
    loader = DataLoader(Squares(8), batch_size=None, num_workers=2, in_order=False)
    assert sorted(row[0].item() for row in loader) == [n * n for n in range(8)]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"num_workers": -1}, "num_workers option should be non-negative"),
        ({"timeout": -1}, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, "prefetch_factor option could only be specified"),
        ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
        ({"multiprocessing_context": "fork"}, "can only be used with multi-process loading"),
        ({"num_workers": 1, "multiprocessing_context": "x"}, "should specify a valid start method"),
    ],
)
def test_what_is_said_of_workers_is_checked(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        DataLoader(range(3), **options)


def test_loaders_and_sets_refuse_what_torch_refuses() -> None:
    loader = DataLoader[int](range(3))
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader"):
        loader.batch_size = 2
    with pytest.raises(ValueError, match="expected unspecified sampler option"):
        DataLoader(Stream(2), sampler=[1])
    with pytest.raises(TypeError, match="replacement should be a boolean value"):
        RandomSampler([1], replacement=1)
    with pytest.raises(ValueError, match="got num_samples=a"):
        RandomSampler([1], num_samples="a")
    with pytest.raises(AssertionError, match="ConcatDataset does not support IterableDataset"):
        ConcatDataset([Stream(2)])
    with pytest.raises(AssertionError, match="ChainDataset only supports IterableDataset"):
        len(ChainDataset([range(3)]))
    with pytest.raises(ValueError, match="At least one dataset should be passed"):
        StackDataset()
    assert StackDataset(a=range(3), b=range(3)).__getitems__([2]) == [{"a": 2, "b": 2}]
    assert StackDataset(range(3)).__getitems__([0, 2]) == [(0,), (2,)]


def test_too_many_workers_and_pinned_memory_are_warned_of() -> None:
    count = len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else 10_000
    with pytest.warns(UserWarning, match=f"will create {count} worker processes in total"):
        DataLoader(Squares(2), num_workers=count)
    with pytest.warns(UserWarning, match="no accelerator is found"):
        iter(DataLoader(Squares(2), pin_memory=True))


class Stateful(dataloader._BaseDataLoaderIter):
    """A pass that others write, by what torch's own has."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        given = (self._dataset, self._auto_collation, self._collate_fn, self._drop_last)
        self.fetcher = dataloader._DatasetKind.create_fetcher(self._dataset_kind, *given)

    def _next_data(self) -> Any:
        return self.fetcher.fetch(self._next_index())


def test_others_write_passes_by_fetchers() -> None:
    made = Stateful(DataLoader[Any](range(5), batch_size=2, drop_last=True))
    assert [batch.tolist() for batch in made] == [[0, 1], [2, 3]]
    assert (made._num_yielded, made._num_workers, made._world_size, made._rank) == (2, 0, 1, 0)
    stream = Stateful(DataLoader(Stream(3), batch_size=2))
    assert isinstance(stream.fetcher, _utils.fetch._IterableDatasetFetcher)
    assert (len(next(stream)), stream.fetcher.ended) == (2, False)
    assert (len(next(stream)), stream.fetcher.ended) == (1, True)
    assert Stateful(DataLoader(Squares(3), batch_size=None))._next_data()[0] == 0


class OwnIterator(IterableDataset[int]):
    """Numbers of a set that is its own iterator, and begins anew when it is asked for one."""

    def __iter__(self) -> Iterator[int]:
        self.at = 0
        return self

    def __next__(self) -> int:
        self.at += 1
        if self.at > 5:
            raise StopIteration
        return self.at


def test_sets_that_are_their_own_iterators_begin_once_a_pass() -> None:
    loader = DataLoader(OwnIterator(), batch_size=2)
    for _ in range(2):
        assert [batch.tolist() for batch, _ in zip(loader, range(9), strict=False)] == [
            [1, 2],
            [3, 4],
            [5],
        ]


def test_shares_of_pipes_are_of_all_workers_of_all_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pipe: Any = IterableWrapper(range(12)).sharding_filter()
    info = _utils.worker.WorkerInfo(id=1, num_workers=2, seed=3, dataset=pipe)
    monkeypatch.setattr(_utils.worker, "_worker_info", info)
    begun: list[int] = []
    dataloader._sharding_worker_init_fn(begun.append, 3, 2, 1)
    assert (list(pipe), begun) == ([5, 11], [1])


def test_pipes_of_workers_that_stay_are_shuffled_anew() -> None:
    torch.manual_seed(0)
    pipe: Any = IterableWrapper(range(50)).shuffle()
    loader = DataLoader[Any](pipe, batch_size=None, num_workers=1, persistent_workers=True)
    assert len({tuple(loader) for _ in range(2)}) == 2


def test_children_that_fail_are_told_of() -> None:
    signals = _utils.signal_handling
    process = multiprocessing.get_context("fork").Process(target=os._exit, args=(3,))
    process.start()
    os.waitid(os.P_PID, process.pid or 0, os.WEXITED | os.WNOWAIT)
    signals._set_worker_pids(1, [process.pid])
    with pytest.raises(ValueError, match="only once"):
        signals._set_worker_pids(1, [])
    with pytest.raises(RuntimeError, match=r"exited unexpectedly with exit code 3\. Details are"):
        signals._error_if_any_worker_fails()
    signals._error_if_any_worker_fails()
    signals._remove_worker_pids(1)
    with pytest.raises(ValueError, match="Cannot find worker information"):
        signals._remove_worker_pids(1)
    process.join()


def _wait(ready: Any) -> None:
    _utils.signal_handling._set_worker_signal_handlers()
    ready.set()
    time.sleep(60)


def test_workers_that_their_program_ends_have_not_failed() -> None:
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    process = context.Process(target=_wait, args=(ready,))
    process.start()
    assert ready.wait(60)
    process.terminate()
    process.join()
    assert process.exitcode == 0


def test_workers_that_stay_draw_one_seed() -> None:
    torch.manual_seed(1)
    loader = DataLoader(Squares(8), 4, num_workers=1, persistent_workers=True)
    drawn = []
    for _ in range(3):
        assert len(list(loader)) == 2
        drawn.append(torch.rand(1).item())
    assert drawn[1:] == [0.7346844673156738, 0.029281556606292725]  # torch's
