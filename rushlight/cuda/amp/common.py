"""`torch.cuda.amp.common`: whether mixed precision on the device cannot be: it cannot."""

from __future__ import annotations

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no device for it: so it is."""
    return True
