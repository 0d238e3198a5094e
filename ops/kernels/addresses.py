"""Where an array's elements begin in memory."""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any, Final

import numpy as np

__all__ = ["address"]

_AFTER_HEAD: Final = object.__basicsize__
"""Where NumPy keeps it in the object: first of all, by its C interface (`PyArrayObject`)."""


def _read(array: Any) -> int:
    """From the object: ten times as fast as by asking for it."""
    return c_void_p.from_address(id(array) + _AFTER_HEAD).value or 0


def _asked(array: Any) -> int:
    found: int = array.ctypes.data
    return found


def _is_there() -> bool:
    known = (np.ones(3), np.ones((4, 4), np.float32)[1:, 2:], np.array(True), np.empty((0, 2)))
    return all(_read(array) == _asked(array) for array in known)


address: Final = _read if _is_there() else _asked
"""The address of the first element; the array must be kept as long as it is used."""
