"""`torch.onnx`: there is no export here; packages that register how to export are heard.

Whoever asks for an export is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final, NoReturn

from ..module_names import names_of
from . import errors as errors
from .errors import OnnxExporterError as OnnxExporterError

__all__ = [
    *("ExportableModule", "InputObserver", "ONNXProgram", "OnnxExporterError", "errors"),
    *("OperatorExportTypes", "TensorProtoDataType", "TrainingMode", "export", "is_in_onnx_export"),
    *("is_onnxrt_backend_supported", "register_custom_op_symbolic"),
    "unregister_custom_op_symbolic",
]


class TensorProtoDataType(IntEnum):
    """The numbers of dtypes in ONNX files (onnx.proto, `TensorProto.DataType`)."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16


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


_REGISTERED: Final[dict[tuple[str, int], Callable[..., Any]]] = {}


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., object], opset_version: int
) -> None:
    """Note how an operator, `namespace::name`, is exported.

    Raises:
        ValueError: the name has another form.
    """
    _check_name(symbolic_name)
    _REGISTERED[symbolic_name, opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forget how an operator is exported."""
    _check_name(symbolic_name)
    _REGISTERED.pop((symbolic_name, opset_version), None)


def _check_name(name: str) -> None:
    namespace, found, rest = name.partition("::")
    if not (namespace and found and rest):
        raise ValueError(
            f"Failed to register operator {name}. The symbolic name must match the format "
            "domain::name, and should start with a letter and contain only alphanumerical "
            "characters"
        )


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: no."""
    return False


def is_onnxrt_backend_supported() -> bool:
    """Whether models can be compiled for the ONNX runtime: no."""
    return False


def export(*args: object, **kwargs: object) -> NoReturn:
    """Refused: rushlight writes no ONNX files.

    Raises:
        NotImplementedError: always.
    """
    del args, kwargs
    raise NotImplementedError(
        "torch.onnx.export: rushlight writes no ONNX files; save the scripted model, "
        "`rushlight.jit.save`, or its weights, `rushlight.save`"
    )


__getattr__ = names_of(__name__)
