"""`torch.utils.data._utils.worker`: processes that load data; here the program itself does."""

from __future__ import annotations

import numpy as np

__all__ = ["_generate_state", "get_worker_info"]


_worker_info = None
"""What `get_worker_info` gives."""


def get_worker_info() -> None:
    """What a worker process knows of itself: None, as there are none."""
    return


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Four words of 32 bits to seed NumPy's generator of one worker with.

    Args:
        base_seed: what all workers share, of 64 bits.
        worker_id: the worker's number.
    """
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return [int(word) for word in np.random.SeedSequence(words).generate_state(4)]
