"""What an export may be asked for, and whether one goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum

__all__ = ["OperatorExportTypes", "TrainingMode", "exporting", "is_in_onnx_export"]


class TrainingMode(IntEnum):
    """In which mode a model is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(IntEnum):
    """What becomes of operators that ONNX has not."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


_ACTIVE: ContextVar[bool] = ContextVar("rushlight.onnx.export", default=False)


@contextmanager
def exporting() -> Iterator[None]:
    """A model is being exported inside."""
    token = _ACTIVE.set(True)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def is_in_onnx_export() -> bool:
    """Whether a model is being exported, in this thread."""
    return _ACTIVE.get()
