"""Factorisations and eigenvalues of float32 and float64 by functions of LAPACK themselves.

NumPy's decompositions take float32 as float64, and small calls spend more on their way than on
their work.  Matrices here lie by columns, as LAPACK has them: an array [matrices, columns, rows] in
one piece, which is written over.  What is small is done by kernels alone, so calls are learned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from ..memory.dtype import Array, Dtype
from . import blas, family, written_by_numpy
from .flags import new_flag

__all__ = [
    *("by_columns", "can", "can_square", "eigenvalues", "eigenvectors", "factors"),
    "inverse_of_factors",
    *(
        "inverse_of_root",
        "is_left_out",
        "least_squares",
        "left_out",
        "no_errors",
        "of_factors",
        "of_root",
        "reflected",
        "reflections",
    ),
    *("of_symmetric_factors", "root", "singular", "solved", "symmetric", "symmetric_factors"),
    *("triangle", "whole_of"),
]

_LETTERS: Final = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
_INT32: Final = np.dtype(np.int32)
_ALONE: Final = 3600
"""Elements of a matrix up to which OpenBLAS uses one thread: no product in a function needs
`blas.ALONE` multiplications."""
_SHORT: Final = 1 << 21
"""Steps, by sizes, up to which Python's lock is held."""


_ONLY_FINITE: Final = ("gesdd", "geev", "syevd", "gelsd", "gelss", "gelsy")
"""Functions that may not come to an end with other numbers."""

_LARGER: Final = {
    **dict.fromkeys(("potrf", "potrs", "potri", "getrf", "getrs", "getri", "gesv", "trsm"), 4096),
    **dict.fromkeys(("geqrf", "orgqr", "ormqr", "gels", "gelsy"), 7000),
}
"""The same of functions that halve a matrix, and of those that go 32 columns at a time."""
_MADE_FINITE: Final = ("potrf",)
"""Functions that let what is no number through."""


class Work(NamedTuple):
    """An array that all matrices use one after the other."""

    array: Array


class _Word:
    """What LAPACK is given besides: its memory for work, how much that is, what it says."""


_WORK, _SIZE, _SAID = _Word(), _Word(), _Word()


def can(*matrices: Array) -> bool:
    """Whether matrices are of one dtype that is done here, and not empty."""
    dtype = matrices[0].dtype
    if dtype not in _LETTERS or any(each.dtype != dtype or not each.size for each in matrices):
        return False
    is_there = family("decompositions.lapack") is not None and blas.lapack_address("sgeqrf") != 0
    return is_there and not is_left_out()


def can_square(a: Array, *sides: Array) -> bool:
    """The same, of square matrices and right sides, a batch of the same form each: whoever hands
    them to LAPACK asks here, since another thread may have changed what was looked at before."""
    batch, size = a.shape[:-2], a.shape[-1]
    fits = a.shape[-2] == size and all(b.shape[:-1] == (*batch, size) for b in sides)
    return fits and can(a, *sides)


_LEFT_OUT: Final = ContextVar("lapack_left_out", default=False)

is_left_out: Final = _LEFT_OUT.get
"""Whether what is done now must do without LAPACK."""


@contextmanager
def left_out() -> Iterator[None]:
    """A block in which nothing is done here, for what shall run where LAPACK is not."""
    before = _LEFT_OUT.set(True)
    try:
        yield
    finally:
        _LEFT_OUT.reset(before)


def by_columns(a: Array) -> Array:
    """New memory [matrices, columns, rows] with the elements of matrices of any layout."""
    turned = a[...].swapaxes(-1, -2)
    is_whole = turned.flags.c_contiguous
    native = family("elementwise.copies" if is_whole else "elementwise.arrays")
    made = native.copied(turned) if is_whole else native.in_order(turned)
    if made is None:
        written_by_numpy()
        made = np.array(turned, order="C")
    found: Array = made.reshape(prod(a.shape[:-2]), *turned.shape[-2:])
    return found


