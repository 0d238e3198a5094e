"""Calling kernels from Python, and the threads that share their work.

`run(kernel, count, least, *arguments)` calls a kernel, given by its address, for ranges that
together are 0 to `count`; a thread gets at least `least`, and Python's lock is let go where there
is that much.  Arguments are ints, floats and arrays, which give the address of their elements.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from .....frontend.foundations.locks import after_fork, fork_safe_lock
from .....frontend.foundations.started import started
from ....memory.dtype import Array
from ... import threads
from ..fronts.called_text import CALLED_WORDS
from ..fronts.fronts_text import FRONT_WORDS
from ..fronts.looked_text import LOOKED_WORDS
from ..fronts.parts_text import MEMBERS, PARTS_WORDS, SIZE_MEMBERS, member_name
from ..loading import elf
from ..loading.numpy_functions import function_of_numpy
from ..loading.objects import native_addresses
from .crew_text import JOB_SIZE, SPINS, TABLE, crew_text
from .methods import BYTES_BEGIN, member, method

__all__ = ["CREW", "HEAD", "is_told", "learns_draws", "run", "unforeseen"]

HEAD: Final = object.__basicsize__
"""The size of what every Python object begins with."""
TUPLE_BEGIN: Final = tuple.__basicsize__
"""Where the items of a tuple begin: behind its length, and from Python 3.14 on behind its hash."""
_STARTING: Final = fork_safe_lock()


class _State(ctypes.Structure):
    """What native code looks up: the job of this process's threads, how many share it, who is told
    of calls of `run`, how many listen to Python, which shall see what it calls, and how many of
    them look at arguments and results."""

    _fields_ = (
        *(("job", ctypes.c_void_p), ("threads", ctypes.c_int64), ("note", ctypes.c_void_p)),
        *(("listeners", ctypes.c_int64), ("inspectors", ctypes.c_int64)),
    )


class _Crew:
    """The native side: threads that wait in native code for work, made when there is some."""

    def __init__(self) -> None:
        names = (
            *("work", "end", "run", "prepared", "front", "called", "looked"),
            *("know_parts", "bind_member"),
            *(member_name(native) for native, _ in MEMBERS.values()),
            *(member_name(native) for native, _ in SIZE_MEMBERS.values()),
        )
        parameters = (HEAD, BYTES_BEGIN, TUPLE_BEGIN)
        made = native_addresses("crew", parameters, names, lambda target: crew_text(*parameters))
        self._work = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(made["work"])
        self._end = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(made["end"])
        self._state = _State(None, threads.get_threads(), None, 0, 0)
        self._told: Callable[..., None] | None = None
        self.learns_draws = False
        self._start = self.start
        self._table = self._words()
        self._places = made
        self.run: Callable[..., None] = self._function("run", (0, 0, 0))
        after_fork(self._forget)
        threads.followers.append(self._resized)

    def _function(
        self, name: str, words: Sequence[int], *, named: bool = False
    ) -> Callable[..., Any]:
        """A function of native code as Python calls it, also with arguments that are `named`;
        `words` are those behind the table."""
        return method(name, self._places[name], self._packed(words), named=named)

    def _packed(self, words: Sequence[int]) -> bytes:
        return struct.pack(f"{len(TABLE) + len(words)}Q", *self._table, *words)

    def front(self, words: Mapping[str, int]) -> Callable[..., object]:
        """What takes eager calls apart (see `fronts_text`), by the addresses of what it looks at.
        The caller keeps all of that."""
        return self._function("front", [words[name] for name in FRONT_WORDS], named=True)

    def looked(self, name: str, words: Mapping[str, int]) -> Callable[..., object]:
        """What gives what a look at a tensor tells (see `looked_text`), by that name.  The caller
        keeps all that it looks at."""
        behind = [words[name] for name in (*FRONT_WORDS, *LOOKED_WORDS)]
        return method(name, self._places["looked"], self._packed(behind), named=True)

    def called(self, words: Mapping[str, int]) -> Array:
        """What objects hold in their first slot that are called by `calls_of` their class (see
        `called_text`).  The caller keeps all that it looks at."""
        return np.array([*self._table, *(words[name] for name in CALLED_WORDS)], np.uint64)

    def calls_of(self, kind: type) -> tuple[Callable[..., object], int]:
        """The `__call__` of a class of such objects, and the address that does the same."""
        place = self._places["called"]
        return member("__call__", place, kind), place

    def know_members(self, words: Mapping[str, int]) -> Array:
        """What members of the classes of tensors and sizes look at (see `parts_text`), which the
        caller keeps, as he does what that names."""
        names = (*FRONT_WORDS, *PARTS_WORDS)
        table = np.array([*self._table, *(words[name] for name in names)], np.uint64)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._places["know_parts"])(table.ctypes.data)
        return table

    def member(self, native: str) -> int:
        """The address of one of those members, by the name of the native function."""
        return self._places[member_name(native)]

    @property
    def binding(self) -> int:
        """The address of what binds such members."""
        return self._places["bind_member"]

    def listen(self, count: int, *, inspects: bool) -> None:
        """So many more, or less, listen to what Python calls: eager calls go through Python; where
        one `inspects` what is given and made, which Python says of its own functions alone, so do
        calls that are known."""
        self._state.listeners += count
        if inspects:
            self._state.inspectors += count

    def prepared(
        self, known: int, function: Callable[..., object], learn: Callable[..., object]
    ) -> Callable[..., object]:
        """What does calls that the state at the address `known` knows (see `prepared_text`), has
        others done by `learn`, or by `function` while it waits.  The caller keeps all three."""
        return self._function("prepared", (known, id(function), id(learn)))

    @contextmanager
    def told(self, note: Callable[..., None], *, draws: bool = False) -> Iterator[None]:
        """Have a function, in the place of another one, told of all calls of `run`, by whichever
        thread; and whether it learns calls that draw random numbers."""
        before = self._state.note, self._told, self.learns_draws
        self._told, self.learns_draws, self._state.note = note, draws, id(note)
        try:
            yield
        finally:  # the address goes before what it is of: an interrupt may come between them
            self._state.note, self._told, self.learns_draws = before

    @property
    def is_told(self) -> bool:
        """Whether somebody is told of calls."""
        return self._told is not None

    def tell_unforeseen(self) -> None:
        """Tell who is told of calls that what follows depends on more than a call's form."""
        told = self._told
        if told is not None:
            told()

    def _words(self) -> list[int]:
        python: Any = ctypes.pythonapi
        functions = {
            "as_int": python.PyLong_AsLongLong,
            "as_bounded": python.PyLong_AsLongLongAndOverflow,
            "error": python.PyErr_Occurred,
            "set_error": python.PyErr_SetString,
            "let_go": python.PyEval_SaveThread,
            "take_back": python.PyEval_RestoreThread,
            "hold": python.Py_IncRef,
            "drop": python.Py_DecRef,
            "call": python.PyObject_CallNoArgs,
            "call_with": python.PyObject_Vectorcall,
            "make_tuple": python.PyTuple_New,
            "make_list": python.PyList_New,
            "as_list": python.PySequence_List,
            "attribute": python.PyObject_GetAttr,
            "set_attribute": python.PyObject_SetAttr,
            "variable": python.PyContextVar_Get,
            "make_object": python.PyType_GenericAlloc,
            "forget_error": python.PyErr_Clear,
            "make_int": python.PyLong_FromLongLong,
            "item_of": python.PyDict_GetItemWithError,
            "next_of": python.PyIter_Next,
            "fetch_error": python.PyErr_Fetch,
            "normalize_error": python.PyErr_NormalizeException,
            "set_trace": python.PyException_SetTraceback,
            "refer": python.PyWeakref_NewRef,
            "make_float": python.PyFloat_FromDouble,
            "bind": python.PyMethod_New,
        }
        objects: dict[str, object] = {
            "array_type": np.ndarray,
            "int_type": int,
            "float_type": float,
            "list_type": list,
            "tuple_type": tuple,
            "none": None,
            "type_error": TypeError,
            "start": self._start,
        }
        found = {name: id(each) for name, each in objects.items()}
        found["state"] = ctypes.addressof(self._state)
        found["make_array"] = function_of_numpy("PyArray_NewFromDescr")
        found["view_of"] = function_of_numpy("PyArray_View")
        found["set_base"] = function_of_numpy("PyArray_SetBaseObject")
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
            # never given back: threads look at it until the process has ended
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))
            self._state.job = job

    def _forget(self) -> None:
        """In a forked child there are no threads but one, and nobody who is told."""
        self._state.job = self._state.note = self._told = None
        self.learns_draws = False

    def _resized(self, size: int) -> None:
        """Have so many threads from now on; those of before end when they look up next."""
        with _STARTING:
            job, self._state.job = self._state.job, None
            self._state.threads = size
            if job is not None:
                self._end(job)


