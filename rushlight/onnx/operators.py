"""`torch.onnx.operators`: sizes as tensors, so that traces keep how they are computed."""

from __future__ import annotations

from importlib import import_module

from ..module_names import names_of
from ..ops.tensors.tensor import Tensor

__all__ = ["shape_as_tensor"]

_torch = import_module(__name__.partition(".")[0])


def shape_as_tensor(x: Tensor) -> Tensor:
    """The sizes of a tensor, int64 [dimensions]."""
    sizes: Tensor = _torch._shape_as_tensor(x)
    return sizes


__getattr__ = names_of(__name__)
