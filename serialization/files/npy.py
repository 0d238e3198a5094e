"""Arrays of NumPy's files, and what it raises about damaged, foreign or oversized ones."""

from __future__ import annotations

import struct
import zipfile
import zlib
from tokenize import TokenError
from typing import BinaryIO, Final

import numpy as np

from ...ops.memory.dtype import Array
from .limits import DEFAULT_LIMITS, Limits

__all__ = ["UNREADABLE", "loaded_arrays"]

UNREADABLE: Final = (
    *(OSError, ValueError, EOFError, MemoryError, RuntimeError, TypeError, OverflowError),
    *(TokenError, zipfile.BadZipFile, zlib.error, struct.error),
)


def loaded_arrays(file: BinaryIO, limits: Limits = DEFAULT_LIMITS) -> Array | dict[str, Array]:
    """The array of an `.npy` file, or those of an `.npz` file by name.

    Raises:
        one of `UNREADABLE`: it is no such file, something else lies in it, or it is inflated to
            more than the limits allow.
    """
    loaded = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    inflated = sum(entry.file_size for entry in loaded.zip.infolist())
    allowed = max(limits.inflated, limits.ratio * file.seek(0, 2))
    if inflated > allowed:
        raise ValueError(f"{inflated} bytes once inflated (the limit is {allowed})")
    found: dict[str, Array] = {name: loaded[name] for name in loaded.files}
    for name, array in found.items():
        if not isinstance(array, np.ndarray):  # whatever is not named or written as one
            raise ValueError(f"`{name}` is no array")
    return found
