"""A class whose objects hold the address of native code that Python calls in their place.

Python calls an object of another class by looking up its `__call__`, with a new tuple of the
arguments; where an object says so by its class, it is called by that address at once.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Final

__all__ = [
    *("ADDRESS_AT", "CalledNatively", "NativeMember", "call_natively_if", "call_by_address"),
    *("bind_by", "call_unbound"),
]

ADDRESS_AT: Final = object.__basicsize__
"""Where in such an object the address lies; none is there at first."""

_FLAGS_AT, _BINDS_AT = 168, 272
"""Where a class has its flags in CPython, and what binds objects that are members of others."""
_HAS_ADDRESS, _BASE, _BINDS_NOT = 1 << 11, 1 << 10, 1 << 17
"""Flags of classes: objects hold an address, there may be classes of it, and objects that are
members of others need not be bound when they are called as those."""
_CALL, _BINDS, _MEMBERS = 50, 54, 72
_SIZE_TYPE, _READ_ONLY = 19, 1


class _Member(ctypes.Structure):
    """CPython's `PyMemberDef`."""

    _fields_ = (
        *(("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t)),
        *(("flags", ctypes.c_int), ("text", ctypes.c_char_p)),
    )


class _Part(ctypes.Structure):
    """CPython's `PyType_Slot`."""

    _fields_ = (("which", ctypes.c_int), ("what", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    """CPython's `PyType_Spec`."""

    _fields_ = (
        *(("name", ctypes.c_char_p), ("size", ctypes.c_int), ("item_size", ctypes.c_int)),
        *(("flags", ctypes.c_uint), ("parts", ctypes.POINTER(_Part))),
    )


_KEPT: Final[list[object]] = []
"""What the class looks at as long as it lives."""


def _made() -> type:
    members = (_Member * 2)()
    members[0] = _Member(b"__vectorcalloffset__", _SIZE_TYPE, ADDRESS_AT, _READ_ONLY, None)
    call = ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p).value
    parts = (_Part * 3)(_Part(_CALL, call), _Part(_MEMBERS, ctypes.addressof(members)))
    name = f"{__name__}.CalledNatively".encode()
    spec = _Spec(name, ADDRESS_AT + 8, 0, _BASE | _HAS_ADDRESS, parts)
    _KEPT.extend((members, parts, name, spec))
    make = ctypes.pythonapi.PyType_FromSpec
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_Spec)]
    found: type = make(ctypes.byref(spec))
    return found


def _is_known() -> bool:
    """Whether classes have their parts where they are looked for."""
    if sys.implementation.name != "cpython" or _flags(int).value != int.__flags__:
        return False
    part = ctypes.pythonapi.PyType_GetSlot
    part.restype, part.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    binds = ctypes.c_void_p.from_address(id(FunctionType) + _BINDS_AT).value
    return bool(binds == part(FunctionType, _BINDS))


def _flags(kind: type) -> ctypes.c_ulong:
    return ctypes.c_ulong.from_address(id(kind) + _FLAGS_AT)


CalledNatively: Final[type] = _made() if _is_known() else object
"""The class; where it cannot be made, one whose objects are called as others are."""


def call_by_address(called: object, address: int) -> None:
    """Have an object of such a class called by native code, while its class has that done."""
    if CalledNatively is not object:
        ctypes.c_void_p.from_address(id(called) + ADDRESS_AT).value = address


def call_natively_if(base: type, call: Callable[..., object] | None) -> None:
    """Have the objects of a class, and of those made of it, called by their addresses where their
    `__call__` is this one; others, and all if it is None, as Python finds them."""
    if CalledNatively is object:
        return
    for kind in _family(base):
        is_usual = call is not None and kind.__call__ is call
        flags = _flags(kind)
        flags.value = flags.value | _HAS_ADDRESS if is_usual else flags.value & ~_HAS_ADDRESS


def _family(base: type) -> Iterator[type]:
    yield base
    each: type
    for each in base.__subclasses__():
        yield from _family(each)


def call_unbound(kind: type) -> None:
    """Have objects of a class, not of those made of it, that are members of others called with
    these in front: nobody makes bound ones for a call.  Those that are asked for are made as of
    functions."""
    if CalledNatively is not object:
        _flags(kind).value |= _BINDS_NOT
        as_functions = ctypes.c_void_p.from_address(id(FunctionType) + _BINDS_AT).value
        ctypes.c_void_p.from_address(id(kind) + _BINDS_AT).value = as_functions


class NativeMember(CalledNatively):  # type: ignore[misc]
    # A member of a class that native code at an address does for its objects.  Whoever asks the
    # class for it gets the `plain` function, which does the same, and its name and text.

    __slots__ = ("plain",)
    __doc__ = property(lambda self: self.plain.__doc__)

    def __init__(self, plain: Callable[..., object], address: int) -> None:
        self.plain = plain
        call_by_address(self, address)

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self.plain(*args, **kwargs)

    def __getattr__(self, name: str) -> object:
        return self.plain if name == "__wrapped__" else getattr(self.plain, name)

    def __get__(self, instance: object, owner: type | None = None) -> object:
        return self.plain if instance is None else MethodType(self, instance)


if CalledNatively is not object:
    _flags(NativeMember).value |= _HAS_ADDRESS | _BINDS_NOT


def bind_by(address: int) -> None:
    """Have native code do what `NativeMember.__get__` does."""
    ctypes.c_void_p.from_address(id(NativeMember) + _BINDS_AT).value = address