# --------------------------------------------------------------------------- calls


def _done(name: str, matrices: Array, *given: object) -> bool:
    """Call a function for each of some matrices; whether all went well."""
    dtype, count = matrices.dtype, len(matrices)
    name = _LETTERS[dtype] + name
    form, words = _words(dtype, given)
    if any(each is _SIZE for each in given):
        size = _room(name, dtype, form, words)
        words = tuple(
            size if each is _SIZE else word for each, word in zip(given, words, strict=True)
        )
        given = tuple(Work(np.empty(size, dtype)) if each is _WORK else each for each in given)
    arrays = [
        each.array if type(each) is Work else each
        for each in given
        if type(each) is Work or type(each) is np.ndarray
    ]
    flag = new_flag()
    rows, columns = matrices.shape[-2:]
    checks = [rows * columns if name[1:] in each else 0 for each in (_ONLY_FINITE, _MADE_FINITE)]
    what = blas.lapack_address(name), _table((*words, *checks)), flag, *arrays
    run, kernel = family("calls.run"), family("decompositions.lapack").batch_kernel(form, name[0])
    most = _LARGER.get(name[1:], _ALONE)
    if rows * columns <= most and count * rows * columns * min(rows, columns) <= _SHORT:
        run.run(kernel, count, count + 1, *what)
    else:
        run.unforeseen()
        blas.on_one_thread(run.run, kernel, count, count, *what)
    return not flag[0]


def _words(dtype: Dtype, given: tuple[Any, ...]) -> tuple[str, tuple[int, ...]]:
    """The letters of arguments, and the words of the table."""
    form, words = "", list[int]()
    for each in given:
        kind = type(each)
        if kind is int:
            form, word = form + "n", each
        elif kind is float:
            form, word = form + "n", int.from_bytes(np.asarray(each, dtype).tobytes(), "little")
        elif kind is str:
            form, word = form + "c", ord(each)
        elif each is _SIZE:
            form, word = form + "n", -1
        elif each is _SAID:
            form, word = form + "i", 0
        else:
            form, word = form + "a", each.strides[0] if kind is np.ndarray else 0
        words.append(word)
    return form, tuple(words)


@lru_cache(512)
def _table(words: tuple[int, ...]) -> Array:
    table = np.array(words, np.int64)
    table.setflags(write=False)
    return table


@lru_cache(64)
def _zeros(shape: tuple[int, ...], dtype: Dtype) -> Array:
    zeros = np.zeros(shape, dtype)
    zeros.setflags(write=False)
    return zeros


def no_errors(batch: tuple[int, ...]) -> Array:
    """What says of each matrix of a batch that all went well."""
    copies = family("elementwise.copies")
    made: Array | None = None if copies is None else copies.copied(_zeros(batch, _INT32))
    return np.zeros(batch, _INT32) if made is None else made


@lru_cache(512)
def _room(name: str, dtype: object, form: str, words: tuple[int, ...]) -> int:
    """How many elements a function wants for its work, which it says where it is asked with -1."""
    table, memory = np.array(words, np.int64), np.zeros((len(form), 8), np.float64)
    places = [
        (table[place:] if sort in "nc" else memory[place]).ctypes.data
        for place, sort in enumerate(form)
    ]
    lengths = [1] * form.count("c")
    kinds = [*([ctypes.c_void_p] * len(form)), *([ctypes.c_size_t] * len(lengths))]
    ctypes.CFUNCTYPE(None, *kinds)(blas.lapack_address(name))(*places, *lengths)
    work = words.index(-1) - 1
    return int(memory[work].view(dtype)[0])


# --------------------------------------------------------------------------- factors


def root(a: Array) -> bool:
    """Put Cholesky's lower factors in the place of matrices; what is above stays."""
    size = a.shape[-1]
    return _done("potrf", a, "L", size, a, size, _SAID)


