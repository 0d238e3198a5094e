"""Functions of Python's whose body is native code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Final

__all__ = ["BYTES_BEGIN", "member", "method"]

BYTES_BEGIN: Final = bytes.__basicsize__ - 1
"""Where, in an object of bytes, they lie."""

_FASTCALL: Final = 0x80
_NAMED: Final = 0x02


class _Method(ctypes.Structure):
    """CPython's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


_MADE: Final[dict[tuple[str, int], _Method]] = {}
"""What functions look at as long as they live."""


def method(name: str, address: int, table: bytes, *, named: bool = False) -> Callable[..., object]:
    """The function of Python's that native code at an address is the body of.

    That is called with the object `table`, the address of the arguments and their number, and gives
    a new reference; where arguments may be `named`, also with the tuple of their names, which are
    those of the last ones.
    """
    flags = _FASTCALL | _NAMED if named else _FASTCALL
    made = _MADE.setdefault((name, address), _Method(name.encode(), address, flags, None))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    function: Callable[..., object] = make(ctypes.addressof(made), table, None)
    return function


def member(name: str, address: int, kind: type) -> Callable[..., object]:
    """The same as a member of a class: native code gets the instance in the place of the table."""
    flags = _FASTCALL | _NAMED
    made = _MADE.setdefault((name, address), _Method(name.encode(), address, flags, None))
    make = ctypes.pythonapi.PyDescr_NewMethod
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.py_object, ctypes.c_void_p]
    function: Callable[..., object] = make(kind, ctypes.addressof(made))
    return function
