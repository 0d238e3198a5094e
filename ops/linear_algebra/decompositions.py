"""Decompositions of float32 and float64 by LAPACK's functions themselves; None where these do not
do it, or where something has not gone well, which others say how.

Results lie by columns, but for those of `lu_parts`.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..kernels import family, in_order, lapack, written_by_numpy
from ..memory.dtype import Array
from ..table.layouts import column_major
from .small_systems import FEW, MOST, flat, identity, small_triangles

__all__ = [
    *("copied_by_columns", "determinants", "eigen", "eigen_general", "inverse_of_cholesky"),
    *(
        "inverted",
        "ldl_factors",
        "least_squares",
        "log_determinants",
        "lower_factor",
        "lu_factors",
        "lu_parts",
    ),
    *("products_of_reflections", "qr_parts", "reflected", "reflections", "singular_parts"),
    *("solved_by_cholesky", "solved_by_factors", "solved_by_ldl", "solved_squares"),
    "solved_triangles",
]


def _shaped(memory: Array, batch: tuple[int, ...]) -> Array:
    """Matrices that lie by columns, as those of a batch."""
    return memory.reshape(*batch, *memory.shape[1:]).swapaxes(-1, -2)


def copied_by_columns(a: Array) -> Array:
    """A copy of matrices that lies by columns."""
    a = a[...]  # which no other thread can change
    return _shaped(lapack.by_columns(a), a.shape[:-2])


# --------------------------------------------------------------------------- Cholesky


def lower_factor(a: Array) -> Array | None:
    """Cholesky's lower factors, of matrices whose lower halves count."""
    a = a[...]  # which no other thread can change
    if not lapack.can_square(a):
        return None
    size, work = a.shape[-1], lapack.by_columns(a)
    if not lapack.root(work):
        return None
    return _shaped(
        family("decompositions.halves").half(work, size, size, first=False), a.shape[:-2]
    )


def solved_by_cholesky(factors: Array, b: Array) -> Array | None:
    """X of A X = B, where the lower factors of A are given."""
    factors, b = factors[...], b[...]  # which no other thread can change
    if not lapack.can_square(factors, b):
        return None
    right = lapack.by_columns(b)
    is_done = lapack.of_root(lapack.by_columns(factors), right)
    return _shaped(right, b.shape[:-2]) if is_done else None


def inverse_of_cholesky(factors: Array) -> Array | None:
    """The inverses of matrices whose lower factors are given."""
    factors = factors[...]  # which no other thread can change
    if not lapack.can_square(factors):
        return None
    work = lapack.by_columns(factors)
    if not lapack.inverse_of_root(work):
        return None
    family("decompositions.halves").mirrored(work)
    return _shaped(work, factors.shape[:-2])


# --------------------------------------------------------------------------- LU


def _steps(pivots: Array, batch: tuple[int, ...]) -> Array:
    """The rows that were exchanged, as torch has them."""
    made = family("elementwise.arrays").cast(pivots.reshape(-1), np.dtype(np.int32))
    found: Array = made.reshape(*batch, pivots.shape[-1])
    return found


def _factored(a: Array) -> tuple[Array, Array] | None:
    """L and U in one, by columns, and pivots, of matrices that are not singular."""
    if not lapack.can(a):
        return None
    work = lapack.by_columns(a)
    pivots, is_done = lapack.factors(work)
    return (work, pivots) if is_done else None


def lu_factors(a: Array) -> tuple[Array, Array] | None:
    """L and U in one, and the rows exchanged (from 1), of matrices that are not singular."""
    a = a[...]  # which no other thread can change
    found = _factored(a)
    if found is None:
        return None
    work, pivots = found
    return _shaped(work, a.shape[:-2]), _steps(pivots, a.shape[:-2])


def determinants(a: Array) -> Array | None:
    """The determinants of matrices that are not singular."""
    a = a[...]  # which no other thread can change
    factors = _factored(a) if lapack.can_square(a) else None
    if factors is None:
        return None
    found: Array = family("decompositions.halves").determinants(*factors)
    return found.reshape(a.shape[:-2])


def log_determinants(a: Array) -> tuple[Array, Array] | None:
    """Signs of the determinants of matrices that are not singular, and their logarithms."""
    a = a[...]  # which no other thread can change
    factors = _factored(a) if lapack.can_square(a) else None
    found = None if factors is None else family("decompositions.halves").log_determinants(*factors)
    if found is None:
        return None
    sign, size = (each.reshape(a.shape[:-2]) for each in found)
    return sign, size