def of_root(a: Array, b: Array) -> bool:
    """Put X of A X = B in the place of B, where Cholesky's lower factors of A are given."""
    size = a.shape[-1]
    return _done("potrs", a, "L", size, b.shape[1], a, size, b, size, _SAID)


def inverse_of_root(a: Array) -> bool:
    """Put the lower halves of inverses in the place of Cholesky's lower factors."""
    size = a.shape[-1]
    return _done("potri", a, "L", size, a, size, _SAID)


def factors(a: Array) -> tuple[Array, bool]:
    """Put L and U in the place of matrices; the rows that were exchanged, from 1."""
    columns, rows = a.shape[-2:]
    pivots: Array = np.empty((len(a), min(rows, columns)), np.int64)
    return pivots, _done("getrf", a, rows, columns, a, rows, pivots, _SAID)


def of_factors(a: Array, pivots: Array, b: Array, turned: bool) -> bool:
    """Put X of A X = B in the place of B, where L and U of A are given."""
    size = a.shape[-1]
    what = "T" if turned else "N"
    return _done("getrs", a, what, size, b.shape[1], a, size, pivots, b, size, _SAID)


def inverse_of_factors(a: Array, pivots: Array) -> bool:
    """Put inverses in the place of L and U."""
    size = a.shape[-1]
    return _done("getri", a, size, a, size, pivots, _WORK, _SIZE, _SAID)


def solved(a: Array, b: Array) -> bool:
    """Put L and U in the place of A, and X of A X = B in that of B; whether none is singular."""
    size = a.shape[-1]
    pivots = Work(np.empty(size, np.int64))
    return _done("gesv", a, size, b.shape[1], a, size, pivots, b, size, _SAID)


def triangle(a: Array, b: Array, upper: bool, unit: bool) -> None:
    """Put X of A X = B in the place of B, where A are triangles that lie by columns or by rows."""
    size, is_turned = a.shape[-1], not a[0].flags.f_contiguous
    what = "U" if upper != is_turned else "L", "T" if is_turned else "N", "U" if unit else "N"
    _done("trsm", b, "L", *what, size, b.shape[1], 1.0, a, size, b, size)


def symmetric_factors(a: Array) -> tuple[Array, bool]:
    """Put L and D of symmetric matrices, whose lower halves count, in their place; the rows that
    were exchanged, from 1, negative ones in pairs."""
    size = a.shape[-1]
    pivots: Array = np.empty((len(a), size), np.int64)
    return pivots, _done("sytrf", a, "L", size, a, size, pivots, _WORK, _SIZE, _SAID)


def of_symmetric_factors(a: Array, pivots: Array, b: Array) -> bool:
    """Put X of A X = B in the place of B, where L and D of A are given, and such pivots as belong
    to them."""
    size = a.shape[-1]
    return _done("sytrs", a, "L", size, b.shape[1], a, size, pivots, b, size, _SAID)


# --------------------------------------------------------------------------- reflections


def reflections(a: Array) -> Array:
    """Put R, and below it the vectors of reflections, in the place of matrices; their factors."""
    columns, rows = a.shape[-2:]
    tau = np.empty((len(a), min(rows, columns)), a.dtype)
    _done("geqrf", a, rows, columns, a, rows, tau, _WORK, _SIZE, _SAID)
    return tau


def whole_of(a: Array, tau: Array) -> None:
    """Put the first columns of Q in the place of the vectors of reflections."""
    columns, rows = a.shape[-2:]
    _done("orgqr", a, rows, columns, tau.shape[-1], a, rows, tau, _WORK, _SIZE, _SAID)


def reflected(a: Array, tau: Array, c: Array, left: bool, turned: bool) -> None:
    """Put Q C in the place of C, or C Q, or the same of Q turned."""
    columns, rows = c.shape[-2:]
    sides = "L" if left else "R", "T" if turned else "N"
    count = tau.shape[-1]
    _done(
        *("ormqr", c, *sides, rows, columns, count, a, a.shape[-1], tau, c, rows),
        *(_WORK, _SIZE, _SAID),
    )


