"""Addresses of functions of NumPy's."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from typing import Any, Final

__all__ = ["NUMPY_FUNCTIONS", "function_of_numpy"]

NUMPY_FUNCTIONS: Final = {
    "PyArray_DescrFromType": 45,
    "PyArray_NewFromDescr": 94,
    "PyArray_View": 137,
    "PyArray_SetBaseObject": 282,
}
"""Where its table of functions has had them since its first versions."""


@cache
def function_of_numpy(name: str) -> int:
    """The address of one of `NUMPY_FUNCTIONS`."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    module: Any = import_module("numpy._core._multiarray_umath")
    table = (ctypes.c_void_p * 283).from_address(pointer(module._ARRAY_API, None))
    return table[NUMPY_FUNCTIONS[name]] or 0
