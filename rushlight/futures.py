"""`torch.futures`: results that are waited for."""

from __future__ import annotations

import threading
from typing import Any

from .interpreter.values.tasks import Future

__all__ = ["Future", "collect_all", "wait_all"]


def wait_all(futures: list[Any]) -> list[Any]:
    """The values of several futures.

    Raises:
        Exception: what the first that failed has failed with.
    """
    return [each.wait() for each in futures]


def collect_all(futures: list[Any]) -> Any:
    """The future of a list of futures, when all of them are done."""
    left = len(futures)
    together: Any = Future()
    lock = threading.Lock()

    def ended(_: Any) -> None:
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
