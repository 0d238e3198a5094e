"""`torch.cpu`: the one kind of device there is."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from . import amp

__all__ = [
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """Always."""
    return True


def is_initialized() -> bool:
    """Always."""
    return True


def device_count() -> int:
    """One."""
    return 1


def current_device() -> str:
    """Its name."""
    return "cpu"


def set_device(device: object) -> None:
    """Choose the device there is."""


def synchronize(device: object = None) -> None:
    """Nothing to wait for: every operator has ended when it returns."""
    del device


class Stream:
    """The order of operators, which is that of the program."""

    def __init__(self, priority: int = -1) -> None:
        del priority

    def wait_stream(self, stream: object) -> None:
        """Nothing to wait for."""


def current_stream(device: object = None) -> Stream:
    """The only stream."""
    del device
    return Stream()


def stream(stream: object) -> AbstractContextManager[None]:
    """A block in which operators go to a stream: all go to one."""
    del stream
    return nullcontext()


StreamContext = stream
