"""`torch.futures`: results that are waited for."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from .interpreter.values.tasks import Future

__all__ = ["Future", "collect_all", "wait_all"]


def wait_all(futures: Sequence[object]) -> list[Any]:
    """The values of several futures.

    Raises:
        Exception: what the first that failed has failed with.
        RuntimeError: one is None.
    """
    return [each.wait() for each in _futures(futures)]


def collect_all(futures: Sequence[Any]) -> Any:
    """The future of a list of futures, when all of them are done.

    Raises:
        RuntimeError: one is None.
    """
    left = len(_futures(futures))
    together: Any = Future()
    lock = threading.Lock()

    def ended(_: object) -> None:
        nonlocal left
        with lock:
            left -= 1
        if left == 0:
            together.set_result(list(futures))

    if not futures:
        together.set_result([])
    for each in futures:
        each.add_done_callback(ended)
    return together


def _futures(futures: Sequence[object]) -> Sequence[Any]:
    if any(each is None for each in futures):
        raise RuntimeError("Future can't be None")
    return futures
