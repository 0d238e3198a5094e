"""Signals; the names are those of `torch.signal`."""

from . import windows as windows

__all__ = ["windows"]
