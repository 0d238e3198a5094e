"""The dtypes of DLPack's capsules that NumPy does not know, told and read in their memory."""

from __future__ import annotations

import ctypes
from typing import Final

from ..memory.dtype import Array, Dtype, dtype_by_name

__all__ = ["opened", "retold", "words_of"]

_CODES: Final = {
    **{"bfloat16": 4, "complex32": 5, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11},
    **{"float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14},
}
"""The protocol's numbers of kinds, for dtypes that NumPy cannot export."""

_PYTHON: Final = ctypes.pythonapi
_name_of: Final = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", _PYTHON)
)
_address_of: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _PYTHON)
)
_UNSIGNED: Final = 1
"""The protocol's number of whole numbers without sign."""

_DTYPE_AT: Final = {b"dltensor": 20, b"dltensor_versioned": 52}
"""Where a capsule's memory says its dtype, by the capsule's name: after the address of the data,
the device and the number of dimensions; of newer ones, 32 bytes about the version come first."""


def _dtype_place(capsule: object) -> ctypes.Array[ctypes.c_uint8] | None:
    """Kind and bits of a capsule that nobody has opened, to be read and written."""
    name = _name_of(capsule)
    if name not in _DTYPE_AT:
        return None
    return (ctypes.c_uint8 * 2).from_address(_address_of(capsule, name) + _DTYPE_AT[name])


def words_of(array: Array, name: str) -> Array | None:
    """The array as whole numbers of its size, where DLPack has the dtype; else None."""
    return array.view(f"u{array.itemsize}") if name in _CODES else None


def retold(capsule: object, name: str) -> object:
    """The capsule of such whole numbers, which says that dtype from now on."""
    place = _dtype_place(capsule)
    assert place is not None
    place[0] = _CODES[name]
    return capsule


def opened(capsule: object) -> Dtype | None:
    """The dtype of a capsule that NumPy does not know, made one of whole numbers by this; else
    None."""
    place = _dtype_place(capsule)
    for name, code in _CODES.items():
        dtype = dtype_by_name(name)
        if place is not None and tuple(place) == (code, 8 * dtype.itemsize):
            place[0] = _UNSIGNED
            return dtype.numpy
    return None
