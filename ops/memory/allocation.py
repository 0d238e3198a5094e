"""Counting what a thread allocates, and refusing what goes beyond a limit.

Three allocators are counted, where memory is made and not by what operators are called: NumPy's
(its data-memory handler, which every array keeps: NumPy's C interface, `PyDataMem_SetHandler`),
Python's for everything larger than 512 bytes (strings, lists, tables of dicts) and Python's arenas
for what is smaller (`PyMem_SetAllocator`, `PyObject_SetArenaAllocator`).  Frees may come while an
exception is set or the interpreter goes, so the functions between are native code
(`counting_code.py`), made when a first limit is set and kept for ever.

They do nothing but look for the thread's ledger; there is one only while it is open.
Growth is counted: what was there before is not, what is freed is given back.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from ...frontend.foundations.locks import fork_safe_lock
from . import inference
from .counting_code import ALLOCATOR, ARENAS, COUNTING, native_text
from .errors import LimitExceeded
from .handlers import Allocator, capsule_of, default_handler, set_handler

__all__ = ["Ledger", "carrying", "current_ledger", "is_counting", "note_output", "uncounted"]

RESERVE: Final = 1 << 22
"""Bytes beyond the limit for telling that it was reached."""


class Ledger:
    """What a thread has taken since it entered the outermost limit, and may take.

    `written` and `most_written` are characters that are printed.
    """

    def __init__(self) -> None:
        self._numbers = (ctypes.c_int64 * 4)()
        self.address = ctypes.addressof(self._numbers)
        self.is_open = False
        self.written = self.most_written = 0
        self._handler: object = None
        """What NumPy's memory was made by before."""

    @property
    def refused(self) -> int:
        """The bytes of the last request that was refused; 0 if none was."""
        return self._numbers[2]

    def open(self, limit: int, output: int) -> None:
        """Count this thread anew, until `close`, also if this was interrupted."""
        native, numbers = _native(), self._numbers
        numbers[0], numbers[1], numbers[2], numbers[3] = 0, limit, 0, RESERVE
        self.written, self.most_written, self.is_open = 0, output, True
        if native is not None:
            self._handler = native.enter(self.address)

    def close(self) -> None:
        """Count no more."""
        native = _native()
        self.is_open = False
        if native is not None:
            native.leave(self._handler or inference.handler(inference.is_on()))
            self._handler = None

    @property
    def limits(self) -> tuple[int, int]:
        """What may be taken and written, which `restore` takes."""
        return self._numbers[1], self.most_written

    def lower(self, limit: int, output: int) -> None:
        """Let no more than so much be taken from now on."""
        before = self.limits
        self._numbers[1] = min(before[0], self._numbers[0] + limit)
        self.most_written = min(before[1], self.written + output)

    def restore(self, before: tuple[int, int]) -> None:
        """Go back to earlier limits."""
        self._numbers[1], self.most_written = before


class _Thread(threading.local):
    def __init__(self) -> None:
        self.ledger = Ledger()


_THREAD: Final = _Thread()


def current_ledger() -> Ledger:
    """The ledger of this thread."""
    return _THREAD.ledger


def _counting(in_mode: bool) -> object:
    """The handler that counts for this thread, if one does, in `inference_mode` or outside."""
    native = _NATIVE[0] if _NATIVE and _THREAD.ledger.is_open else None
    return None if native is None else native.handlers[in_mode]


inference.COUNTING.install(_counting)


def is_counting() -> bool:
    """Whether memory can be counted here: Linux and macOS, CPython, with llvmlite."""
    return _native() is not None


def note_output(length: int) -> None:
    """So many characters are going to be printed.

    Raises:
        LimitExceeded: they are too many.
    """
    ledger = _THREAD.ledger
    if ledger.is_open:
        ledger.written += length
        if ledger.written > ledger.most_written:
            raise LimitExceeded(f"it has printed more than {ledger.most_written} characters")


@contextmanager
def uncounted() -> Iterator[None]:
    """What is taken here is the library's own: modules it imports, code it compiles."""
    native = _NATIVE[0] if _NATIVE and _THREAD.ledger.is_open else None
    before = 0 if native is None else native.swap(0)
    try:
        yield
    finally:
        if native is not None:
            native.swap(before)


