"""Objects of x86-64 Linux into memory: much sooner than llvmlite is imported.

What is read are the few forms that our own code comes in; anything else is refused.  After
the System V ABI's "ELF-64 Object File Format" and its supplement for AMD64.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

__all__ = ["ForeignObject", "can_execute", "is_known", "placed"]

_MAGIC: Final = b"\x7fELF\x02\x01\x01"
_RELOCATABLE, _X86_64 = 1, 62
_SYMBOLS, _WITHOUT_BYTES, _RELOCATIONS = 2, 8, 4
_WRITTEN, _LOADED, _FUNCTION = 1, 2, 2
_FORMS: Final = {1: ("<Q", 0), 2: ("<i", 1), 4: ("<i", 1)}
"""Kinds of relocations: a whole address; distances (`PC32`, `PLT32`)."""
_MOST: Final = 1 << 24


class ForeignObject(ValueError):
    """Bytes that are no object of ours."""


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    start: int
    size: int
    link: int
    about: int
    alignment: int
    entry: int


class _Symbol(NamedTuple):
    name: int
    about: int
    other: int
    section: int
    value: int
    size: int


def is_known() -> bool:
    """Whether this is the system whose objects are read here."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 2**32


@cache
def can_execute() -> bool:
    """Whether the system lets memory be executed that was written before."""
    with mmap.mmap(-1, mmap.PAGESIZE) as memory:
        try:
            _make_executable(ctypes.addressof(ctypes.c_char.from_buffer(memory)), len(memory))
        except OSError:
            return False
    return True


def placed(data: bytes, names: tuple[str, ...]) -> dict[str, int]:
    """The addresses of an object's functions after it was put into memory.

    Raises:
        ForeignObject: these are not bytes that LLVM made of our code.
        OSError: the system lets no memory be executed.
    """
    try:
        return _placed(data, names)
    except (struct.error, IndexError, KeyError, OverflowError) as error:
        raise ForeignObject(f"no object file of ours: {error!r}") from error


def _placed(data: bytes, names: tuple[str, ...]) -> dict[str, int]:
    sections = _sections(data)
    places, size, fixed = _layout(sections, len(data))
    own = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # a child of a fork writes to pages of its own
    memory = mmap.mmap(-1, max(size, 1), own, mmap.PROT_READ | mmap.PROT_WRITE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for index, place in places.items():
        section = sections[index]
        if section.kind != _WITHOUT_BYTES:
            memory[place : place + section.size] = data[section.start :][: section.size]
    table = next((each for each in sections if each.kind == _SYMBOLS), None)
    if table is None:
        raise ForeignObject("it has no symbols")
    symbols = [_Symbol(*each) for each in _rows("<IBBHQQ", data, table)]
    for section in sections:
        if section.kind == _RELOCATIONS and section.about in places:
            target = sections[section.about]
            for offset, what, more in _rows("<QQq", data, section):
                meant = symbols[what >> 32]
                to = base + places[meant.section] + meant.value + more
                form, origin = _relocation(what & 0xFFFFFFFF, offset, target)
                place = places[section.about] + offset
                struct.pack_into(form, memory, place, to - origin * (base + place))
    found = _functions(data, sections[table.link], symbols, names)
    for symbol in found.values():
        if symbol.value >= sections[symbol.section].size:
            raise ForeignObject("a function lies outside its section")
    _make_executable(base, max(fixed, 1))
    # never given back: while Python ends, threads still run what lies there
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))
    return {name: base + places[each.section] + each.value for name, each in found.items()}


def _sections(data: bytes) -> list[_Section]:
    kind, machine = struct.unpack_from("<HH", data, 16)
    if not data.startswith(_MAGIC) or (kind, machine) != (_RELOCATABLE, _X86_64):
        raise ForeignObject("it is for another system")
    start, count = *struct.unpack_from("<Q", data, 40), *struct.unpack_from("<H", data, 60)
    return [
        _Section(*struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * i)) for i in range(count)
    ]


def _layout(sections: list[_Section], length: int) -> tuple[dict[int, int], int, int]:
    """Where the sections that stay in memory begin, the size of all, and of those in front, which
    nothing writes: what is written lies behind them, in pages of its own."""
    places: dict[int, int] = {}
    size, fixed = 0, None
    for index, section in sorted(enumerate(sections), key=lambda each: each[1].flags & _WRITTEN):
        if section.kind != _WITHOUT_BYTES and section.start + section.size > length:
            raise ForeignObject("a section lies outside the file")
        if section.flags & _LOADED and section.size:
            is_first = bool(section.flags & _WRITTEN) and fixed is None
            unit = mmap.PAGESIZE if is_first else 64
            size = (size + unit - 1) & -unit
            fixed = size if is_first else fixed
            places[index] = size
            size += section.size
            if size > _MOST or section.alignment > 64:
                raise ForeignObject("a section is too large")
    return places, size, size if fixed is None else fixed


def _rows(form: str, data: bytes, section: _Section) -> list[tuple[int, ...]]:
    part = data[section.start : section.start + section.size]
    return list(struct.iter_unpack(form, part))


def _relocation(kind: int, offset: int, target: _Section) -> tuple[str, int]:
    """The form of the word that is written, and whether it counts from its own place."""
    if kind not in _FORMS:
        raise ForeignObject(f"it has relocations of kind {kind}")
    form, origin = _FORMS[kind]
    if offset + struct.calcsize(form) > target.size:
        raise ForeignObject("a relocation lies outside its section")
    return form, origin


def _functions(
    data: bytes, words: _Section, symbols: list[_Symbol], names: tuple[str, ...]
) -> dict[str, _Symbol]:
    text = data[words.start : words.start + words.size]
    by_name = {
        text[each.name :].partition(b"\0")[0].decode("ascii", "replace"): each
        for each in symbols
        if each.about & 15 == _FUNCTION
    }
    return {name: by_name[name] for name in names}


@cache
def _protect() -> Callable[[int, int, int], int]:
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return protect


def _make_executable(address: int, size: int) -> None:
    if _protect()(address, size, mmap.PROT_READ | mmap.PROT_EXEC):
        number = ctypes.get_errno()
        raise OSError(number, "the system lets no memory be executed")
