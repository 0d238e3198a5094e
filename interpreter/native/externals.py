"""What native code calls outside: CPython's interface, the C library, and their addresses.

Our loader binds no names, so code finds addresses in a table, each word of which is named here.
"""

from __future__ import annotations

import ctypes
import re
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy import ndarray

from ...ops.kernels.code.loading.c_functions import c_function
from ...ops.kernels.code.loading.numpy_functions import NUMPY_FUNCTIONS, function_of_numpy
from ...ops.memory.dtype import default_dtype
from ...ops.tensors.slots import slots_of_tensors
from ...ops.tensors.tensor import Parameter, Tensor
from ..values.objects import EnumMember, ScriptObject
from .kinds import ADDRESS, FLOAT, INT, NONE, Kind

__all__ = ["EXTERNALS", "INT32", "VARIADIC", "table_of", "words_of"]

INT32: Final = Kind("int32")
"""What some C functions give; it is widened at once."""

_Signature = tuple[Kind, tuple[Kind, ...]]

EXTERNALS: Final[dict[str, _Signature]] = {
    "malloc": (ADDRESS, (INT,)),
    "free": (NONE, (ADDRESS,)),
    "memmove": (ADDRESS, (ADDRESS, ADDRESS, INT)),
    "memcmp": (INT32, (ADDRESS, ADDRESS, INT)),
    "strtod": (FLOAT, (ADDRESS, ADDRESS)),
    "snprintf": (INT32, (ADDRESS, INT, ADDRESS, FLOAT)),
    "PyLong_AsLongLong": (INT, (ADDRESS,)),
    "PyLong_FromLongLong": (ADDRESS, (INT,)),
    "PyFloat_AsDouble": (FLOAT, (ADDRESS,)),
    "PyFloat_FromDouble": (ADDRESS, (FLOAT,)),
    "PyComplex_FromDoubles": (ADDRESS, (FLOAT, FLOAT)),
    "PyBool_FromLong": (ADDRESS, (INT,)),
    "PyObject_IsTrue": (INT32, (ADDRESS,)),
    "PyErr_Occurred": (ADDRESS, ()),
    "PyErr_Clear": (NONE, ()),
    "PyErr_ExceptionMatches": (INT32, (ADDRESS,)),
    "PyErr_NoMemory": (ADDRESS, ()),
    "PyUnicode_AsUTF8AndSize": (ADDRESS, (ADDRESS, ADDRESS)),
    "PyUnicode_DecodeUTF8": (ADDRESS, (ADDRESS, INT, ADDRESS)),
    "PyObject_GetAttr": (ADDRESS, (ADDRESS, ADDRESS)),
    "PyObject_CallObject": (ADDRESS, (ADDRESS, ADDRESS)),
    "PyDict_GetItem": (ADDRESS, (ADDRESS, ADDRESS)),
    "PyList_New": (ADDRESS, (INT,)),
    "PyList_Size": (INT, (ADDRESS,)),
    "PyList_GetItem": (ADDRESS, (ADDRESS, INT)),
    "PyList_SetItem": (INT32, (ADDRESS, INT, ADDRESS)),
    "PyList_SetSlice": (INT32, (ADDRESS, INT, INT, ADDRESS)),
    "PyTuple_New": (ADDRESS, (INT,)),
    "PyTuple_Size": (INT, (ADDRESS,)),
    "PyTuple_GetItem": (ADDRESS, (ADDRESS, INT)),
    "PyTuple_SetItem": (INT32, (ADDRESS, INT, ADDRESS)),
    "PyByteArray_FromStringAndSize": (ADDRESS, (ADDRESS, INT)),
    "PyByteArray_AsString": (ADDRESS, (ADDRESS,)),
    "PyDict_New": (ADDRESS, ()),
    "PyDict_Size": (INT, (ADDRESS,)),
    "PyDict_Next": (INT32, (ADDRESS, ADDRESS, ADDRESS, ADDRESS)),
    "PyDict_SetItem": (INT32, (ADDRESS, ADDRESS, ADDRESS)),
    "PyDict_Clear": (NONE, (ADDRESS,)),
    "PyArray_DescrFromType": (ADDRESS, (INT,)),
    "PyArray_NewFromDescr": (
        *(ADDRESS, (ADDRESS, ADDRESS, INT, ADDRESS, ADDRESS, ADDRESS, INT, ADDRESS)),
    ),
    "PyArray_SetBaseObject": (INT32, (ADDRESS, ADDRESS)),
    "PyType_GenericAlloc": (ADDRESS, (ADDRESS, INT)),
    "Py_IncRef": (NONE, (ADDRESS,)),
    "Py_DecRef": (NONE, (ADDRESS,)),
    "PyEval_SaveThread": (ADDRESS, ()),
    "PyEval_RestoreThread": (NONE, (ADDRESS,)),
}
"""Functions: what they give and take."""

