"""`torch.cuda.nvtx`: marks for a profiler of GPUs, which is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def mark(msg: str = "", *arguments: object) -> Any:
    """Mark a moment.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


range_end = range_pop = range_push = range_start = mark


@contextmanager
def range(msg: str, *args: object, **kwargs: object) -> Iterator[None]:
    """Mark a block, or the calls of a function.

    Raises:
        RuntimeError: when the block is entered or the function called, not before.
    """
    range_push(msg.format(*args, **kwargs))
    yield
