"""Whether autocast is on, asked and set by hand: `torch.is_autocast_enabled("cpu")`.

In script the functions stand for operators.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

from ..ops.memory.dtype import Device, DType, dtype_by_number
from ..ops.table.autocast import autocast_state, set_autocast_state
from ..ops.tensors.construct import stands_for

__all__ = [
    "as_it_is",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
]

_NESTING: Final = ContextVar("nesting", default=0)
"""How many contexts of autocast this thread is in."""


@stands_for("aten::is_autocast_enabled")
def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether autocast is on for a kind of device; without one, for CUDA.

    Raises:
        RuntimeError: there is no such kind of device.
    """
    return autocast_state().enabled("cuda" if device_type is None else Device(device_type).type)


@stands_for("aten::is_autocast_cpu_enabled")
def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is on for the CPU."""
    return autocast_state().cpu


@stands_for("aten::get_autocast_dtype")
def get_autocast_dtype(device_type: str) -> DType:
    """The lower dtype of a kind of device.

    Raises:
        RuntimeError: there is no such kind of device.
    """
    return dtype_by_number(autocast_state().dtype(Device(device_type).type))


def get_autocast_cpu_dtype() -> DType:
    """The lower dtype of the CPU."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> DType:
    """The lower dtype of CUDA."""
    return get_autocast_dtype("cuda")


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch autocast for a kind of device; with one argument, for CUDA."""
    if enabled is None:
        device_type, enabled = "cuda", bool(device_type)
    set_autocast_state(autocast_state().switched(Device(str(device_type)).type, enabled))


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Switch autocast for the CPU."""
    set_autocast_enabled("cpu", enabled)


def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Set the lower dtype of a kind of device."""
    state, device = autocast_state(), Device(device_type).type
    set_autocast_state(state.switched(device, state.enabled(device), dtype.number))


def set_autocast_cpu_dtype(dtype: DType) -> None:
    """Set the lower dtype of the CPU."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: DType) -> None:
    """Set the lower dtype of CUDA."""
    set_autocast_dtype("cuda", dtype)


def is_autocast_cache_enabled() -> bool:
    """Whether torch would keep cast weights; casts are made anew here, with the same results."""
    return autocast_state().cache


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Say whether torch would keep cast weights."""
    set_autocast_state(autocast_state().caching(enabled))


def clear_autocast_cache() -> None:
    """Nothing is kept."""


def as_it_is() -> Callable[[], None]:
    """What puts all of this back as it is now."""
    state, nesting = autocast_state(), _NESTING.get()

    def put_back() -> None:
        set_autocast_state(state)
        _NESTING.set(nesting)

    return put_back


def autocast_increment_nesting() -> int:
    """Count one context more; gives how many there are."""
    _NESTING.set(_NESTING.get() + 1)
    return _NESTING.get()


def autocast_decrement_nesting() -> int:
    """Count one context less; gives how many are left."""
    _NESTING.set(_NESTING.get() - 1)
    return _NESTING.get()
