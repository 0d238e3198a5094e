"""`torch.multiprocessing.pool`: pools of processes, which take tensors."""

from __future__ import annotations

import multiprocessing.pool

from ..module_names import names_of
from . import sent_tensors as sent_tensors

__all__ = ["Pool"]


class Pool(multiprocessing.pool.Pool):
    """A pool of processes."""


__getattr__ = names_of(__name__)
