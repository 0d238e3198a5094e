"""The older names of `torch.amp.GradScaler` that say their device."""

from __future__ import annotations

import warnings
from typing import ClassVar

from .grad_scaler import GradScaler

__all__ = ["DeviceGradScaler"]


class DeviceGradScaler(GradScaler):
    """`torch.amp.GradScaler` for the device that a subclass names."""

    _its_device: ClassVar[str]

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        device = self._its_device
        warnings.warn(
            f"`torch.{device}.amp.GradScaler(args...)` is deprecated. Please use "
            f"`torch.amp.GradScaler('{device}', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(
            device, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
