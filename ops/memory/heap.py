"""The C library's heap: how much of what was given back it keeps for the next results.

By its own rules glibc gives large blocks back to the system and asks for them again with the next
call, whose first write of each page then takes as long as computing what is written there.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Final

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_KEPT: Final = 64 << 20
"""Bytes at the end of the heap that stay ours."""
_LARGEST: Final = 32 << 20
"""Bytes of the largest block that lies in the heap; glibc takes no more."""
_SETTINGS: Final = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


@cache
def keep_freed_memory() -> None:
    """Have the heap keep blocks of up to 32 MiB, 64 MiB in all, unless the environment rules it."""
    if not sys.platform.startswith("linux") or any(name in os.environ for name in _SETTINGS):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # another C library may have none
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST)
        mallopt(_TRIM_THRESHOLD, _KEPT)
