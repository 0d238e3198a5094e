"""Errors of devices and of torch's inner parts, for programs that catch them."""

from __future__ import annotations

from .frontend.diagnostics.exceptions import ScriptError as JITException

__all__ = ["AcceleratorError", "FatalError", "JITException", "OutOfMemoryError"]


class AcceleratorError(RuntimeError):
    """A device has failed, which cannot be."""


class OutOfMemoryError(RuntimeError):
    """A device has no memory left, which cannot be."""


class FatalError(Exception):
    """Something inside torch has ended."""
