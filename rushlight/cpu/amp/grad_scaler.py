"""`torch.cpu.amp.GradScaler`: `torch.amp.GradScaler` for one kind of device."""

from __future__ import annotations

from functools import partialmethod

from ...amp import grad_scaler

__all__ = ["GradScaler"]


class GradScaler(grad_scaler.GradScaler):
    """`torch.amp.GradScaler("cpu", ...)`."""

    __init__ = partialmethod(grad_scaler.GradScaler.__init__, "cpu")