VARIADIC: Final[Mapping[str, str]] = {"snprintf": "i32 (ptr, i64, ptr, ...)"}
"""LLVM's types of those that take any number of arguments."""

_CLASSES: Final = (int, float, complex, bool, str, list, dict, tuple, ndarray, Exception)
_OBJECTS: Final = (
    *(each.__name__ for each in _CLASSES),
    *("none", "failed", "stopped", "slots", "cls", "histories"),
    *("name", "enum", "write"),
    *("ScriptObject", "EnumMember"),
    *("real", "Tensor", "Parameter", "false", "places"),
)
"""Python's objects that every table has."""


def words_of(library: str, text: str, outer: Iterable[str]) -> list[str]:
    """What the table of a text has: all externals, the functions of the C library's mathematics
    that it or the library calls, as `m_<name>`, and Python's objects, those that it names itself
    last."""
    functions = sorted(_of_library(library) | _mathematics(text))
    return [*EXTERNALS, *functions, *_OBJECTS, *outer]


def _mathematics(text: str) -> set[str]:
    return set(re.findall(r"\bm_\w+(?=\()", text))


_of_library = cache(_mathematics)


@cache
def _address(name: str) -> int:
    if name in NUMPY_FUNCTIONS:
        return function_of_numpy(name)
    if not name.startswith("Py"):
        return c_function(name.removeprefix("m_"))
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _word(outer: object) -> int:
    """The address of an object, or of the memory of an array."""
    return int(outer.ctypes.data) if isinstance(outer, ndarray) else id(outer)


class _Table(bytes):
    """A table, which keeps the objects that it names."""

    kept: tuple[object, ...] = ()


def table_of(
    words: Sequence[str], failed: object, stopped: object, outer: Mapping[str, object]
) -> bytes:
    """The table; `failed` and `stopped` are what calls give that cannot be finished.

    Raises:
        AttributeError: this system's C library lacks a function.
    """
    own = (
        *("slots", "cls", "histories", "name", "enum", _write, ScriptObject, EnumMember),
        *(_REAL, Tensor, Parameter, False, _PLACES),
    )
    kept = (*_CLASSES, None, failed, stopped, *own, *outer.values())
    functions = map(_address, words[: -len(kept)])
    table = _Table(struct.pack(f"{len(words)}Q", *functions, *map(_word, kept)))
    table.kept = kept
    return table


def _write(text: str) -> None:
    """Write what a call has printed."""
    if sys.stdout is not None:  # as where a process was started without one
        sys.stdout.write(text)


_REAL: Final = np.array([default_dtype.number])
"""The number of the dtype that floats become."""


def _note_real() -> None:
    _REAL[0] = default_dtype.number


default_dtype.followers.append(_note_real)

_PLACES: Final = np.array(slots_of_tensors() or (-1, -1, -1))
"""How far behind the beginning of a tensor its array lies, what says whether it wants gradients,
and what it is a view of; -1 where that is not found."""
