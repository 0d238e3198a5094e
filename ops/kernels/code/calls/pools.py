"""Memory of small objects that come and go by the thousand, kept for the next ones of their size.

Python counts how many objects it has made more than it has dropped, and looks for garbage after
some hundreds: a walk back that has to wait for a long way there has it look again and again, in
vain.  Objects of pooled classes take memory that earlier ones left, which counts nothing, as
Python's own tuples do.  What is garbage leaves nothing, so Python finds it as soon as ever.

A class has two functions, one that makes objects and one that takes their memory back.  Both are
exchanged; they fall back on the former ones where there is nothing, or enough.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

from ..language.short_forms import spelled_out
from ..loading import elf
from ..loading.objects import is_possible, native_addresses
from .crew_text import MAKES_AT
from .run import HEAD

__all__ = ["pool"]

_MOST: Final = 1 << 20
"""Bytes that are kept of objects of one size."""
_SIZES: Final = 64
"""Sizes that are known, in words; of these, such with and without words in front of the object."""
_BASIC_SIZE, _FLAGS, _FREES = 32, 168, 320
"""Where these parts of a class lie in CPython."""
_IN_FRONT: Final = 3 << 3
"""Flags of classes whose objects have a dict or references in front of them."""
_HAS_PARTS_BEHIND: Final = 1 << 2
"""Flag of classes whose objects may have attributes behind them."""
_COLLECTED: Final = 1 << 14
_FUNCTIONS: Final = (
    *("PyType_GenericAlloc", "PyObject_GC_Del", "PyObject_GC_Track", "PyObject_Init"),
)

_TEXT: Final = """
@functions = internal global [4 x ptr] zeroinitializer
@first = internal global [{places} x ptr] zeroinitializer
@counts = internal global [{places} x i64] zeroinitializer

define void @begin(ptr %given, i64 %none, i64 %nothing) {
entry:
next:
  %i = phi i64 [0, %entry], [%i1, %next]
  %function = load ptr, ptr %given at ptr %i
  store ptr %function, ptr @functions at ptr %i
  %i1 = add i64 %i, 1
  br ult i64 %i1, 4, label %next
  ret void
}

define internal i64 @in_front(ptr %type) {
  %flags = load i64, ptr %type at i8 {flags}
  %some = and i64 %flags, {front}
  %has = icmp ne i64 %some, 0
  %bytes = select i1 %has, i64 16, i64 0
  ret i64 %bytes
}

define internal i64 @place_of(i64 %size, i64 %front) {
  %words = lshr i64 %size, 3
  %half = mul i64 %front, {half}
  %place = add i64 %words, %half
  %is_small = icmp ult i64 %size, {largest}
  %found = select i1 %is_small, i64 %place, i64 0
  ret i64 %found
}

define ptr @take(ptr %type, i64 %count) {
entry:
  %size = load i64, ptr %type at i8 {basic}
  %front = call i64 @in_front(ptr %type)
  %place = call i64 @place_of(i64 %size, i64 %front)
  %first_place = getelementptr ptr, ptr @first, i64 %place
  %object = load ptr, ptr %first_place
  br not eq ptr %object, null, label %reuse
  %making = load ptr, ptr @functions
  %made = call ptr %making(ptr %type, i64 %count)
  ret ptr %made
reuse:
  %next = load ptr, ptr %object
  store ptr %next, ptr %first_place
  %count_place = getelementptr i64, ptr @counts, i64 %place
  %many = load i64, ptr %count_place
  %fewer = sub i64 %many, 1
  store i64 %fewer, ptr %count_place
  %before = add i64 %front, 16
  %back = sub i64 0, %before
  %start = getelementptr i8, ptr %object, i64 %back
  %whole = add i64 %size, %before
clear:
  %done = phi i64 [0, %reuse], [%done1, %clear]
  %word = getelementptr i8, ptr %start, i64 %done
  store volatile i64 0, ptr %word
  %done1 = add i64 %done, 8
  br ult i64 %done1, %whole, label %clear
  %init = load ptr, ptr @functions at ptr 3
  %same = call ptr %init(ptr %object, ptr %type)
  %track = load ptr, ptr @functions at ptr 2
  call void %track(ptr %object)
  ret ptr %object
}

define void @give(ptr %object) {
entry:
  %type = load ptr, ptr %object at i8 8
  %size = load i64, ptr %type at i8 {basic}
  %front = call i64 @in_front(ptr %type)
  %place = call i64 @place_of(i64 %size, i64 %front)
  %count_place = getelementptr i64, ptr @counts, i64 %place
  %many = load i64, ptr %count_place
  %bytes = mul i64 %many, %size
  %is_full = icmp uge i64 %bytes, {most}
  %is_large = icmp eq i64 %place, 0
  %links = load i64, ptr %object at i8 -16
  %is_tracked = icmp ne i64 %links, 0
  %is_odd = or i1 %is_large, %is_tracked
  %is_left = or i1 %is_odd, %is_full
  br not i1 %is_left, label %keep
  %freeing = load ptr, ptr @functions at ptr 1
  call void %freeing(ptr %object)
  ret void
keep:
  %first_place = getelementptr ptr, ptr @first, i64 %place
  %next = load ptr, ptr %first_place
  store ptr %next, ptr %object
  store ptr %object, ptr %first_place
  %more = add i64 %many, 1
  store i64 %more, ptr %count_place
  ret void
}
"""


@cache
def pool(kind: type) -> bool:
    """Have objects of a class take memory that others of their size have left; False if they do not
    lie as native code takes them to."""
    functions = _functions()
    if functions is None or not _is_as_expected(kind):
        return False
    take, give = functions
    _word(kind, MAKES_AT).value = take
    _word(kind, _FREES).value = give
    return True


@cache
def _functions() -> tuple[int, int] | None:
    """What makes objects of pooled classes and takes their memory back; None where objects do not
    lie as native code takes them to."""
    if HEAD != 16 or not elf.is_known() or not is_possible():
        return None
    values = {
        **{"places": 2 * _SIZES, "flags": _FLAGS, "front": _IN_FRONT, "half": _SIZES // 16},
        **{"largest": 8 * _SIZES, "basic": _BASIC_SIZE, "most": _MOST},
    }
    text = _TEXT
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    names = ("begin", "take", "give")
    found = native_addresses("pools", (), names, lambda target: spelled_out(text))
    addresses = (ctypes.c_void_p * len(_FUNCTIONS))(*map(_address, _FUNCTIONS))
    begin = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(found["begin"])
    begin(ctypes.addressof(addresses), 0, 0)
    return found["take"], found["give"]


def _is_as_expected(kind: type) -> bool:
    """Whether a class has these parts where they are looked for, and objects of one size."""
    flags = kind.__flags__
    return (
        _word(kind, _BASIC_SIZE).value == kind.__basicsize__
        and _word(kind, _FLAGS).value == flags
        and _word(kind, MAKES_AT).value == _address("PyType_GenericAlloc")
        and _word(kind, _FREES).value == _address("PyObject_GC_Del")
        and kind.__itemsize__ == 0
        and bool(flags & _COLLECTED)
        and not flags & _HAS_PARTS_BEHIND
    )


def _word(kind: type, place: int) -> ctypes.c_uint64:
    return ctypes.c_uint64.from_address(id(kind) + place)


def _address(name: str) -> int:
    function: Any = getattr(ctypes.pythonapi, name)
    return ctypes.cast(function, ctypes.c_void_p).value or 0
