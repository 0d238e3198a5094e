"""Kernels that are C functions: what numba's `cfunc` makes, or functions of ctypes.

They implement operators over numbers alone.  Python calls them through ctypes; native code calls
them itself, by the address that lies in the operator's cell.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

from ...typecheck.schema import Signature
from ...typecheck.types import BOOL, FLOAT, INT, Type

__all__ = ["CKernel", "is_c_function"]

_FUNCTION: Final = ctypes.CFUNCTYPE(None).__mro__[1]
"""The base class of all functions of ctypes."""
_FORMS: Final[dict[Type, tuple[Any, ...]]] = {
    INT: (ctypes.c_int64, ctypes.c_longlong),
    FLOAT: (ctypes.c_double,),
    BOOL: (ctypes.c_bool, ctypes.c_uint8, ctypes.c_int8),
}
_NAMES: Final[dict[Type, str]] = {INT: "int64", FLOAT: "float64", BOOL: "boolean"}


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

    `source` is what was registered.

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
        self.address: int = ctypes.cast(self._function, ctypes.c_void_p).value or 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call it as Python does."""
        rest = self._arguments[len(args) :]
        return self._function(*args, *(named.get(each.name, each.default) for each in rest))


def _fits(type: Type, form: object) -> bool:
    return form in _FORMS.get(type, ())


def _wanted(signature: Signature) -> str:
    """The C function's signature as numba writes it."""
    types = [argument.type for argument in signature.arguments]
    returns: Sequence[Type] = [each.type for each in signature.returns]
    if len(returns) != 1 or not all(each in _NAMES for each in (*types, *returns)):
        return "one of numbers, which the schema does not have"
    return f"{_NAMES[returns[0]]}({', '.join(_NAMES[each] for each in types)})"
