"""`torch.cuda` on a machine without one: programs ask whether it is there, and are told no."""

from __future__ import annotations

from typing import NoReturn

from . import amp

__all__ = [
    "amp",
    "current_device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "synchronize",
]

_ABSENT = "Torch not compiled with CUDA enabled"


def is_available() -> bool:
    """Never."""
    return False


def is_initialized() -> bool:
    """Never."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Never, there being no device."""
    del including_emulation
    return False


def device_count() -> int:
    """None."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing to seed; a seed that is no number is refused all the same."""
    int(seed)


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Nothing is kept."""


def memory_allocated(device: object = None) -> int:
    """Bytes that tensors hold there: none."""
    del device
    return 0


max_memory_allocated = memory_reserved = memory_allocated


def _absent(*arguments: object, **named: object) -> NoReturn:
    """Refuse, as torch does where it is built for the CPU alone.

    Raises:
        AssertionError: always.
    """
    raise AssertionError(_ABSENT)


current_device = get_device_name = synchronize = _absent
get_device_capability = get_device_properties = init = _absent
