"""`torch.utils.dlpack`: memory shared with other libraries."""

from __future__ import annotations

from typing import Any

from ..ops.tensors.interchange import from_dlpack
from ..ops.tensors.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule of the tensor's memory, for one use."""
    return tensor.__dlpack__(max_version=(1, 0))