def lu_parts(factors: Array, pivots: Array) -> tuple[Array, Array, Array] | None:
    """P, L and U of factors; None where they are not ours, or pivots are no rows."""
    factors, pivots = factors[...], pivots[...]  # which no other thread can change
    if not lapack.can(factors) or pivots.dtype != np.int32:
        return None
    batch, (rows, columns) = factors.shape[:-2], factors.shape[-2:]
    count, halves = min(rows, columns), family("decompositions.halves")
    if pivots.shape != (*batch, count):
        return None
    places, are_rows = halves.checked(in_order(pivots).reshape(-1, count), rows)
    if not are_rows:
        return None
    whole = halves.order_matrices(halves.order(places, rows), factors.dtype)
    flat = in_order(factors).reshape(prod(batch), rows, columns)
    lower = halves.half(flat, rows, count, first=True, unit=True)
    upper = halves.half(flat, count, columns, first=False)
    shapes = (rows, rows), (rows, count), (count, columns)
    parts = zip((whole, lower, upper), shapes, strict=True)
    p, below, above = (each.reshape(*batch, *shape) for each, shape in parts)
    return p, below, above


def solved_by_factors(factors: Array, pivots: Array, b: Array, turned: bool) -> Array | None:
    """X of A X = B, or of A turned, where factors of A are given."""
    factors, pivots, b = factors[...], pivots[...], b[...]  # which no other thread can change
    size = factors.shape[-1]
    if not lapack.can_square(factors, b) or pivots.shape != factors.shape[:-1]:
        return None
    places, are_rows = family("decompositions.halves").checked(
        in_order(pivots).reshape(-1, size), size
    )
    if not are_rows:
        return None
    count, columns = len(places), b.shape[-1]
    if (
        count >= FEW
        and size <= MOST
        and family("decompositions.small_systems").holds(count, size, columns)
    ):
        return _by_small_triangles(factors, places, b, turned)
    right = lapack.by_columns(b)
    lapack.of_factors(lapack.by_columns(factors), places, right, turned)
    return _shaped(right, b.shape[:-2])


def _by_small_triangles(factors: Array, steps: Array, b: Array, turned: bool) -> Array | None:
    halves, batch = family("decompositions.halves"), b.shape[:-2]
    rows = halves.order(steps, factors.shape[-1])
    if turned:
        other = factors.swapaxes(-1, -2)
        half = small_triangles(other, b, False, False)
        whole = None if half is None else small_triangles(other, half, True, True)
        return None if whole is None else _shaped(halves.permuted(flat(whole), rows, True), batch)
    moved = _shaped(halves.permuted(flat(b), rows, False), batch)
    half = small_triangles(factors, moved, False, True)
    return None if half is None else small_triangles(factors, half, True, False)


def ldl_factors(a: Array) -> tuple[Array, Array] | None:
    """L and D in one, and the rows exchanged (from 1, negative in pairs), of symmetric matrices
    whose lower halves count and whose D is not singular."""
    a = a[...]  # which no other thread can change
    if not lapack.can_square(a):
        return None
    size, work = a.shape[-1], lapack.by_columns(a)
    pivots, is_done = lapack.symmetric_factors(work)
    if not is_done:
        return None
    lower = family("decompositions.halves").half(work, size, size, first=False)
    return _shaped(lower, a.shape[:-2]), _steps(pivots, a.shape[:-2])


def _are_pairs_and_rows(steps: Array) -> bool:
    """Whether pivots of symmetric matrices may be given to LAPACK: rows, or pairs of the same
    negative ones."""
    rows, is_paired = np.abs(steps), steps < 0
    is_first = (np.cumsum(is_paired, -1) % 2 == 1) & is_paired
    is_wrong = (steps[:, 1:] != steps[:, :-1]) & is_first[:, :-1]
    are_rows = ((rows >= 1) & (rows <= steps.shape[-1])).all()
    return bool(are_rows and not is_first[:, -1].any() and not is_wrong.any())


