"""`torch.from_file`: the elements of a file as a tensor."""

from __future__ import annotations

from .ops.memory.dtype import DType, get_default_dtype
from .ops.memory.mapped_file import mapped_file
from .ops.tensors.tensor import Tensor

__all__ = ["from_file"]


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: DType | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor over the bytes of a file.

    Args:
        filename: the file; a shared one is made, and grows, where it is too short.
        shared: whether what is written into the tensor is written into the file.
        size: the number of elements.
        dtype: of the elements.

    Returns:
        (size), in memory that the file is mapped to: others must not cut the file short.

    Raises:
        RuntimeError: the file cannot be opened, or has fewer bytes.
    """
    kind = get_default_dtype() if dtype is None else dtype
    wanted = kind.itemsize * (size or 0)
    return Tensor._of(mapped_file(filename, bool(shared), wanted).view(kind.numpy))
