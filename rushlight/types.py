"""`torch.types`: names for annotations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

from .ops.memory.dtype import Device as device
from .ops.memory.dtype import DType as dtype
from .ops.memory.dtype import Layout as layout
from .ops.tensors.sizes import Size
from .ops.tensors.tensor import Tensor

__all__ = ["Device", "FileLike", "Number", "Storage"]

_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrTensorsOrGradEdge: TypeAlias = Tensor | Sequence[Tensor]
_bool, _complex, _float, _int = bool, complex, float, int
_dtype, _layout, _device = dtype, layout, device
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_dispatchkey: TypeAlias = str
_symsize: TypeAlias = _size
_worker_init_fn_t: TypeAlias = Any

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
PathLike: TypeAlias = str | Path
Storage: TypeAlias = Any
PySymType: tuple[type, ...] = (int, float, bool)
BoolLikeType: TypeAlias = bool
FloatLikeType: TypeAlias = float
IntLikeType: TypeAlias = int
py_sym_types: tuple[type, ...] = ()