def solved_by_ldl(factors: Array, pivots: Array, b: Array) -> Array | None:
    """X of A X = B, where L and D of A are given."""
    factors, pivots, b = factors[...], pivots[...], b[...]  # which no other thread can change
    if not lapack.can_square(factors, b) or pivots.shape != factors.shape[:-1]:
        return None
    size = factors.shape[-1]
    steps = in_order(pivots.astype(np.int64)).reshape(-1, size)
    if not _are_pairs_and_rows(steps):
        return None
    right = lapack.by_columns(b)
    is_done = lapack.of_symmetric_factors(lapack.by_columns(factors), steps, right)
    return _shaped(right, b.shape[:-2]) if is_done else None


def solved_squares(a: Array, b: Array) -> Array | None:
    """X of A X = B of square matrices that are not singular."""
    a, b = a[...], b[...]  # which no other thread can change
    if not lapack.can_square(a, b):
        return None
    right = lapack.by_columns(b)
    return _shaped(right, b.shape[:-2]) if lapack.solved(lapack.by_columns(a), right) else None


def inverted(a: Array) -> Array | None:
    """The inverses of square matrices that are not singular."""
    a = a[...]  # which no other thread can change
    factors = _factored(a) if lapack.can_square(a) else None
    if factors is None or not lapack.inverse_of_factors(*factors):
        return None
    return _shaped(factors[0], a.shape[:-2])


def solved_triangles(a: Array, b: Array, upper: bool, unit: bool) -> Array | None:
    """X of A X = B of triangles."""
    a, b = a[...], b[...]  # which no other thread can change
    batch, size = b.shape[:-2], a.shape[-1]
    if not lapack.can_square(a, b):
        return None
    right, turned = lapack.by_columns(b), a.swapaxes(-1, -2)
    if turned.flags.c_contiguous:
        whole = turned.reshape(-1, size, size).swapaxes(-1, -2)
    else:
        whole = in_order(a).reshape(-1, size, size)
    lapack.triangle(whole, right, upper, unit)
    return _shaped(right, batch)


def least_squares(
    a: Array, b: Array, driver: str, relative: float
) -> tuple[Array, Array, Array, Array] | None:
    """Solutions, sums of squares of what is left, ranks and singular values, as far as a driver has
    them, of matrices and right sides of one batch."""
    a, b = a[...], b[...]  # which no other thread can change
    if not lapack.can(a, b) or a.shape[:-1] != b.shape[:-1]:
        return None
    batch, (rows, columns) = a.shape[:-2], a.shape[-2:]
    right = lapack.by_columns(b)
    if rows < columns:
        written_by_numpy()
        wide = np.zeros((*right.shape[:2], columns), b.dtype)
        wide[..., :rows] = right
        right = wide
    found = lapack.least_squares(lapack.by_columns(a), right, driver, relative)
    if found is None:
        return None
    values, ranks = found
    rank = np.empty(0, np.int64) if ranks is None else ranks.reshape(batch)
    values = np.empty(0, a.dtype) if values is None else values.reshape(*batch, -1)
    left: Array = np.empty(0, a.dtype)
    if rows > columns and driver != "gelsy" and (ranks is None or (ranks == columns).all()):
        written_by_numpy()
        rest = right[..., columns:]
        left = (rest * rest).sum(-1).reshape(*batch, -1)
    solution = _shaped(right[..., :columns], batch)
    return (column_major(solution) if rows <= columns else solution), left, rank, values


# --------------------------------------------------------------------------- reflections


def reflections(a: Array) -> tuple[Array, Array] | None:
    """R, with the vectors of reflections below it, and the reflections' factors."""
    a = a[...]  # which no other thread can change
    if not lapack.can(a):
        return None
    batch, small = a.shape[:-2], family("decompositions.small_reflections")
    quick = small.factored(flat(a)) if small.holds(flat(a), 0) else None
    if quick is None:
        work = lapack.by_columns(a)
        quick = work, lapack.reflections(work)
    return _shaped(quick[0], batch), quick[1].reshape(*batch, quick[1].shape[-1])


def qr_parts(a: Array, mode: str) -> tuple[Array, ...] | None:
    """R, or Q and R, as a mode of `linalg.qr` has them."""
    a = a[...]  # which no other thread can change
    if not lapack.can(a):
        return None
    batch, (rows, columns) = a.shape[:-2], a.shape[-2:]
    least, high = min(rows, columns), rows if mode == "complete" else min(rows, columns)
    wide, small = 0 if mode == "r" else high, family("decompositions.small_reflections")
    quick = small.parts(flat(a), high, wide) if small.holds(flat(a), wide) else None
    if quick is not None:
        return tuple(_shaped(each, batch) for each in quick if each is not None)
    work = lapack.by_columns(a)
    tau = lapack.reflections(work)
    right = _shaped(family("decompositions.halves").half(work, columns, high, first=True), batch)
    if mode == "r":
        return (right,)
    if mode == "complete" and rows > columns:
        left = lapack.by_columns(np.broadcast_to(identity(rows, a.dtype), (*batch, rows, rows)))
        lapack.reflected(work, tau, left, True, False)
    else:
        left = work if least == columns else work[:, :least]
        lapack.whole_of(left, tau)
    return _shaped(left, batch), right