def unforeseen() -> None:
    """Say that what a kernel is given depends on what is in arrays: no call may be known by it."""
    if _CREW is not None:
        _CREW.tell_unforeseen()


def is_told() -> bool:
    """Whether somebody is told of calls of `run`."""
    return _CREW is not None and _CREW.is_told


def learns_draws() -> bool:
    """Whether somebody who is told of calls of `run` learns those that draw random numbers."""
    return _CREW is not None and _CREW.learns_draws


def _by_ctypes(kernel: int, count: int, least: int, *arguments: object) -> None:
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
    pair, part = (number, text), slice(text, number)
    return (
        np.lib.NumpyVersion(np.__version__) >= "2.0.0"
        and ctypes.c_void_p.from_address(id(array) + HEAD - 8).value == id(np.ndarray)
        and ctypes.c_void_p.from_address(id(number) + HEAD - 8).value == id(float)
        and ctypes.c_double.from_address(id(number) + HEAD).value == number
        and ctypes.string_at(id(text) + BYTES_BEGIN, len(text)) == text
        and ctypes.c_void_p.from_address(id(array) + HEAD).value == array.ctypes.data
        and ctypes.c_void_p.from_address(id(array) + HEAD + 40).value == id(array.dtype)
        and ctypes.c_int64.from_address(id(array.dtype) + HEAD + 24).value == array.itemsize
        and ctypes.c_int32.from_address(id(array) + HEAD + 48).value == array.flags.num
        and ctypes.c_int64.from_address(id([number]) + HEAD).value == 1
        and ctypes.c_void_p.from_address(id(pair) + TUPLE_BEGIN).value == id(number)
        and ctypes.c_void_p.from_address(id(part) + HEAD + 8).value == id(number)
    )


_CREW: Final = _Crew() if elf.is_known() and _lie_as_expected() else None
run: Final[Callable[..., None]] = _by_ctypes if _CREW is None else _CREW.run
CREW: Final = _CREW
"""What makes functions that know beforehand what to run; None where there is no such code."""
