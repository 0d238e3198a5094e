"""NumPy's data-memory handlers, by its C interface: what arrays made in a context are made with."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib import import_module
from typing import Final

import numpy as np

__all__ = ["Allocator", "Handler", "capsule_of", "default_handler", "set_handler"]


class Allocator(ctypes.Structure):
    """Functions that allocate, those of Python and of NumPy alike, and what they are given."""

    _fields_ = tuple(
        (name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")
    )


class Handler(ctypes.Structure):
    """NumPy's `PyDataMem_Handler`, version 1."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("allocator", Allocator),
    )


_SET_HANDLER, _DEFAULT_HANDLER = 304, 306
"""Places in NumPy's table of C functions."""

_CAPSULE: Final = b"mem_handler"


def _numpy_table() -> ctypes._Pointer[ctypes.c_void_p]:
    table = import_module("numpy._core._multiarray_umath")._ARRAY_API
    address = _pointer(table, None)
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))


def _pointer(capsule: object, name: bytes | None) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found: int = get(capsule, name)
    return found


def set_handler() -> Callable[[object], object]:
    """The function that takes the handler of a context, and gives the one before."""
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(_numpy_table()[_SET_HANDLER])


def default_handler() -> tuple[object, Handler]:
    """NumPy's own handler, as it takes it and as what it is."""
    place = ctypes.cast(_numpy_table()[_DEFAULT_HANDLER], ctypes.POINTER(ctypes.py_object))
    found = Handler.from_address(_pointer(place[0], _CAPSULE))
    assert found.version == 1, np.__version__
    return place[0], found


def capsule_of(name: str, allocator: object) -> object:
    """A handler as NumPy takes it; it stays for ever, as arrays may outlive everything."""
    handler = Handler(name.encode(), 1)
    handler.allocator = allocator
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(handler))
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    made: object = make(ctypes.addressof(handler), _CAPSULE, None)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made
