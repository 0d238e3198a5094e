"""`torch.onnx`: programs as ONNX files, with their branches and loops.

`items` says what values are while a graph is exported, `walk` goes through it, `control_flow`,
`lists` and `steps` are the nodes with a meaning of their own, `forms` the table of all others,
`writer` what they write with, `program` the file.  `proto` alone asks for the package `onnx`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Final

from ..module_names import names_of
from ..version import __version__
from . import errors as errors
from .errors import OnnxExporterError as OnnxExporterError
from .export import ONNXProgram as ONNXProgram
from .export import export as export
from .loading import load as load
from .modes import OperatorExportTypes as OperatorExportTypes
from .modes import TrainingMode as TrainingMode
from .modes import is_in_onnx_export as is_in_onnx_export

__all__ = [
    *("ExportableModule", "InputObserver", "ONNXProgram", "OnnxExporterError", "errors"),
    *("OperatorExportTypes", "TensorProtoDataType", "TrainingMode", "export", "is_in_onnx_export"),
    *("is_onnxrt_backend_supported", "load", "producer_name", "producer_version"),
    *("register_custom_op_symbolic", "unregister_custom_op_symbolic"),
]


producer_name: Final = "pytorch"
producer_version: Final = __version__.partition("+")[0]
"""What torch of the version that rushlight follows writes into its files."""


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


_REGISTERED: Final[dict[tuple[str, int], Callable[..., object]]] = {}


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., object], opset_version: int
) -> None:
    """Note how an operator, `namespace::name`, is exported by torch; exports here ask the table of
    operators alone.

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


def is_onnxrt_backend_supported() -> bool:
    """Whether models can be compiled for the ONNX runtime: no."""
    return False


__getattr__ = names_of(__name__)
