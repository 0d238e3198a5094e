"""Kernels that are C functions: what numba's `cfunc` makes, or functions of ctypes.

They implement operators over numbers alone.  Python calls them through ctypes; native code calls
them itself, by the address that lies in the operator's cell.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import BOOL, FLOAT, INT, Type

__all__ = ["CKernel", "is_c_function"]

_FUNCTION: Final = ctypes.CFUNCTYPE(None).__mro__[1]
"""The base class of all functions of ctypes."""


class _Number(NamedTuple):
    """A type of numbers: as numba, native code and ctypes have it."""

    numba: str
    native: str
    forms: tuple[object, ...]


_NUMBERS: Final[dict[Type, _Number]] = {
    INT: _Number("int64", "INT", (ctypes.c_int64, ctypes.c_longlong)),
    FLOAT: _Number("float64", "FLOAT", (ctypes.c_double,)),
    BOOL: _Number("boolean", "BOOL", (ctypes.c_bool, ctypes.c_uint8, ctypes.c_int8)),
}


def is_c_function(kernel: object) -> bool:
    """Whether a kernel is a C function."""
    return _pointer(kernel) is not None


def _pointer(kernel: Any) -> Any:
    """The function as ctypes has it; None if it is none."""
    if type(kernel).__module__.startswith("numba.") and hasattr(kernel, "native_name"):
        kernel = kernel.ctypes
    return kernel if isinstance(kernel, _FUNCTION) else None


class CKernel:
    """A C function as a kernel.

    `source` is what was registered, `native` the text by which native code calls it.

    Raises:
        TypeError: the function does not take and give what the schema says.
    """

    def __init__(self, signature: Signature, source: object) -> None:
        self.source = source
        self._function = _pointer(source)
        self._arguments = signature.arguments
        types = [argument.type for argument in signature.arguments]
        returns = [each.type for each in signature.returns]
        given, result = self._function.argtypes, self._function.restype
        fits = len(returns) == 1 and len(types) == len(given or ()) and result is not None
        if not fits or not all(map(_fits, (*types, *returns), (*given, result))):
            raise TypeError(f"{signature.full_name}: the C function has to be {_wanted(signature)}")
        kind = _NUMBERS[returns[0]].native
        words = ", ".join([kind, repr(signature.full_name), *(["{all}"] if types else [])])
        self.native = f"foreign({words})"
        self.address: int = ctypes.cast(self._function, ctypes.c_void_p).value or 0

    def __call__(self, *args: object, **named: object) -> Any:
        """Call it as Python does."""
        rest = self._arguments[len(args) :]
        return self._function(*args, *(named.get(each.name, each.default) for each in rest))


def _fits(type: Type, form: object) -> bool:
    return type in _NUMBERS and form in _NUMBERS[type].forms


def _wanted(signature: Signature) -> str:
    """The C function's signature as numba writes it."""
    types = [argument.type for argument in signature.arguments]
    returns: Sequence[Type] = [each.type for each in signature.returns]
    if len(returns) != 1 or not all(each in _NUMBERS for each in (*types, *returns)):
        return "one of numbers, which the schema does not have"
    return f"{_NUMBERS[returns[0]].numba}({', '.join(_NUMBERS[each].numba for each in types)})"