# --------------------------------------------------------------------------- values and vectors


def symmetric(a: Array, upper: bool, vectors: bool) -> Array | None:
    """The eigenvalues of symmetric matrices, and, if they are wanted, put the vectors in the place
    of the matrices; None if some were not found."""
    size = a.shape[-1]
    values, whole = np.empty((len(a), size), a.dtype), Work(np.empty(5 * size + 3, np.int64))
    what = "V" if vectors else "N", "U" if upper else "L"
    is_found = _done(
        *("syevd", a, *what, size, a, size, values, _WORK, _SIZE, whole, 5 * size + 3, _SAID)
    )
    return values if is_found else None


def eigenvalues(a: Array) -> tuple[Array, Array] | None:
    """Real and imaginary parts of eigenvalues; what was in matrices is gone."""
    found = _general(a, False)
    return None if found is None else found[:2]


def eigenvectors(a: Array) -> tuple[Array, Array, Array] | None:
    """The same, and vectors: of two values that are conjugates the real and the imaginary part."""
    return _general(a, True)


def _general(a: Array, vectors: bool) -> tuple[Array, Array, Array] | None:
    size = a.shape[-1]
    real, other = (np.empty((len(a), size), a.dtype) for _ in range(2))
    found = np.empty(a.shape, a.dtype) if vectors else real
    is_found = _done(
        *("geev", a, "N", "V" if vectors else "N", size, a, size, real, other, Work(a), 1),
        *(found, size, _WORK, _SIZE, _SAID),
    )
    return (real, other, found) if is_found else None


def singular(a: Array, what: str) -> tuple[Array, Array, Array] | None:
    """U, singular values and V turned, the outer ones by columns; `what` is S for as many vectors
    as values, A for all, N for none.  What was in matrices is gone."""
    columns, rows = a.shape[-2:]
    least = min(rows, columns)
    values = np.empty((len(a), least), a.dtype)
    left = right = values
    if what != "N":
        wide, high = (least, least) if what == "S" else (rows, columns)
        left = np.empty((len(a), wide, rows), a.dtype)
        right = np.empty((len(a), columns, high), a.dtype)
    steps = max(rows, 1), max(right.shape[-1], 1)
    given = values, left, steps[0], right, steps[1]
    whole = Work(np.empty(8 * least, np.int64))
    is_found = _done(
        *("gesdd", a, what, rows, columns, a, rows, *given, _WORK, _SIZE, whole, _SAID)
    )
    return (left, values, right) if is_found else None


# --------------------------------------------------------------------------- least squares


def least_squares(
    a: Array, b: Array, driver: str, relative: float
) -> tuple[Array | None, Array | None] | None:
    """Put solutions in the place of right sides, which have as many rows as the longer side of the
    matrices; singular values and ranks as far as the driver has them."""
    columns, rows = a.shape[-2:]
    common = rows, columns, b.shape[1], a, rows, b, b.shape[-1]
    if driver == "gels":
        is_found = _done("gels", a, "N", *common, _WORK, _SIZE, _SAID)
        return (None, None) if is_found else None
    least = min(rows, columns)
    rank = np.empty((len(a), 1), np.int64)
    if driver == "gelsy":
        order = family("elementwise.copies").copied(_zeros((len(a), columns), np.dtype(np.int64)))
        is_found = _done("gelsy", a, *common, order, relative, rank, _WORK, _SIZE, _SAID)
        return (None, rank[:, 0]) if is_found else None
    values = np.empty((len(a), least), a.dtype)
    more = values, relative, rank, _WORK, _SIZE
    if driver == "gelsd":
        whole = Work(np.empty(least * (3 * 32 + 11) + 1, np.int64))
        is_found = _done("gelsd", a, *common, *more, whole, _SAID)
    else:
        is_found = _done("gelss", a, *common, *more, _SAID)
    return (values, rank[:, 0]) if is_found else None
