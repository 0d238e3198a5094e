"""`torch.cuda.amp.GradScaler`: `torch.amp.GradScaler` for one kind of device."""

from __future__ import annotations

from ...amp.device_scaler import DeviceGradScaler

__all__ = ["GradScaler"]


class GradScaler(DeviceGradScaler):
    """The older name of `torch.amp.GradScaler("cuda", ...)`."""

    _its_device = "cuda"
