"""`torch.multiprocessing.queue`: queues between processes, which take tensors."""

from __future__ import annotations

import multiprocessing.queues
from typing import TYPE_CHECKING

from ..module_names import names_of
from . import sent_tensors as sent_tensors

__all__ = ["Queue", "SimpleQueue"]


if TYPE_CHECKING:
    _Queue = multiprocessing.queues.Queue[object]
    _SimpleQueue = multiprocessing.queues.SimpleQueue[object]
else:
    _Queue, _SimpleQueue = multiprocessing.queues.Queue, multiprocessing.queues.SimpleQueue


class Queue(_Queue):
    """A queue between processes, made in a context of `multiprocessing` (`ctx`)."""


class SimpleQueue(_SimpleQueue):
    """A queue between processes without a thread behind it."""


__getattr__ = names_of(__name__)
