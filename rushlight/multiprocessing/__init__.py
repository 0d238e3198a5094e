"""`torch.multiprocessing`: Python's `multiprocessing`; tensors are sent as copies."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from typing import Any

from ..module_names import names_of

__all__ = [
    *multiprocessing.__all__,
    *("get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn"),
    "start_processes",
]


def get_all_sharing_strategies() -> set[str]:
    """The ways of sharing tensors that can be chosen."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """The way that is chosen; tensors are sent as copies in any case."""
    return _CHOSEN[0]


_CHOSEN = ["file_descriptor"]


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose a way of sharing tensors.

    Raises:
        ValueError: there is no such way.
    """
    if new_strategy not in get_all_sharing_strategies():
        raise ValueError(f"no way of sharing tensors: {new_strategy!r}")
    _CHOSEN[0] = new_strategy


def spawn(
    fn: Callable[..., object],
    args: tuple[object, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> Any:
    """Run `fn(i, *args)` in processes of their own.

    Args:
        join: wait for them; otherwise they come back as a list.

    Raises:
        RuntimeError: a process failed.
    """
    context: Any = multiprocessing.get_context(start_method)
    started = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for each in started:
        each.start()
    if not join:
        return started
    for number, each in enumerate(started):
        each.join()
        if each.exitcode:
            for other in started:
                other.terminate()
            raise RuntimeError(f"process {number} terminated with exit code {each.exitcode}")
    return None


start_processes = spawn

__getattr__ = names_of(__name__)
