"""`torch.export`: programs traced below gradients, which rushlight does not make."""

from __future__ import annotations

from typing import Any

from ..refused_names import refusing

_NAMES = """AdditionalInputs Constraint CustomDecompTable Dim ExportBackwardSignature
ExportGraphSignature ExportedProgram FlatArgsAdapter ModuleCallEntry ModuleCallSignature
ShapesCollection UnflattenedModule default_decompositions dims draft_export export
export_for_training load register_dataclass save unflatten"""
__all__ = _NAMES.split()
_REFUSED: dict[str, Any] = refusing(
    __name__,
    _NAMES,
    "rushlight exports no such programs; torch.jit.script or torch.jit.trace with torch.jit.save, "
    "or torch.fx.symbolic_trace, do what is possible",
)
globals().update(_REFUSED)
