"""Calling kernels from Python, and the threads that share their work.

`run(kernel, count, least, *arguments)` calls a kernel, given by its address, for ranges that
together are 0 to `count`; a thread gets at least `least`, and Python's lock is let go where there
is that much.  Arguments are ints, floats and arrays, which give the address of their elements.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ....frontend.locks import after_fork, fork_safe_lock
from ....frontend.started import started
from .. import threads
from . import elf
from .crew_text import JOB_SIZE, SPINS, TABLE, crew_text
from .objects import native_addresses

__all__ = ["run"]

_HEAD: Final = object.__basicsize__
_BYTES_BEGIN: Final = bytes.__basicsize__ - 1
_STARTING: Final = fork_safe_lock()


class _Method(ctypes.Structure):
    """CPython's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


class _State(ctypes.Structure):
    """What native code looks up: the job of this process's threads, and how many share it."""

    _fields_ = (("job", ctypes.c_void_p), ("threads", ctypes.c_int64))


class _Crew:
    """The native side: threads that wait in native code for work, made when there is some."""

    def __init__(self) -> None:
        names = ("work", "end", "run")
        parameters = (_HEAD, _BYTES_BEGIN)
        made = native_addresses("crew", parameters, names, lambda target: crew_text(*parameters))
        self._work = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(made["work"])
        self._end = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(made["end"])
        self._state = _State(None, threads.get_threads())
        self._jobs: list[mmap.mmap] = []
        self._start = self.start
        self._table = struct.pack(f"{len(TABLE)}Q", *self._words())
        self._method = _Method(b"run", made["run"], 0x80, None)  # METH_FASTCALL
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        self.run: Callable[..., None] = make(ctypes.addressof(self._method), self._table, None)
        after_fork(self._forget)
        threads.followers.append(self._resized)

    def _words(self) -> list[int]:
        python: Any = ctypes.pythonapi
        functions = {
            "as_int": python.PyLong_AsLongLong,
            "error": python.PyErr_Occurred,
            "set_error": python.PyErr_SetString,
            "let_go": python.PyEval_SaveThread,
            "take_back": python.PyEval_RestoreThread,
            "hold": python.Py_IncRef,
            "drop": python.Py_DecRef,
            "call": python.PyObject_CallNoArgs,
        }
        objects: dict[str, object] = {
            "array_type": np.ndarray,
            "int_type": int,
            "float_type": float,
            "none": None,
            "type_error": TypeError,
            "start": self._start,
        }
        found = {name: id(each) for name, each in objects.items()}
        found["state"] = ctypes.addressof(self._state)
        for name, function in functions.items():
            found[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
        return [found[name] for name in TABLE]

    def start(self) -> None:
        """Make the threads; where there can be none, work is done by who asks."""
        with _STARTING:
            if self._state.job is not None:
                return
            memory = mmap.mmap(-1, mmap.PAGESIZE)
            job = ctypes.addressof((ctypes.c_char * JOB_SIZE).from_buffer(memory))
            for place in range(1, self._state.threads):
                if started(f"rushlight-kernel_{place}", self._work, job, SPINS) is None:
                    break
            self._jobs.append(memory)  # which threads look at as long as they live
            self._state.job = job

    def _forget(self) -> None:
        """In a forked child there are no threads but one."""
        self._state.job = None

    def _resized(self, size: int) -> None:
        """Have so many threads from now on; those of before end when they look up next."""
        with _STARTING:
            job, self._state.job = self._state.job, None
            self._state.threads = size
            if job is not None:
                self._end(job)


def _by_ctypes(kernel: int, count: int, least: int, *arguments: Any) -> None:
    """`run` where objects do not lie in memory as native code takes them to."""
    words = (ctypes.c_int64 * len(arguments))(*map(_word, arguments))
    place = ctypes.addressof(words)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(kernel)
    threads.share(lambda start, stop: function(place, start, stop), count, least)


def _word(argument: Any) -> int:
    if isinstance(argument, int):
        return argument
    if isinstance(argument, float):
        return int.from_bytes(struct.pack("<d", argument), "little", signed=True)
    found: int = argument.ctypes.data
    return found


def _lie_as_expected() -> bool:
    """Whether types, floats, bytes and arrays have their parts where `crew_text` looks for them."""
    number, text, array = 1.5, b"rushlight", np.ones(3)
    return (
        ctypes.c_void_p.from_address(id(array) + _HEAD - 8).value == id(np.ndarray)
        and ctypes.c_void_p.from_address(id(number) + _HEAD - 8).value == id(float)
        and ctypes.c_double.from_address(id(number) + _HEAD).value == number
        and ctypes.string_at(id(text) + _BYTES_BEGIN, len(text)) == text
        and ctypes.c_void_p.from_address(id(array) + _HEAD).value == array.ctypes.data
    )


_CREW: Final = _Crew() if elf.is_known() and _lie_as_expected() else None
run: Final[Callable[..., None]] = _by_ctypes if _CREW is None else _CREW.run
