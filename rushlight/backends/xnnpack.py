"""`torch.backends.xnnpack`: a library of kernels; our own serve in its place."""

from __future__ import annotations

__all__ = ["enabled"]

enabled = False
"""Whether the library is there: no."""
