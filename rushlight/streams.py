"""`torch.Stream`, `torch.Event`: on the CPU operators run in the order of the program."""

from __future__ import annotations

from typing import Final, NoReturn

from .ops.memory.dtype import Device
from .ops.memory.errors import OperatorError

__all__ = ["Event", "Stream"]

_HERE: Final = {"cpu": 0, "meta": 14}
"""Kinds of devices that have a stream, and the number of each."""


def _device(said: Device | str | int | None) -> Device:
    if isinstance(said, int):
        raise OperatorError("Cannot access accelerator device when none is available.")
    found = Device("cpu" if said is None else said)
    if found.type not in _HERE:
        raise OperatorError(f"PyTorch is not linked with support for {found.type} devices")
    return Device(found.type)


def _refuse() -> NoReturn:
    raise OperatorError("cpu backend doesn't support events.")


class Stream:
    """The one queue of a device; whatever was put into it has ended.

    Raises:
        OperatorError: the device is not there.
    """

    def __init__(self, device: Device | str | int | None = None, *, priority: int = 0) -> None:
        del priority
        self.device = _device(device)

    @property
    def device_index(self) -> int:
        """No device is numbered."""
        return -1

    @property
    def device_type(self) -> int:
        """The number of the kind of device."""
        return _HERE[self.device.type]

    @property
    def stream_id(self) -> int:
        """The first and only."""
        return 0

    def query(self) -> bool:
        """Whether all has ended, as it has."""
        return True

    def is_capturing(self) -> bool:
        """No graph of a device is made."""
        return False

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait_event(self, event: object) -> None:
        """Nothing to wait for."""

    def wait_stream(self, stream: object) -> None:
        """Refused as torch refuses it, since it would record an event."""
        _refuse()

    def record_event(self, event: object = None) -> Event:
        """Refused: the CPU has no events to record."""
        _refuse()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self) -> int:
        return hash((Stream, self.device.type))

    def __repr__(self) -> str:
        return f"torch.Stream device_type={self.device}, device_index=-1, stream_id=0"


class Event:
    """A mark in a stream.  The CPU's streams take none, so it only can be asked and waited for.

    Raises:
        OperatorError: the device is not there.
    """

    event_id: Final = 0

    def __init__(
        self,
        device: Device | str | int | None = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        del blocking, interprocess
        self.device = _device(device)
        self._is_timed = enable_timing

    def record(self, stream: Stream | None = None) -> None:
        """Refused: the CPU has no events to record."""
        _refuse()

    def query(self) -> bool:
        """Whether what came before has ended, as it has."""
        return True

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing to wait for."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def elapsed_time(self, end_event: Event) -> float:
        """Refused: neither event was recorded.

        Raises:
            ValueError: always.
        """
        if not (self._is_timed and end_event._is_timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        raise ValueError("Both events must be recorded before calculating elapsed time.")

    def __repr__(self) -> str:
        return (
            f"torch.Event device_type={self.device}, device_index=-1, "
            f"event_flag={int(self._is_timed)}, event_id=0"
        )
