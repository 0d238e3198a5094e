"""`torch.utils.data._utils`: where programs look for how batches are put together and loaded."""

from __future__ import annotations

from typing import Final

from . import collate, fetch, pin_memory, signal_handling, worker
from .worker import MP_STATUS_CHECK_INTERVAL

__all__ = [
    "HAS_NUMPY",
    "MP_STATUS_CHECK_INTERVAL",
    "collate",
    "fetch",
    "pin_memory",
    "python_exit_status",
    "signal_handling",
    "worker",
]

HAS_NUMPY: Final = True
python_exit_status = False
"""Whether Python is about to end, when workers need no word any more."""
