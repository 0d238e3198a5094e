"""`torch.mps` on a machine without one: programs ask whether it is there, and are told no."""

from __future__ import annotations

from collections.abc import Callable
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


def needing_one(name: str, module: str = __name__) -> Callable[..., NoReturn]:
    """A function of a module that needs such a device, and says so."""

    def refuse(*arguments: object) -> NoReturn:
        raise RuntimeError("Cannot execute this without MPS backend.")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__ = module
    return refuse


current_allocated_memory = needing_one("current_allocated_memory")
driver_allocated_memory = needing_one("driver_allocated_memory")
empty_cache = needing_one("empty_cache")
get_rng_state = needing_one("get_rng_state")
recommended_max_memory = needing_one("recommended_max_memory")
set_per_process_memory_fraction = needing_one("set_per_process_memory_fraction")
set_rng_state = needing_one("set_rng_state")
synchronize = needing_one("synchronize")

__getattr__ = names_of(__name__)
