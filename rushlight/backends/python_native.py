"""`torch.backends.python_native`: kernels in languages for GPUs, of which none runs here."""

from __future__ import annotations

__all__ = ["all_dsls", "available_dsls"]

all_dsls = ["cutedsl", "triton"]
"""The languages that torch knows."""

available_dsls: list[str] = []
"""Those of them that can be used."""
