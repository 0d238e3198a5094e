"""What one process can say about groups of processes: how much is checked, and groups of groups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from enum import Enum
from typing import Final

from ..frontend.foundations.chosen import Chosen
from .backends import DistStoreError
from .groups import get_rank, get_world_size, is_initialized, new_group

__all__ = [
    *("DebugLevel", "GroupName", "QueueEmptyError", "get_debug_level"),
    *("get_default_backend_for_device", "get_pg_count", "new_subgroups"),
    *("new_subgroups_by_enumeration", "record_comm", "set_debug_level"),
    "set_debug_level_from_env",
]


class DebugLevel(Enum):
    """How much is checked."""

    OFF = 0
    INFO = 1
    DETAIL = 2


class QueueEmptyError(DistStoreError):
    """A queue of a store is empty."""


GroupName = str
"""The name of a group."""

_BACKENDS: Final = {"cpu": "gloo", "cuda": "nccl", "xpu": "xccl", "mps": "gloo"}
_LEVEL: Final = Chosen(DebugLevel.OFF)


def get_debug_level() -> DebugLevel:
    """What was said last; that processes begin the same is checked in any case."""
    return _LEVEL.now


def set_debug_level(level: DebugLevel) -> None:
    """Say how much is to be checked."""
    _LEVEL.choose(level)


def set_debug_level_from_env() -> None:
    """Take it from `TORCH_DISTRIBUTED_DEBUG`.

    Raises:
        RuntimeError: that is no level.
    """
    said = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF")
    if said.upper() not in DebugLevel.__members__:
        raise RuntimeError("The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL.")
    set_debug_level(DebugLevel[said.upper()])


def get_default_backend_for_device(device: object) -> str:
    """The backend of a kind of device: "gloo" on the CPU.

    Others are named as torch names them, and cannot be had here.

    Raises:
        ValueError: there is none for it.
    """
    kind = getattr(device, "type", str(device)).partition(":")[0]
    if kind not in _BACKENDS:
        raise ValueError(f"Default backend not registered for device : {device}")
    return _BACKENDS[kind]


def get_pg_count() -> int:
    """How many groups there are: the one of all processes, if any."""
    return int(is_initialized())


def new_subgroups(
    group_size: int | None = None,
    group: object = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    group_desc: str | None = None,
) -> tuple[object, list[object]]:
    """Groups of a size that all processes fall into, and the one of this process among them.

    Args:
        group_size: the size; how many processes this machine has (`LOCAL_WORLD_SIZE`) if None.

    Raises:
        ValueError: the size is not positive, or larger than the number of processes, or does not
            divide it.
    """
    del group, pg_options, group_desc
    count = get_world_size()
    size = int(os.environ.get("LOCAL_WORLD_SIZE", count)) if group_size is None else group_size
    if size <= 0:
        raise ValueError(f"The arg 'group_size' ({size}) must be positive")
    if count < size:
        raise ValueError(f"The arg 'group_size' ({size}) must not exceed the world size ({count})")
    if count % size:
        raise ValueError(f"The world size ({count}) must be divisible by 'group_size={size}'")
    parts = [list(range(begin, begin + size)) for begin in range(0, count, size)]
    return new_subgroups_by_enumeration(parts, timeout, backend)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: list[list[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    group_desc: str | None = None,
) -> tuple[object, list[object]]:
    """Groups of the processes that are named, and the one of this process among them.

    Raises:
        ValueError: no groups are named, or a process is named twice.
    """
    del group_desc
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    mine, made, seen = None, list[object](), set[int]()
    for ranks in ranks_per_subgroup_list:
        subgroup = new_group(ranks, timeout, backend, pg_options)
        made.append(subgroup)
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroups")
            seen.add(rank)
        if get_rank() in ranks:
            mine = subgroup
    return mine, made


@contextmanager
def record_comm(name: str) -> Iterator[None]:
    """A block whose exchanges would be recorded under a name."""
    del name
    yield
