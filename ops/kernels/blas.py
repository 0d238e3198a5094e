"""Products and decompositions of matrices by NumPy's library for them (OpenBLAS).

It shares what is large among threads of its own and holds locks meanwhile.  A fork amid that would
leave both processes waiting for ever, so forks wait for the functions here.  Whatever of ours
reaches that library does so through this file.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from ...frontend.foundations.locks import whole
from ..memory.dtype import Array

__all__ = [
    *(
        "ALONE",
        "LONGEST",
        "cholesky",
        "det",
        "dot",
        "eig",
        "eigh",
        "eigvals",
        "inv",
        "matmul",
        "lapack_address",
        "on_one_thread",
    ),
    *("norm", "qr", "slogdet", "solve", "svd", "tensordot", "vecdot", "vector_norm"),
]

ALONE: Final = 230_000
"""Multiplications of real numbers: OpenBLAS shares no product that needs fewer, unless it is of a
row and a column of more than `LONGEST`.  Such a one is done before a fork could begin, so it may
be called directly.  (It shares products of a matrix with itself turned from 237,184 on, with
vectors from 460,800, others from 524,288.)"""

LONGEST: Final = 10_000
"""Elements of two vectors from which OpenBLAS shares their product."""

_Made = Callable[..., Array]

dot: _Made = whole(np.ndarray.dot)
matmul: _Made = whole(np.matmul)
tensordot: _Made = whole(np.tensordot)
vecdot: _Made = whole(np.vecdot)

cholesky: _Made = whole(np.linalg.cholesky)
det: _Made = whole(np.linalg.det)
eig: Any = whole(np.linalg.eig)
eigh: Any = whole(np.linalg.eigh)
eigvals: _Made = whole(np.linalg.eigvals)
inv: _Made = whole(np.linalg.inv)
norm: _Made = whole(np.linalg.norm)
qr: Any = whole(np.linalg.qr)
slogdet: Any = whole(np.linalg.slogdet)
solve: _Made = whole(np.linalg.solve)
svd: Any = whole(np.linalg.svd)
vector_norm: _Made = whole(np.linalg.vector_norm)


# --------------------------------------------------------------------------- by their addresses


@cache
def _library() -> Any:
    """What NumPy's decompositions are linked with."""
    return ctypes.CDLL(import_module("numpy.linalg._umath_linalg").__file__)


@cache
def lapack_address(name: str) -> int:
    """The address of a function of LAPACK whose whole numbers have 64 bits; 0 if there is none.

    OpenBLAS shares no work on small matrices, which it may be called for directly while Python's
    lock is held, so that nobody forks; else this is done `on_one_thread`.
    """
    try:
        function = getattr(_library(), f"scipy_{name}_64_")
    except (AttributeError, OSError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class _Alone:
    """How many calls want OpenBLAS to have one thread, and how many it had before the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # only held amid what forks wait for
        self._count = self._usual = 0

    def __enter__(self) -> None:
        library = _library()
        with self._lock:
            if not self._count:
                self._usual = library.scipy_openblas_get_num_threads64_()
                library.scipy_openblas_set_num_threads64_(1)
            self._count += 1

    def __exit__(self, *_: object) -> None:
        library = _library()
        with self._lock:
            self._count -= 1
            if not self._count and library.scipy_openblas_get_num_threads64_() == 1:
                library.scipy_openblas_set_num_threads64_(self._usual)


_ALONE: Final = _Alone()


@whole
def on_one_thread(function: Callable[..., object], *values: object) -> object:
    """Call something that calls LAPACK.  OpenBLAS does that on one thread, since its sums depend on
    how many share them."""
    with _ALONE:
        return function(*values)
