"""`torch.cuda.streams`: see `torch.cuda`."""

from __future__ import annotations

from ..absent_devices import names_without

_NAMES = names_without("CUDA")
Event, ExternalStream, Stream = (_NAMES[name] for name in ("Event", "ExternalStream", "Stream"))

__all__ = ["Event", "ExternalStream", "Stream"]
