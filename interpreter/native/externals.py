"""What native code calls outside: CPython's interface, the C library, and their addresses.

Our loader binds no names, so code finds addresses in a table, each word of which is named here.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from .kinds import ADDRESS, FLOAT, INT, NONE, Kind

__all__ = ["EXTERNALS", "INT32", "table_of", "words_of"]

INT32: Final = Kind("int32")
"""What some C functions give; it is widened at once."""

_Signature = tuple[Kind, tuple[Kind, ...]]

EXTERNALS: Final[dict[str, _Signature]] = {
    "malloc": (ADDRESS, (INT,)),
    "free": (NONE, (ADDRESS,)),
    "memmove": (ADDRESS, (ADDRESS, ADDRESS, INT)),
    "memcmp": (INT32, (ADDRESS, ADDRESS, INT)),
    "PyLong_AsLongLong": (INT, (ADDRESS,)),
    "PyLong_FromLongLong": (ADDRESS, (INT,)),
    "PyFloat_AsDouble": (FLOAT, (ADDRESS,)),
    "PyFloat_FromDouble": (ADDRESS, (FLOAT,)),
    "PyBool_FromLong": (ADDRESS, (INT,)),
    "PyObject_IsTrue": (INT32, (ADDRESS,)),
    "PyErr_Occurred": (ADDRESS, ()),
    "PyErr_Clear": (NONE, ()),
    "PyErr_NoMemory": (ADDRESS, ()),
    "PyUnicode_GetLength": (INT, (ADDRESS,)),
    "PyUnicode_AsUTF8AndSize": (ADDRESS, (ADDRESS, ADDRESS)),
    "PyUnicode_FromStringAndSize": (ADDRESS, (ADDRESS, INT)),
    "PyList_New": (ADDRESS, (INT,)),
    "PyList_Size": (INT, (ADDRESS,)),
    "PyList_GetItem": (ADDRESS, (ADDRESS, INT)),
    "PyList_SetItem": (INT32, (ADDRESS, INT, ADDRESS)),
    "PyList_SetSlice": (INT32, (ADDRESS, INT, INT, ADDRESS)),
    "PyTuple_New": (ADDRESS, (INT,)),
    "PyTuple_Size": (INT, (ADDRESS,)),
    "PyTuple_GetItem": (ADDRESS, (ADDRESS, INT)),
    "PyTuple_SetItem": (INT32, (ADDRESS, INT, ADDRESS)),
    "PyDict_New": (ADDRESS, ()),
    "PyDict_Size": (INT, (ADDRESS,)),
    "PyDict_Next": (INT32, (ADDRESS, ADDRESS, ADDRESS, ADDRESS)),
    "PyDict_SetItem": (INT32, (ADDRESS, ADDRESS, ADDRESS)),
    "PyDict_Clear": (NONE, (ADDRESS,)),
    "Py_IncRef": (NONE, (ADDRESS,)),
    "Py_DecRef": (NONE, (ADDRESS,)),
    "PyEval_SaveThread": (ADDRESS, ()),
    "PyEval_RestoreThread": (NONE, (ADDRESS,)),
}
"""Functions: what they give and take."""

_CLASSES: Final = (int, float, bool, str, list, dict, tuple)
_OBJECTS: Final = (*(each.__name__ for each in _CLASSES), "none", "failed", "stopped")
"""Python's objects, which are the last words of the table."""


def words_of(text: str) -> list[str]:
    """What the table of a text has: all externals, the functions of the C library's mathematics
    that it calls, as `m_<name>`, and Python's objects."""
    return [*EXTERNALS, *sorted(set(re.findall(r"\bm_\w+(?=\()", text))), *_OBJECTS]


@cache
def _address(name: str) -> int:
    library: Any = ctypes.pythonapi if name.startswith("Py") else ctypes.CDLL(None)
    function = getattr(library, name.removeprefix("m_"))
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def table_of(words: Sequence[str], failed: object, stopped: object) -> bytes:
    """The table; the two objects, which the caller keeps, are what calls give that cannot be
    finished.

    Raises:
        AttributeError: this system's C library lacks a function.
    """
    functions = map(_address, words[: -len(_OBJECTS)])
    objects = map(id, (*_CLASSES, None, failed, stopped))
    return struct.pack(f"{len(words)}Q", *functions, *objects)
