"""Automatic mixed precision: what is cast, and whether it is on.

While autocast is on, some operators take their tensors in a lower precision, some in float32, some
in the widest dtype of them all.  Float64 tensors, integers and tensors of other devices stay.

Which operators do what is said where they are declared (`autocast=`, `autocast_in_graphs=`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from ...frontend.foundations.chosen import Chosen
from ..memory.at_first import AtFirst
from ..memory.dtype import Array, dtype_by_number
from ..memory.errors import OperatorError
from .record import Policy
from .table import TABLE, operator

__all__ = [
    "AT_FIRST_AUTOCAST",
    "OFF",
    "Autocast",
    "autocast_state",
    "eager_policy",
    "graph_policy",
    "script_autocasts",
    "set_autocast_state",
]


@dataclass(frozen=True, slots=True)
class Autocast:
    """Whether autocast is on for a kind of device, and in which dtypes (their numbers)."""

    cpu: bool = False
    cuda: bool = False
    cpu_dtype: int = 15
    cuda_dtype: int = 5
    cache: bool = True

    def __bool__(self) -> bool:
        return self.cpu or self.cuda

    def enabled(self, device: str) -> bool:
        """Whether it is on for a kind of device."""
        return {"cpu": self.cpu, "cuda": self.cuda}.get(device, False)

    def dtype(self, device: str) -> int:
        """The number of the lower dtype of a kind of device."""
        return self.cpu_dtype if device == "cpu" else self.cuda_dtype

    def caching(self, enabled: bool) -> Autocast:
        """The same, with or without cast weights kept."""
        return replace(self, cache=enabled)

    def switched(self, device: str, enabled: bool, dtype: int | None = None) -> Autocast:
        """The same, switched on or off for a kind of device."""
        if device not in ("cpu", "cuda"):
            return self
        changes: dict[str, Any] = {device: enabled}
        if dtype is not None:
            changes[f"{device}_dtype"] = dtype
        return replace(self, **changes)


OFF: Final = Autocast()
"""The state of who has never switched it on."""

_STATE: ContextVar[Autocast] = ContextVar("autocast", default=OFF)

autocast_state: Final[Callable[[], Autocast]] = _STATE.get


AT_FIRST_AUTOCAST: Final = AtFirst()
"""What is done before autocast is first on for the CPU."""


def set_autocast_state(state: Autocast) -> None:
    """Have another state from here on."""
    if state.cpu:
        AT_FIRST_AUTOCAST.arrive()
    _STATE.set(state)


_script: Final = Chosen(True)


def script_autocasts(switched: bool | None = None) -> bool:
    """Whether scripted `with torch.autocast` casts; switches it if told, and gives what was."""
    return _script.now if switched is None else _script.exchange(switched)


def eager_policy(name: str) -> Policy:
    """What eager calls of an operator, `aten::mm`, do on a CPU."""
    return TABLE.said(name, lambda entry: entry.autocast) or ""


def graph_policy(name: str) -> Policy:
    """What graphs that enter autocast do with an operator."""
    return TABLE.said(name, lambda entry: entry.autocast_in_graphs) or ""


# --------------------------------------------------------------------------- operators


@operator("aten::is_autocast_enabled() -> bool", effects=True)
def is_autocast_enabled() -> bool:
    return _STATE.get().cuda


@operator("aten::is_autocast_cpu_enabled() -> bool", effects=True)
def is_autocast_cpu_enabled() -> bool:
    return _STATE.get().cpu


@operator("aten::get_autocast_dtype(str device_type) -> ScalarType", effects=True)
def get_autocast_dtype(device_type: str) -> int:
    if device_type not in ("cpu", "cuda"):
        raise OperatorError(f"unsupported scalarType for device {device_type}")
    return _STATE.get().dtype(device_type)


@operator(
    "aten::_autocast_to_reduced_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled, "
    "ScalarType cuda_dtype, ScalarType cpu_dtype) -> Tensor(a)",
    face="method",
)
def to_reduced_precision(
    array: Array, cuda_enabled: bool, cpu_enabled: bool, cuda_dtype: int, cpu_dtype: int
) -> Array:
    if cpu_enabled and array.dtype == np.float32:
        return array.astype(dtype_by_number(cpu_dtype).numpy)
    return array


_LOWER: Final = ("float16", "bfloat16")


@operator(
    "aten::_autocast_to_full_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled) "
    "-> Tensor(a)",
    face="method",
)
def to_full_precision(array: Array, cuda_enabled: bool, cpu_enabled: bool) -> Array:
    return array.astype(np.float32) if cpu_enabled and array.dtype.name in _LOWER else array
