"""Files as memory."""

from __future__ import annotations

import mmap
import os

import numpy as np

from .dtype import Array

__all__ = ["mapped_file"]


def mapped_file(filename: str, shared: bool, size: int) -> Array:
    """The first bytes of a file, as it is read when they are looked at.

    What is written to them is written to the file if it is `shared`, which is made, or longer,
    where it is not that long; else to the memory alone.

    Raises:
        RuntimeError: the file cannot be opened, or is shorter.
    """
    if not size:
        return np.empty(0, np.uint8)
    if size < 0:
        raise RuntimeError(
            f"unable to mmap {size} bytes from file <{filename}>: Cannot allocate memory (12)"
        )
    mode = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        descriptor = os.open(filename, mode, 0o600)
    except OSError as fault:
        how = "read-write" if shared else "read-only"
        raise RuntimeError(
            f"unable to open file <{filename}> in {how} mode: {fault.strerror} ({fault.errno})"
        ) from None
    try:
        return _mapped(descriptor, filename, shared, size)
    finally:
        os.close(descriptor)


def _mapped(descriptor: int, filename: str, shared: bool, size: int) -> Array:
    found = os.fstat(descriptor).st_size
    if found < size:
        if not shared:
            raise RuntimeError(
                f"file <{filename}> size <{found}> is smaller than the required mapping size "
                f"<{size}>"
            )
        os.ftruncate(descriptor, size)
    access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
    try:
        memory = mmap.mmap(descriptor, size, access=access)
    except (OSError, ValueError) as fault:
        raise RuntimeError(f"unable to mmap {size} bytes from file <{filename}>: {fault}") from None
    return np.frombuffer(memory, np.uint8)
