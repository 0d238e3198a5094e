"""`torch.mps` on a machine without one: programs ask whether it is there, and are told no."""

from __future__ import annotations

from typing import NoReturn

from .module_names import names_of

__all__ = [
    *("current_allocated_memory", "device_count", "driver_allocated_memory", "empty_cache"),
    *("get_rng_state", "is_available", "manual_seed", "recommended_max_memory", "seed"),
    *("set_per_process_memory_fraction", "set_rng_state", "synchronize"),
]


def is_available() -> bool:
    """Never."""
    return False


def device_count() -> int:
    """None."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing to seed."""


def seed() -> None:
    """Nothing to seed."""


def _absent(*arguments: object) -> NoReturn:
    raise RuntimeError("Cannot execute this without MPS backend.")


current_allocated_memory = driver_allocated_memory = empty_cache = get_rng_state = _absent
recommended_max_memory = set_per_process_memory_fraction = set_rng_state = synchronize = _absent

__getattr__ = names_of(__name__)
