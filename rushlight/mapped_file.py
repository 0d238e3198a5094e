"""`torch.from_file`: the elements of a file as a tensor."""

from __future__ import annotations

import os
from mmap import ACCESS_COPY, ACCESS_WRITE, mmap
from typing import Any

import numpy as np

from .ops.memory.dtype import DType, get_default_dtype
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
    if not wanted:
        return Tensor._of(np.empty(0, kind.numpy))
    mapped = _mapped(filename, wanted, shared=bool(shared))
    return Tensor._of(np.frombuffer(mapped, np.uint8).view(kind.numpy))


def _mapped(filename: str, wanted: int, *, shared: bool) -> mmap:
    mode, flags = ("read-write", os.O_RDWR | os.O_CREAT) if shared else ("read-only", os.O_RDONLY)
    try:
        file = os.open(filename, flags, 0o600)
    except OSError as error:
        raise RuntimeError(
            f"unable to open file <{filename}> in {mode} mode: {error.strerror} ({error.errno})"
        ) from None
    try:
        size = os.fstat(file).st_size
        if size < wanted and not shared:
            raise RuntimeError(
                f"file <{filename}> size <{size}> is smaller than the required mapping size "
                f"<{wanted}>"
            )
        if size < wanted:
            os.ftruncate(file, wanted)
        access: Any = ACCESS_WRITE if shared else ACCESS_COPY
        return mmap(file, wanted, access=access)
    finally:
        os.close(file)
