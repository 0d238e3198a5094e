"""`torch.cpu.amp.GradScaler`: `torch.amp.GradScaler` for one kind of device."""

from __future__ import annotations

from ...amp.device_scaler import DeviceGradScaler

__all__ = ["GradScaler"]


class GradScaler(DeviceGradScaler):
    """The older name of `torch.amp.GradScaler("cpu", ...)`."""

    _its_device = "cpu"