def carrying(work: Callable[..., object]) -> Callable[..., object]:
    """Work for another thread that counts in this thread's ledger; it must end before that is
    closed."""
    ledger = _THREAD.ledger
    native = _NATIVE[0] if ledger.is_open and _NATIVE else None
    if native is None:
        return work

    def carried(*values: object) -> object:
        before = native.swap(ledger.address)
        try:
            return work(*values)
        finally:
            native.swap(before)

    return carried


# --------------------------------------------------------------------------- native code


class _Arenas(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in ("context", "malloc", "free"))


PLAIN: Final = "rushlight"
"""The name of the handler that counts outside of `inference_mode`."""

_RAW: Final = 0
"""The number of Python's allocator of large blocks."""


class _Native:
    """The compiled functions."""

    def __init__(
        self, engine: Any, set_handler: Callable[[object], object], handlers: Sequence[object]
    ) -> None:
        self.swap = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(
            engine.get_function_address("swap")
        )
        self._set_handler = set_handler
        self.handlers = handlers
        """What counts, outside of `inference_mode` and in it."""

    def enter(self, ledger: int) -> object:
        before = self._set_handler(self.handlers[inference.is_on()])
        self.swap(ledger)
        return before

    def leave(self, handler: object) -> None:
        self.swap(0)
        self._set_handler(handler)


_NATIVE: Final[list[_Native | None]] = []
_LOCK: Final = fork_safe_lock()


def _native() -> _Native | None:
    if not _NATIVE:
        with _LOCK:
            if not _NATIVE:
                _NATIVE.append(_make() if _is_known() else None)
    return _NATIVE[0]


def _is_known() -> bool:
    """Whether the allocators are those of the C library, without anything put around them."""
    if sys.implementation.name != "cpython" or sys.platform not in ("linux", "darwin"):
        return False
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.flags.dev_mode:
        return False
    if import_module("_tracemalloc").is_tracing():  # its hooks would be below ours when it stops
        return False
    return os.environ.get("PYTHONMALLOC", "default") in ("default", "pymalloc", "malloc")


def _make() -> _Native | None:
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return None
    libc = ctypes.CDLL(None)
    known = _thread_key(libc)
    size = "malloc_usable_size" if sys.platform == "linux" else "malloc_size"
    known["usable"] = _address(getattr(libc, size))
    raw, arenas, below = Allocator(), _Arenas(), default_handler()[1]
    python = ctypes.pythonapi
    python.PyMem_GetAllocator(_RAW, ctypes.byref(raw))
    python.PyObject_GetArenaAllocator(ctypes.byref(arenas))
    engine = _compiled(
        llvm,
        "declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)\n"
        + native_text(COUNTING, known)
        + native_text(ALLOCATOR, known | _below(raw, "raw"))
        + native_text(ALLOCATOR, known | _below(below.allocator, "array"))
        + native_text(ARENAS, known | _below(arenas, "arena")),
    )
    _put_in_place(engine, python)
    array = _structure(Allocator, engine, "array")
    names = (PLAIN, inference.NAME)
    return _Native(engine, set_handler(), [capsule_of(name, array) for name in names])


def _below(allocator: Any, name: str) -> dict[str, int | str]:
    found: dict[str, int | str] = {"name": name}
    for field, _ in allocator._fields_:
        found[field] = getattr(allocator, field) or 0
    return found


def _address(function: Any) -> int:
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


def _thread_key(libc: Any) -> dict[str, int | str]:
    key = ctypes.c_ulong(0)
    if libc.pthread_key_create(ctypes.byref(key), None):
        raise MemoryError
    get, change = libc.pthread_getspecific, libc.pthread_setspecific
    return {"key": key.value, "get": _address(get), "set": _address(change)}


def _compiled(llvm: ModuleType, text: str) -> Any:
    """The code of a text, which is never given back: blocks may be freed at the very end."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    for each in (engine, module, target):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
    return engine


def _structure(kind: Any, engine: Any, name: str) -> Any:
    made = kind()
    for field, _ in kind._fields_:
        if field != "context":  # of which there is none
            setattr(made, field, engine.get_function_address(f"{name}_{field}"))
    return made


def _put_in_place(engine: object, python: Any) -> None:
    large = _structure(Allocator, engine, "raw")
    python.PyMem_SetAllocator(_RAW, ctypes.byref(large))
    python.PyObject_SetArenaAllocator(ctypes.byref(_structure(_Arenas, engine, "arena")))
