"""`torch.utils._device`: a block, or a function, that makes its tensors on a device."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from ..ops.memory.dtype import Device
from ._contextlib import context_decorator

__all__ = ["DeviceContext", "device_decorator", "set_device"]

P = ParamSpec("P")
R = TypeVar("R")


class DeviceContext:
    """A block in which tensors are made on a device where arguments do not say another.

    Raises:
        NotImplementedError: tensors cannot live there.
    """

    def __init__(self, device: Device | str) -> None:
        self.device = Device(device)

    def __enter__(self) -> Self:
        self.device.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.device.__exit__(kind, error, trace)


def device_decorator(device: Device | str, func: Callable[P, R]) -> Callable[P, R]:
    """The function, which makes its tensors on a device."""
    return context_decorator(lambda: DeviceContext(device), func)


def set_device(device: Device | str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator of functions, which make their tensors on a device."""
    return lambda func: device_decorator(device, func)