def _fit(vectors: Array, tau: Array, order: int) -> bool:
    """Whether factors belong to the vectors of reflections of so many dimensions."""
    count, batch = tau.shape[-1], vectors.shape[:-2]
    return tau.shape[:-1] == batch and vectors.shape[-2] == order >= count <= vectors.shape[-1]


def products_of_reflections(vectors: Array, tau: Array) -> Array | None:
    """The first columns of the product of reflections, as many as there are vectors."""
    vectors, tau = vectors[...], tau[...]  # which no other thread can change
    if not lapack.can(vectors, tau) or not _fit(vectors, tau, vectors.shape[-2]):
        return None
    if vectors.shape[-1] > vectors.shape[-2]:
        return None
    factors, small = (
        in_order(tau).reshape(-1, tau.shape[-1]),
        family("decompositions.small_reflections"),
    )
    if small.holds(flat(vectors), 0):
        return _shaped(small.whole(flat(vectors), factors), vectors.shape[:-2])
    work = lapack.by_columns(vectors)
    lapack.whole_of(work, factors)
    return _shaped(work, vectors.shape[:-2])


def reflected(vectors: Array, tau: Array, c: Array, left: bool, turned: bool) -> Array | None:
    """Q C or C Q of the product of reflections, or the same of Q turned."""
    vectors, tau, c = vectors[...], tau[...], c[...]  # which no other thread can change
    order = c.shape[-2 if left else -1]
    if not lapack.can(vectors, tau, c) or not _fit(vectors, tau, order):
        return None
    if c.shape[:-2] != vectors.shape[:-2]:
        return None
    goal = lapack.by_columns(c)
    flat = in_order(tau).reshape(-1, tau.shape[-1])
    lapack.reflected(lapack.by_columns(vectors), flat, goal, left, turned)
    return _shaped(goal, c.shape[:-2])


# --------------------------------------------------------------------------- values and vectors


def eigen(a: Array, upper: bool, vectors: bool) -> tuple[Array, Array] | None:
    """The eigenvalues of symmetric matrices, and their vectors (else what is of no use)."""
    a = a[...]  # which no other thread can change
    if not lapack.can_square(a):
        return None
    small = family("decompositions.small_eigen")
    if a.shape[-1] <= small.MOST and not upper:
        quick = small.eigen(flat(a), vectors)
        if quick is not None:
            values = quick[0].reshape(a.shape[:-1])
            return values, _shaped(quick[1], a.shape[:-2]) if vectors else values
    batch, work = a.shape[:-2], lapack.by_columns(a)
    found = lapack.symmetric(work, upper, vectors)
    return None if found is None else (found.reshape(a.shape[:-1]), _shaped(work, batch))


def eigen_general(a: Array, vectors: bool) -> tuple[Array, Array] | None:
    """The complex eigenvalues of matrices, and their vectors."""
    a = a[...]  # which no other thread can change
    if not lapack.can_square(a):
        return None
    work = lapack.by_columns(a)
    found = lapack.eigenvectors(work) if vectors else lapack.eigenvalues(work)
    if found is None:
        return None
    values, pairs = family("decompositions.halves").paired(*found)
    return values.reshape(a.shape[:-1]), _shaped(pairs, a.shape[:-2]) if vectors else values


def singular_parts(a: Array, what: str) -> tuple[Array, Array, Array] | None:
    """U, singular values and V turned of finite matrices: S for as many vectors as values, A for
    all, N for none."""
    a = a[...]  # which no other thread can change
    if not lapack.can(a):
        return None
    found = lapack.singular(lapack.by_columns(a), what)
    if found is None:
        return None
    left, values, right = found
    batch = a.shape[:-2]
    values = values.reshape(*batch, values.shape[-1])
    if what == "N":
        return values, values, values
    return _shaped(left, batch), values, _shaped(right, batch)
