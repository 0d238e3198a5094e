"""`torch.accelerator`: the GPU or the like, where there is one; there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from .module_names import names_of

__all__ = [
    *("Graph", "empty_host_cache", "get_device_capability", "get_memory_info"),
    *("current_accelerator", "current_device_idx", "current_device_index", "current_stream"),
    *("device_count", "device_index", "empty_cache", "is_available", "max_memory_allocated"),
    *("max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats"),
    *("reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx"),
    *("set_device_index", "set_stream", "synchronize"),
]


def is_available() -> bool:
    """Never."""
    return False


def device_count() -> int:
    """None."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None."""
    del check_available


def _needing(name: str) -> Callable[..., NoReturn]:
    """A function that needs such a device."""

    def absent(*arguments: object, **named: object) -> NoReturn:
        raise RuntimeError("Cannot access accelerator device when none is available.")

    absent.__name__ = absent.__qualname__ = name
    return absent


globals().update({name: _needing(name) for name in __all__ if name not in globals()})
__getattr__ = names_of(__name__)
