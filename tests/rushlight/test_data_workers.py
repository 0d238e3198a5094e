"""Processes that load data: who loads what, with which random numbers, and how they fail."""

from __future__ import annotations

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
    get_worker_info,
)

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes are not forked here"
)


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
    loader = DataLoader(Stream(7), batch_size=2, num_workers=2)
    assert [batch.tolist() for batch in loader] == [[0, 2], [1, 3], [4, 6], [5]]
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
        ("sleep", r"DataLoader timed out after 2 seconds"),
    ],
)
def test_failures_of_workers_reach_the_program(failure: str, told: str) -> None:
    limit = 2 if failure == "sleep" else 0
    loader = DataLoader(
        Squares(4, 1, failure),
        batch_size=None,
        num_workers=2,
        timeout=limit,
        collate_fn=lambda x: x,
    )
    with pytest.raises(Exception, match=told):
        list(loader)


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
    kind = type(iter(DataLoader(Squares(2), num_workers=1)))
    monkeypatch.setattr(kind, "_LOOK", 0.2)
    with pytest.raises(
        RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"
    ):
        list(DataLoader(Squares(4, 1), num_workers=2))


def test_batches_may_come_as_they_are_ready() -> None:
    loader = DataLoader(Squares(8), batch_size=None, num_workers=3, in_order=False)
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


def test_workers_that_stay_draw_one_seed() -> None:
    torch.manual_seed(1)
    loader = DataLoader(Squares(8), 4, num_workers=1, persistent_workers=True)
    drawn = []
    for _ in range(3):
        assert len(list(loader)) == 2
        drawn.append(torch.rand(1).item())
    assert drawn[1:] == [0.7346844673156738, 0.029281556606292725]  # torch's
