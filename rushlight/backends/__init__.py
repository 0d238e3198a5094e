"""`torch.backends`: how operators compute.  Only what programs and archives name is here."""

from __future__ import annotations

from . import mha

__all__ = ["mha", "private_backend"]

private_backend = "privateuseone"
"""The name of the device that a backend of its own would have."""
