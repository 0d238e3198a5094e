"""`torch.multiprocessing`: Python's `multiprocessing`; tensors in shared memory stay shared where
they are sent, others are sent as copies."""

from __future__ import annotations

import multiprocessing
import threading
from multiprocessing import *  # noqa: F403
from pathlib import Path

from ..frontend.foundations.chosen import Chosen
from ..module_names import names_of
from . import sent_tensors as sent_tensors
from .spawn import ENV_VAR_PARALLEL_START as ENV_VAR_PARALLEL_START
from .spawn import ProcessContext as ProcessContext
from .spawn import ProcessExitedException as ProcessExitedException
from .spawn import ProcessRaisedException as ProcessRaisedException
from .spawn import SpawnContext as SpawnContext
from .spawn import spawn as spawn
from .spawn import start_processes as start_processes

__all__ = [
    *multiprocessing.__all__,
    *("ENV_VAR_PARALLEL_START", "ProcessContext", "ProcessExitedException"),
    *("ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies"),
    *("get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes"),
]


def _set_thread_name(name: str) -> None:
    """Give this thread a name that tools of the system show, of 15 letters, where they do so."""
    place = Path(f"/proc/self/task/{threading.get_native_id()}/comm")
    if place.exists():
        place.write_bytes(name.encode()[:15])


def get_all_sharing_strategies() -> set[str]:
    """The ways of sharing tensors that can be chosen."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """The way that is chosen; shared memory is known by its descriptor in any case."""
    return _CHOSEN.now


_CHOSEN = Chosen("file_descriptor")


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose a way of sharing tensors.

    Raises:
        ValueError: there is no such way.
    """
    if new_strategy not in get_all_sharing_strategies():
        raise ValueError(f"no way of sharing tensors: {new_strategy!r}")
    _CHOSEN.choose(new_strategy)


__getattr__ = names_of(__name__)
