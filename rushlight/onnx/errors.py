"""`torch.onnx.errors`: what an export may raise."""

from __future__ import annotations

__all__ = ["OnnxExporterError", "SymbolicValueError", "UnsupportedOperatorError"]


class OnnxExporterError(RuntimeError):
    """An export failed."""


class UnsupportedOperatorError(OnnxExporterError):
    """ONNX has no such operator."""


class SymbolicValueError(OnnxExporterError):
    """A value was not what an operator's export needs."""
