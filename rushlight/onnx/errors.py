"""`torch.onnx.errors`: what an export, or reading a file, may raise."""

from __future__ import annotations

from ..frontend.diagnostics.diagnostics import Diagnostic
from ..module_names import names_of

__all__ = [
    *("OnnxExporterError", "OnnxLoadError", "SymbolicValueError", "UnsupportedOperatorError"),
]


class OnnxExporterError(RuntimeError):
    """An export failed."""


class OnnxLoadError(RuntimeError):
    """A file is no ONNX model, or holds what has no meaning here."""


class UnsupportedOperatorError(OnnxExporterError):
    """Something has no ONNX form; `diagnostics` tells what and where, each cause once."""

    diagnostics: tuple[Diagnostic, ...] = ()


class SymbolicValueError(OnnxExporterError):
    """A value was not what an operator's export needs."""


__getattr__ = names_of(__name__)
