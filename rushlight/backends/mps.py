"""`torch.backends.mps`: there is no such device."""

from __future__ import annotations

from .. import _C
from ..mps import needing_one

__all__ = [
    *("get_core_count", "get_name", "is_available", "is_built", "is_macos13_or_newer"),
    "is_macos_or_newer",
]


def is_available() -> bool:
    """Whether there is such a device: no."""
    return bool(_C._mps_is_available())


def is_built() -> bool:
    """Whether there are kernels for such a device: no."""
    return False


get_core_count = needing_one("get_core_count", __name__)
get_name = needing_one("get_name", __name__)
is_macos13_or_newer = needing_one("is_macos13_or_newer", __name__)
is_macos_or_newer = needing_one("is_macos_or_newer", __name__)
