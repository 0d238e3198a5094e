"""`torch.distributed.algorithms.join` in the one process there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight import distributed as dist
from rushlight.distributed.algorithms import Join, Joinable, JoinHook


class Hook(JoinHook):
    def __init__(self, log: list[object]) -> None:
        self.log = log

    def post_hook(self, is_last_joiner: bool) -> None:
        self.log.append(is_last_joiner)


class Talker(Joinable):
    join_device = torch.device("cpu")
    join_process_group: Any = None

    def __init__(self, log: list[object]) -> None:
        super().__init__()
        self.log = log

    def join_hook(self, **kwargs: Any) -> JoinHook:
        self.log.append(kwargs)
        return Hook(self.log)


@pytest.fixture
def group() -> Iterator[None]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_a_block_ends_with_its_hooks() -> None:
    log: list[object] = []
    first, second = Talker(log), Talker(log)
    assert Join.notify_join_context(first) is None
    with Join([first, second], divide=3):
        assert isinstance(Join.notify_join_context(first), dist.Work)
        assert Join.notify_join_context(second) is None
    assert log == [{"divide": 3}, {"divide": 3}, True, True]
    with Join([first], enable=False):
        assert Join.notify_join_context(first) is None
    with pytest.raises(KeyError), Join([first]):
        raise KeyError
    assert log[4:] == [{}, {}]


def test_what_cannot_be_joined() -> None:
    with pytest.raises(ValueError, match="requires at least one joinable"):
        Join([])
    with pytest.raises(ValueError, match="process group has not been initialized"):
        Join([Talker([])])
    unmade = object.__new__(Talker)
    with pytest.raises(AssertionError, match="calls the ``Joinable`` constructor"):
        Join.notify_join_context(unmade)
